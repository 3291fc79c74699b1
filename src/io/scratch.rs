//! Memory of a thread's in which data is packed on its way between a buffer with holes and a file.

use super::direction::Direction;
use crate::datatype::Buffer;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::ops::Range;

/// Bytes that are packed at once: they stay in a core's own cache.
pub const SCRATCH: usize = 256 << 10;

/// A lack of memory, in an error of the system.
#[derive(Debug)]
pub struct NoMemory(usize);

impl NoMemory {
    #[cold]
    fn error(bytes: usize) -> io::Error {
        io::Error::new(io::ErrorKind::OutOfMemory, NoMemory(bytes))
    }
}

impl fmt::Display for NoMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "there is no memory for {} bytes on the way between buffer and file",
            self.0
        )
    }
}

impl std::error::Error for NoMemory {}

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes memory of zeros at least so long.
///
/// Errors: ENOMEM, with the bytes; it stays as it was.
pub fn lengthen(memory: &mut Vec<u8>, bytes: usize) -> io::Result<()> {
    let more = bytes.saturating_sub(memory.len());
    if memory.try_reserve_exact(more).is_err() {
        return Err(NoMemory::error(bytes));
    }
    memory.resize(memory.len() + more, 0);
    Ok(())
}

/// Memory of this thread's of so many bytes. Calls do not nest.
///
/// Errors: as for [`lengthen`].
pub fn with_scratch<R>(bytes: usize, work: impl FnOnce(&mut [u8]) -> R) -> io::Result<R> {
    let mut work = Some(work);
    let done = PACKED.try_with(|packed| {
        let mut packed = packed.try_borrow_mut().ok()?;
        if let Err(why) = lengthen(&mut packed, bytes) {
            return Some(Err(why));
        }
        Some(Ok(work.take()?(&mut packed[..bytes])))
    });
    match (done, work) {
        (Ok(Some(result)), _) => result,
        // A thread that runs its last destructors.
        (_, Some(work)) => {
            let mut memory = Vec::new();
            lengthen(&mut memory, bytes)?;
            Ok(work(&mut memory))
        }
        (_, None) => unreachable!("the work was done and has a result"),
    }
}

/// Hands a part of a buffer on as packed memory, piece by piece: `step(offset, memory, bytes)`, which reads the memory or, for reading the file,
/// writes it.
///
/// Errors: as for [`lengthen`]; then there was no step.
pub fn with_packed(
    direction: Direction,
    buffer: &Buffer,
    part: Range<usize>,
    step: impl FnMut(usize, *mut u8, usize),
) -> io::Result<()> {
    match buffer.contiguous() {
        Some(_) => {
            packed_pieces(direction, buffer, part, &mut [], step);
            Ok(())
        }
        None => with_scratch(SCRATCH.min(part.len()), |scratch| {
            packed_pieces(direction, buffer, part, scratch, step);
        }),
    }
}

/// As [`with_packed`], with memory for it, which a buffer without holes does not need.
pub fn packed_pieces(
    direction: Direction,
    buffer: &Buffer,
    part: Range<usize>,
    scratch: &mut [u8],
    mut step: impl FnMut(usize, *mut u8, usize),
) {
    if let Some(memory) = buffer.contiguous() {
        return step(part.start, memory.wrapping_add(part.start), part.len());
    }
    let mut offset = part.start;
    while offset < part.end {
        let bytes = scratch.len().min(part.end - offset);
        let piece = &mut scratch[..bytes];
        if direction == Direction::Write {
            buffer.read(offset, piece);
        }
        step(offset, piece.as_mut_ptr(), bytes);
        if direction == Direction::Read {
            buffer.write(offset, piece);
        }
        offset += bytes;
    }
}
