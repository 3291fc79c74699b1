//! Memory of a thread's in which data is packed on its way between a buffer with holes and a file.

use super::direction::Direction;
use crate::datatype::Buffer;
use std::cell::RefCell;
use std::ops::Range;

/// Bytes that are packed at once: they stay in a core's own cache.
pub const SCRATCH: usize = 256 << 10;

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Memory of this thread's, at least `bytes`. Calls do not nest.
pub fn with_scratch<R>(bytes: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut work = Some(work);
    let done = PACKED.try_with(|packed| {
        let mut packed = packed.try_borrow_mut().ok()?;
        if packed.len() < bytes {
            packed.resize(bytes, 0);
        }
        Some(work.take()?(&mut packed[..bytes]))
    });
    match (done, work) {
        (Ok(Some(result)), _) => result,
        // A thread that runs its last destructors.
        (_, Some(work)) => work(&mut vec![0; bytes]),
        (_, None) => unreachable!("the work was done and has a result"),
    }
}

/// Hands a part of a buffer on as packed memory, piece by piece: `step(offset, memory, bytes)`, which reads the memory or, for reading the file,
/// writes it.
pub fn with_packed(
    direction: Direction,
    buffer: &Buffer,
    part: Range<usize>,
    step: impl FnMut(usize, *mut u8, usize),
) {
    match buffer.contiguous() {
        Some(_) => packed_pieces(direction, buffer, part, &mut [], step),
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
