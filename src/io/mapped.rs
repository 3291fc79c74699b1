//! Many small runs that lie near each other: moved through memory that shows a part of the file, not by a call of the kernel each.
//!
//! Writing goes to a mapping of the file. Invariant: bytes between the runs are neither written nor read before, so that nobody needs a lock.
//! The kernel copies into the mapping ([`Source`]), so a file that gets shorter meanwhile, or a full disk, is an error and no signal.
//! What goes wrong here is done again by calls for each run, which find out what is wrong.

use super::direction::Direction;
use super::scratch::{SCRATCH, packed_pieces, with_scratch};
use super::view::View;
use crate::datatype::Buffer;
use crate::os::file::{File as Descriptor, PIECES, Piece};
use crate::os::file_map::{SOURCE, Source};
use parking_lot::Mutex;
use std::io::Result;
use std::ops::Range;

/// Bytes of the file that are mapped at once.
const WINDOW: u64 = 4 << 20;
/// Bytes of the file that are read at once.
const SPAN: u64 = 512 << 10;
/// Of which so many have to be wanted.
const WANTED: u64 = SPAN / 64;
const PAGE: u64 = 4096;

/// Runs that are looked at.
const SAMPLE: u64 = 32;
/// Mean run and mean distance from one to the next from which on a call for each costs less, bytes. Measured on tmpfs and ext4.
const LONG: u64 = 1024;
const FAR: u64 = 2048;

/// Memory that the kernel copies from, for the next access.
static SOURCES: Mutex<Vec<Source>> = Mutex::new(Vec::new());
const KEPT: usize = 2;

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

/// A source while it is in use.
struct Taken(Option<Source>);

impl Taken {
    fn new() -> Result<Taken> {
        let kept = SOURCES.lock().pop();
        kept.map_or_else(Source::new, Ok).map(|it| Taken(Some(it)))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut sources = SOURCES.lock();
        if sources.len() < KEPT {
            sources.extend(self.0.take());
        }
    }
}

/// Writes a part of the buffer. Returns how many of its bytes were written before something was wrong.
pub fn write(
    file: &Descriptor,
    view: &View,
    skip: u64,
    buffer: &Buffer,
    part: Range<usize>,
) -> usize {
    if part.is_empty()
        || !file.is_on_mapped_file_system()
        || !reaches_end(file, view, skip, buffer, &part)
    {
        return 0;
    }
    let Ok(mut taken) = Taken::new() else {
        return 0;
    };
    let Some(source) = &mut taken.0 else {
        return 0;
    };
    let mut done = 0;
    while done < part.len() {
        let from = skip + done as u64;
        let low = view.place(from) as u64 / PAGE * PAGE;
        let high = (low / WINDOW + 1) * WINDOW;
        let most = WINDOW.min((part.len() - done) as u64);
        let bytes = (view.first_from(high, from, from + most) - from) as usize;
        let offset = part.start + done;
        match write_window(
            file,
            view,
            from,
            buffer,
            offset..offset + bytes,
            low,
            source,
        ) {
            Ok(()) => done += bytes,
            Err(_) => break,
        }
    }
    done
}

/// Makes the file as long as the access needs it: by its own last byte, because any other change of the length could take from what somebody
/// else has just written. Says whether that went well.
fn reaches_end(
    file: &Descriptor,
    view: &View,
    skip: u64,
    buffer: &Buffer,
    part: &Range<usize>,
) -> bool {
    let last = view.place(skip + part.len() as u64 - 1) as u64;
    match file.facts() {
        Ok(facts) if facts.size > last => true,
        Ok(_) => {
            let mut byte = [0];
            buffer.read(part.end - 1, &mut byte);
            // SAFETY: memory of this function's.
            unsafe { file.write_at(byte.as_ptr(), 1, last) }.1.is_ok()
        }
        Err(_) => false,
    }
}

/// Pieces of a mapping that the kernel copies to at once, out of a source's bytes one after the other.
struct Pieces {
    list: Vec<Piece>,
    /// Their bytes.
    bytes: usize,
    /// Bytes of the source that were copied.
    copied: usize,
}

impl Pieces {
    fn copy(&mut self, source: &Source) -> Result<()> {
        if self.list.is_empty() {
            return Ok(());
        }
        // SAFETY: runs of the view in the mapping; what the program writes there is its own to write.
        let copied = unsafe { source.copy_to(&self.list, self.copied) }?;
        if copied < self.bytes {
            return Err(std::io::Error::from_raw_os_error(libc::EFAULT));
        }
        self.copied += copied;
        self.bytes = 0;
        self.list.clear();
        Ok(())
    }
}

/// Writes runs that begin in one window of the file, and behind `low`, the beginning of a page.
fn write_window(
    file: &Descriptor,
    view: &View,
    skip: u64,
    buffer: &Buffer,
    part: Range<usize>,
    low: u64,
    source: &mut Source,
) -> Result<()> {
    let high = view.place(skip + part.len() as u64 - 1) as u64 + 1;
    let bytes = (high - low).next_multiple_of(PAGE) as usize;
    let map = file.map(low, bytes)?;
    // All pages at once cost less than one by one. Where that fails the copy meets the reason.
    let _ = map.populate(0, bytes);
    let mut pieces = Pieces {
        list: Vec::with_capacity(PIECES),
        bytes: 0,
        copied: 0,
    };
    let mut done = 0;
    while done < part.len() {
        let packed = SOURCE.min(part.len() - done);
        buffer.read(part.start + done, &mut source.memory()[..packed]);
        pieces.copied = 0;
        let mut result = Ok(());
        view.runs(skip + done as u64, packed as u64, |at, bytes| {
            pieces.list.push(Piece {
                iov_base: map.base().wrapping_add((at - low) as usize).cast(),
                iov_len: bytes,
            });
            pieces.bytes += bytes;
            if pieces.list.len() == PIECES {
                result = pieces.copy(source);
            }
            result.is_ok()
        });
        result.and_then(|()| pieces.copy(source))?;
        done += packed;
    }
    Ok(())
}

/// Reads a part of the buffer. Returns how many of its bytes were read before the end of the file or an error, or before the runs lie far
/// from each other, and in the first two cases that this was all.
pub fn read(
    file: &Descriptor,
    view: &View,
    skip: u64,
    buffer: &Buffer,
    part: Range<usize>,
) -> (usize, Result<()>, bool) {
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
        });
        done += there;
        if result.is_err() || there < (end - from) as usize {
            return (done, result, true);
        }
    }
    (done, Ok(()), true)
}
