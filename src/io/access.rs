//! Moving bytes between a buffer and a view: contiguous and with holes on either side.
//!
//! Invariant: only the bytes of the view's runs are written, each by a call that writes nothing else; reading may read holes along.

pub use super::direction::{Direction, Place};
use super::view::View;
use crate::datatype::Buffer;
use crate::os::file::{File as Descriptor, PIECES, Piece};
use std::cell::RefCell;
use std::io::Result;

/// Bytes that are packed at once: they stay in a core's own cache.
const SCRATCH: usize = 256 << 10;
/// Runs of memory from which on pieces are told to the kernel and not packed, bytes.
const LONG: usize = 2048;
/// Bytes of the file that are read at once where runs lie near each other.
const SPAN: usize = 512 << 10;
/// A hole that costs less to read along than another call, bytes.
const GAP: u64 = 8 << 10;

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Memory of this thread's, at least `bytes`. Calls do not nest.
fn with_scratch<R>(bytes: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
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

/// Moves a buffer to or from the view's bytes from `skip` on. Returns how many bytes were moved: less at the end of the file, and before
/// an error.
pub fn transfer(
    file: &Descriptor,
    view: &View,
    skip: u64,
    buffer: &Buffer,
    direction: Direction,
) -> (usize, Result<()>) {
    let length = buffer.len();
    if length == 0 {
        return (0, Ok(()));
    }
    let mut first = (0, 0);
    view.runs(skip, length as u64, |at, bytes| {
        first = (at, bytes);
        false
    });
    match (direction, first.1 == length) {
        (Direction::Write, true) => write_run(file, buffer, 0, length, first.0),
        (Direction::Read, true) => read_run(file, buffer, 0, length, first.0),
        (Direction::Write, false) => write_runs(file, view, skip, buffer),
        (Direction::Read, false) => read_runs(file, view, skip, buffer),
    }
}

/// The first run of a buffer from `offset` on, bytes.
fn first_run(buffer: &Buffer, offset: usize, length: usize) -> usize {
    let mut first = 0;
    buffer.runs(offset, length, |_, bytes| {
        first = bytes;
        false
    });
    first
}

/// The runs of a buffer from `offset` on, as many as one call takes; also their bytes.
fn pieces(buffer: &Buffer, offset: usize, length: usize, pieces: &mut Vec<Piece>) -> usize {
    let mut found = 0;
    pieces.clear();
    buffer.runs(offset, length, |address, bytes| {
        pieces.push(Piece {
            iov_base: address.cast(),
            iov_len: bytes,
        });
        found += bytes;
        pieces.len() < PIECES
    });
    found
}

/// Moves one run of the file piece by piece: `step(done, bytes left)` moves some, and says how many it wanted to.
fn in_steps(
    length: usize,
    mut step: impl FnMut(usize, usize) -> (usize, usize, Result<()>),
) -> (usize, Result<()>) {
    let mut done = 0;
    while done < length {
        let (wanted, moved, result) = step(done, length - done);
        done += moved;
        if result.is_err() || moved < wanted {
            return (done, result);
        }
    }
    (done, Ok(()))
}

/// Writes packed bytes of a buffer to one run of the file.
fn write_run(
    file: &Descriptor,
    buffer: &Buffer,
    offset: usize,
    length: usize,
    at: u64,
) -> (usize, Result<()>) {
    if let Some(memory) = buffer.contiguous() {
        // SAFETY: the buffer's bytes, by the contract of `Buffer::new`.
        return unsafe { file.write_at(memory.wrapping_add(offset), length, at) };
    }
    if first_run(buffer, offset, length) >= LONG {
        let mut list = Vec::new();
        return in_steps(length, |done, left| {
            let wanted = pieces(buffer, offset + done, left, &mut list);
            // SAFETY: runs of the buffer.
            let (moved, result) = unsafe { file.write_pieces(&mut list, at + done as u64) };
            (wanted, moved, result)
        });
    }
    with_scratch(SCRATCH.min(length), |packed| {
        in_steps(length, |done, left| {
            let part = &mut packed[..left.min(SCRATCH)];
            buffer.read(offset + done, part);
            // SAFETY: memory of this thread's.
            let (moved, result) =
                unsafe { file.write_at(part.as_ptr(), part.len(), at + done as u64) };
            (part.len(), moved, result)
        })
    })
}

/// Reads one run of the file into packed bytes of a buffer.
fn read_run(
    file: &Descriptor,
    buffer: &Buffer,
    offset: usize,
    length: usize,
    at: u64,
) -> (usize, Result<()>) {
    if let Some(memory) = buffer.contiguous() {
        // SAFETY: the buffer's bytes, by the contract of `Buffer::new`.
        return unsafe { file.read_at(memory.wrapping_add(offset), length, at) };
    }
    if first_run(buffer, offset, length) >= LONG {
        let mut list = Vec::new();
        return in_steps(length, |done, left| {
            let wanted = pieces(buffer, offset + done, left, &mut list);
            // SAFETY: runs of the buffer.
            let (moved, result) = unsafe { file.read_pieces(&mut list, at + done as u64) };
            (wanted, moved, result)
        });
    }
    with_scratch(SCRATCH.min(length), |packed| {
        in_steps(length, |done, left| {
            let part = &mut packed[..left.min(SCRATCH)];
            // SAFETY: memory of this thread's.
            let (moved, result) =
                unsafe { file.read_at(part.as_mut_ptr(), part.len(), at + done as u64) };
            buffer.write(offset + done, &part[..moved]);
            (part.len(), moved, result)
        })
    })
}

/// Writes each run of the view by a call of its own.
fn write_runs(file: &Descriptor, view: &View, skip: u64, buffer: &Buffer) -> (usize, Result<()>) {
    let length = buffer.len();
    let write = |memory: *const u8, skip: u64, length: usize| {
        let mut done = 0;
        let mut outcome = Ok(());
        view.runs(skip, length as u64, |at, bytes| {
            // SAFETY: `length` bytes of the buffer, or of this thread's memory.
            let (moved, result) = unsafe { file.write_at(memory.wrapping_add(done), bytes, at) };
            done += moved;
            outcome = result;
            outcome.is_ok()
        });
        (done, outcome)
    };
    if let Some(memory) = buffer.contiguous() {
        return write(memory, skip, length);
    }
    with_scratch(SCRATCH.min(length), |packed| {
        in_steps(length, |done, left| {
            let part = &mut packed[..left.min(SCRATCH)];
            buffer.read(done, part);
            let (moved, result) = write(part.as_ptr(), skip + done as u64, part.len());
            (part.len(), moved, result)
        })
    })
}

/// Runs of the file that are read at once.
struct Batch {
    /// Position, bytes, and where they belong in the buffer.
    runs: Vec<(u64, usize, usize)>,
    end: u64,
}

impl Batch {
    /// Whether a run is near enough.
    fn takes(&self, at: u64, bytes: usize) -> bool {
        let Some((first, ..)) = self.runs.first() else {
            return true;
        };
        at >= self.end && at - self.end <= GAP && at + bytes as u64 - first <= SPAN as u64
    }

    fn push(&mut self, at: u64, bytes: usize, offset: usize) {
        self.runs.push((at, bytes, offset));
        self.end = at + bytes as u64;
    }

    /// Reads what is collected. Returns how many bytes of the runs the file has.
    fn read(&mut self, file: &Descriptor, buffer: &Buffer) -> (usize, Result<()>) {
        let runs = std::mem::take(&mut self.runs);
        let (Some(&(first, bytes, offset)), end) = (runs.first(), self.end) else {
            return (0, Ok(()));
        };
        if let [_] = runs[..] {
            return read_run(file, buffer, offset, bytes, first);
        }
        let (done, result) = with_scratch((end - first) as usize, |span| {
            // SAFETY: memory of this thread's.
            let (found, result) = unsafe { file.read_at(span.as_mut_ptr(), span.len(), first) };
            let mut done = 0;
            for (at, bytes, offset) in &runs {
                let from = (at - first) as usize;
                let here = found.saturating_sub(from).min(*bytes);
                buffer.write(*offset, &span[from..from + here]);
                done += here;
                if here < *bytes {
                    break;
                }
            }
            (done, result)
        });
        self.runs = runs;
        self.runs.clear();
        (done, result)
    }
}

/// Reads the runs of the view, those that lie near each other at once.
fn read_runs(file: &Descriptor, view: &View, skip: u64, buffer: &Buffer) -> (usize, Result<()>) {
    let mut batch = Batch {
        runs: Vec::new(),
        end: 0,
    };
    // Bytes that were given to the batch, and those of them that it has read.
    let (mut given, mut done) = (0, 0);
    let mut outcome = Ok(());
    view.runs(skip, buffer.len() as u64, |at, bytes| {
        if !batch.takes(at, bytes) {
            let (moved, result) = batch.read(file, buffer);
            done += moved;
            outcome = result;
            if outcome.is_err() || done < given {
                return false;
            }
        }
        batch.push(at, bytes, given);
        given += bytes;
        true
    });
    if outcome.is_ok() && !batch.runs.is_empty() {
        let (moved, result) = batch.read(file, buffer);
        done += moved;
        outcome = result;
    }
    (done, outcome)
}
