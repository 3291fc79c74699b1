//! Many small runs that lie near each other: moved through memory that shows a part of the file, not by a call of the kernel each.
//!
//! Writing goes to a mapping of the file. Invariant: bytes between the runs are neither written nor read before, so that nobody needs a lock.
//! What goes wrong here is done again by calls for each run, which find out what is wrong.

use super::direction::Direction;
use super::scratch::{SCRATCH, packed_pieces, with_packed, with_scratch};
use super::view::{View, ViewAt};
use crate::datatype::Buffer;
use crate::os::file_map::WINDOW;
use std::io::Result;
use std::ops::Range;

/// Bytes of the file that are read at once.
const SPAN: u64 = 512 << 10;
/// Of which so many have to be wanted.
const WANTED: u64 = SPAN / 64;

/// Runs that are looked at.
const SAMPLE: u64 = 32;
/// Mean run and mean distance from one to the next from which on a call for each costs less, bytes. Measured on tmpfs and ext4.
const LONG: u64 = 1024;
const FAR: u64 = 2048;

/// Whether an access is one of many small runs near each other.
pub fn is_dense(view: &View, skip: u64, length: u64) -> bool {
    let (mut seen, mut bytes, mut first, mut last) = (0, 0, 0, 0);
    view.runs(skip, length, |at, run| {
        first = if seen == 0 { at } else { first };
        (seen, bytes, last) = (seen + 1, bytes + run as u64, at);
        seen < SAMPLE
    });
    seen == SAMPLE && bytes <= LONG * seen && view.can_be_cut() && last - first <= FAR * (seen - 1)
}

/// Writes a part of the buffer. Returns how many of its bytes were written before something was wrong.
pub fn write(at: ViewAt<'_>, buffer: &Buffer, part: Range<usize>) -> usize {
    if part.is_empty() || !at.file.is_mapped() || !settles_end(at, buffer, &part) {
        return 0;
    }
    let ViewAt { view, skip, .. } = at;
    let mut done = 0;
    while done < part.len() {
        let from = skip + done as u64;
        let number = view.place(from) as u64 / WINDOW;
        let most = WINDOW.min((part.len() - done) as u64);
        let end = view.first_from((number + 1) * WINDOW, from, from + most);
        let bytes = (end - from) as usize;
        let offset = part.start + done;
        let part = offset..offset + bytes;
        if write_window(at.after(done as u64), buffer, part, number).is_err() {
            break;
        }
        done += bytes;
    }
    done
}

/// Makes the file as long as the access needs it, and waits until nobody else makes it longer from an end within the access. Says whether that
/// went well.
///
/// The call is a write of the access's own last byte, because any other change of the length could take from what somebody else has just
/// written. It is made although the file is long enough, because Linux (ext4) tells of a new length before it zeroes what lies between the old
/// end and the new data, so that a store there right after is lost. Writes exclude each other, so that one which lengthens the file is over.
fn settles_end(at: ViewAt<'_>, buffer: &Buffer, part: &Range<usize>) -> bool {
    let ViewAt { file, view, skip } = at;
    let last = view.place(skip + part.len() as u64 - 1) as u64;
    let mut byte = [0];
    buffer.read(part.end - 1, &mut byte);
    // SAFETY: memory of this function's.
    unsafe { file.write_at(byte.as_ptr(), 1, last) }.1.is_ok()
}

/// Writes bytes of the view that lie in one window of the file.
fn write_window(at: ViewAt<'_>, buffer: &Buffer, part: Range<usize>, number: u64) -> Result<()> {
    let ViewAt { file, view, skip } = at;
    let start = number * WINDOW;
    let last = view.place(skip + part.len() as u64 - 1) as u64;
    let range = (view.place(skip) as u64 - start) as usize..(last + 1 - start) as usize;
    let window = file.take_window(number)?.fill(range, |memory| {
        with_packed(
            Direction::Write,
            buffer,
            part.clone(),
            |offset, packed, bytes| {
                let skip = skip + (offset - part.start) as u64;
                // SAFETY: the window shows the positions of these bytes of the view; what the program writes there is its own to write. The
                // packed bytes are the buffer's, or of this thread's memory.
                unsafe { view.copy(Direction::Write, memory, start, skip, packed, bytes) };
            },
        )
    })?;
    file.keep_window(window);
    Ok(())
}

/// Reads a part of the buffer. Returns how many of its bytes were read before the end of the file or an error, or before the runs lie far
/// from each other, and in the first two cases that this was all.
pub fn read(at: ViewAt<'_>, buffer: &Buffer, part: Range<usize>) -> (usize, Result<()>, bool) {
    let ViewAt { file, view, skip } = at;
    let mut done = 0;
    while done < part.len() {
        let from = skip + done as u64;
        let low = view.place(from) as u64;
        let most = SPAN.min((part.len() - done) as u64);
        let end = view.first_from(low + SPAN, from, from + most);
        if end - from < WANTED.min(most) {
            return (done, Ok(()), false);
        }
        let wanted = (view.place(end - 1) as u64 + 1 - low) as usize;
        let (there, result) = with_scratch(SPAN as usize + SCRATCH, |memory| {
            let (span, scratch) = memory.split_at_mut(SPAN as usize);
            // SAFETY: memory of this thread's.
            let (found, result) = unsafe { file.read_at(span.as_mut_ptr(), wanted, low) };
            let last = match found < wanted {
                true => view.first_from(low + found as u64, from, end),
                false => end,
            };
            let (there, first) = ((last - from) as usize, part.start + done);
            let part = first..first + there;
            packed_pieces(
                Direction::Read,
                buffer,
                part,
                scratch,
                |offset, packed, bytes| {
                    let skip = from + (offset - first) as u64;
                    // SAFETY: the span has these bytes of the file; `packed` are the buffer's, or of this thread's memory.
                    unsafe {
                        view.copy(Direction::Read, span.as_mut_ptr(), low, skip, packed, bytes)
                    };
                },
            );
            (there, result)
        })
        .unwrap_or_else(|why| (0, Err(why)));
        done += there;
        if result.is_err() || there < (end - from) as usize {
            return (done, result, true);
        }
    }
    (done, Ok(()), true)
}
