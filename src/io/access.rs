//! Moving bytes between a buffer and a view: contiguous and with holes on either side.
//!
//! Invariant: only the bytes of the view's runs are written, each by a call that writes nothing else; reading may read holes along.

pub use super::direction::{Direction, Place};
use super::mapped;
use super::scratch::{SCRATCH, with_scratch};
use super::view::ViewAt;
use crate::datatype::Buffer;
use crate::os::file::{File as Descriptor, PIECES, Piece};
use std::io::Result;
use std::ops::Range;

/// Runs of memory from which on pieces are told to the kernel and not packed, bytes.
const LONG: usize = 2048;
/// Bytes of the file that are read at once where runs lie near each other.
const SPAN: usize = 512 << 10;
/// A hole that costs less to read along than another call, bytes.
const GAP: u64 = 8 << 10;

/// Moves a buffer to or from a file. Returns how many bytes were moved: less at the end of the file, and before an error.
pub fn transfer(at: ViewAt<'_>, buffer: &Buffer, direction: Direction) -> (usize, Result<()>) {
    transfer_part(at, buffer, 0..buffer.len(), direction)
}

/// As [`transfer`], of a part of the buffer.
pub fn transfer_part(
    at: ViewAt<'_>,
    buffer: &Buffer,
    part: Range<usize>,
    direction: Direction,
) -> (usize, Result<()>) {
    let ViewAt { file, view, skip } = at;
    let length = part.len();
    if length == 0 {
        return (0, Ok(()));
    }
    let mut first = (0, 0);
    view.runs(skip, length as u64, |at, bytes| {
        first = (at, bytes);
        false
    });
    if first.1 == length {
        return move_run(file, buffer, part.start, length, first.0, direction);
    }
    let mut before = 0;
    if mapped::is_dense(view, skip, length as u64) {
        match direction {
            Direction::Write => before = mapped::write(at, buffer, part.clone()),
            Direction::Read => {
                let (done, result, is_all) = mapped::read(at, buffer, part.clone());
                if is_all {
                    return (done, result);
                }
                before = done;
            }
        }
    }
    let (at, part) = (at.after(before as u64), part.start + before..part.end);
    let (done, result) = match direction {
        Direction::Write => write_runs(at, buffer, part),
        Direction::Read => read_runs(at, buffer, part),
    };
    (before + done, result)
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

/// Moves packed bytes of a buffer to or from one run of the file.
fn move_run(
    file: &Descriptor,
    buffer: &Buffer,
    offset: usize,
    length: usize,
    at: u64,
    direction: Direction,
) -> (usize, Result<()>) {
    if let Some(memory) = buffer.contiguous() {
        let memory = memory.wrapping_add(offset);
        // SAFETY: the buffer's bytes, by the contract of `Buffer::new`.
        return unsafe { move_at(file, memory, length, at, direction) };
    }
    if first_run(buffer, offset, length) >= LONG {
        let mut list = Vec::new();
        return in_steps(length, |done, left| {
            let wanted = pieces(buffer, offset + done, left, &mut list);
            let at = at + done as u64;
            // SAFETY: runs of the buffer.
            let (moved, result) = unsafe {
                match direction {
                    Direction::Read => file.read_pieces(&mut list, at),
                    Direction::Write => file.write_pieces(&mut list, at),
                }
            };
            (wanted, moved, result)
        });
    }
    with_scratch(SCRATCH.min(length), |packed| {
        in_steps(length, |done, left| {
            let part = &mut packed[..left.min(SCRATCH)];
            if direction == Direction::Write {
                buffer.read(offset + done, part);
            }
            let (memory, at) = (part.as_mut_ptr(), at + done as u64);
            // SAFETY: memory of this thread's.
            let (moved, result) = unsafe { move_at(file, memory, part.len(), at, direction) };
            if direction == Direction::Read {
                buffer.write(offset + done, &part[..moved]);
            }
            (part.len(), moved, result)
        })
    })
    .unwrap_or_else(|why| (0, Err(why)))
}

/// # Safety
/// `memory` has `length` bytes, which may be read, and written to where the file is read.
unsafe fn move_at(
    file: &Descriptor,
    memory: *mut u8,
    length: usize,
    at: u64,
    direction: Direction,
) -> (usize, Result<()>) {
    // SAFETY: by the caller.
    unsafe {
        match direction {
            Direction::Read => file.read_at(memory, length, at),
            Direction::Write => file.write_at(memory, length, at),
        }
    }
}

/// Writes each run of the view by a call of its own.
fn write_runs(at: ViewAt<'_>, buffer: &Buffer, part: Range<usize>) -> (usize, Result<()>) {
    let ViewAt { file, view, skip } = at;
    let length = part.len();
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
        return write(memory.wrapping_add(part.start), skip, length);
    }
    with_scratch(SCRATCH.min(length), |packed| {
        in_steps(length, |done, left| {
            let piece = &mut packed[..left.min(SCRATCH)];
            buffer.read(part.start + done, piece);
            let (moved, result) = write(piece.as_ptr(), skip + done as u64, piece.len());
            (piece.len(), moved, result)
        })
    })
    .unwrap_or_else(|why| (0, Err(why)))
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
            return move_run(file, buffer, offset, bytes, first, Direction::Read);
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
        })
        .unwrap_or_else(|why| (0, Err(why)));
        self.runs = runs;
        self.runs.clear();
        (done, result)
    }
}

/// Reads the runs of the view, those that lie near each other at once.
fn read_runs(at: ViewAt<'_>, buffer: &Buffer, part: Range<usize>) -> (usize, Result<()>) {
    let ViewAt { file, view, skip } = at;
    let mut batch = Batch {
        runs: Vec::new(),
        end: 0,
    };
    // Bytes that were given to the batch, and those of them that it has read.
    let (mut given, mut done) = (0, 0);
    let mut outcome = Ok(());
    view.runs(skip, part.len() as u64, |at, bytes| {
        if !batch.takes(at, bytes) {
            let (moved, result) = batch.read(file, buffer);
            done += moved;
            outcome = result;
            if outcome.is_err() || done < given {
                return false;
            }
        }
        batch.push(at, bytes, part.start + given);
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
