//! Memory that the program has: what MPI_Alloc_mem gives, and the parts of windows. Its pages are allocated when they are touched.
//!
//! A range that comes back is kept with its pages for a while, so that allocating it again costs the kernel nothing. What a window has given
//! back was set to zero where it was touched, because windows begin as zeros; what MPI_Free_mem was given may be dirty.
//!
//! Invariant: a range is lent, or kept, or given back to the heap.

use super::look::For;
use super::pieces::{LONGEST, OfOffset, Pieces, SHORTEST};
use super::{ALIGN, Heap, PAGE};
use crate::os::{coarse_nanoseconds, memory};
use crate::sync::{AtomicBool, Ordering};
use parking_lot::MutexGuard;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{Error, Result};
use std::os::fd::AsFd;

/// How long a range is kept that nobody wants, nanoseconds.
const KEPT_FOR: u64 = 5_000_000_000;
/// How often old ranges are looked for, nanoseconds.
const TIDY_EVERY: u64 = 250_000_000;
/// Bytes whose pages are given back at once, where something else is waiting.
const AT_ONCE: u64 = 16 << 20;
/// Bytes that are kept however little memory is left.
const ALWAYS_KEPT: u64 = 256 << 10;
/// Slabs of pieces that stay when they are empty.
const EMPTY_SLABS: usize = 64;
/// Ranges of up to so many pages have one of eight sizes for each power of two, so that those of about one size follow each other.
const ROUNDED: u64 = 8192;

/// Whether this process is a child of a fork: it shares the ranges with its parent.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// For the handler of forks in the child; stores to an atomic and nothing else.
pub fn note_fork() {
    IN_CHILD.store(true, Ordering::Relaxed);
}

fn in_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}

/// The pages of a range for so many bytes. Those that nobody touches cost nothing.
fn pages_for(bytes: u64) -> u64 {
    let pages = bytes.max(1).div_ceil(PAGE as u64);
    match pages {
        9..=ROUNDED => pages.next_multiple_of(pages.next_power_of_two() / 16),
        _ => pages,
    }
}

/// A range that is kept.
struct Range {
    offset: u64,
    /// Bytes from its begin on that may have pages.
    filled: u64,
    /// Since when, [`coarse_nanoseconds`].
    since: u64,
}

/// Ranges that are kept, by their pages; the longest kept ones first.
#[derive(Default)]
struct Kept(BTreeMap<u32, VecDeque<Range>>);

impl Kept {
    /// A range of so many pages or up to twice as many. Returns its pages, too.
    fn take(&mut self, pages: u32) -> Option<(u32, Range)> {
        let mut near = self.0.range_mut(pages..=pages.saturating_mul(2));
        near.find_map(|(pages, ranges)| Some((*pages, ranges.pop_back()?)))
    }

    /// The pages and the time of the range that is kept longest.
    fn oldest(&self) -> Option<(u64, u32)> {
        let first =
            |(pages, ranges): (&u32, &VecDeque<Range>)| Some((ranges.front()?.since, *pages));
        self.0.iter().filter_map(first).min()
    }
}

/// What was found of ranges that are kept.
enum Found {
    /// One, with its pages and its offset.
    Kept(u32, u64),
    /// None; how many pages a new one has.
    None(u32),
}

/// What the program has, and what is kept.
pub struct Lent {
    pieces: Pieces,
    /// Pages of the ranges of MPI_Alloc_mem, by offset.
    ranges: HashMap<u64, u32, OfOffset>,
    dirty: Kept,
    /// Zeros.
    clean: Kept,
    /// Of all kept ranges.
    kept_bytes: u64,
    /// When old ranges are looked for next.
    tidy_at: u64,
}

impl Lent {
    pub fn new() -> Lent {
        Lent {
            pieces: Pieces::new(EMPTY_SLABS),
            ranges: HashMap::default(),
            dirty: Kept::default(),
            clean: Kept::default(),
            kept_bytes: 0,
            tidy_at: 0,
        }
    }

    /// A kept range for so many bytes.
    ///
    /// Errors: ENOMEM, no heap has so many pages.
    fn take(&mut self, bytes: u64, align: usize, clean: bool) -> Result<Found> {
        let pages =
            u32::try_from(pages_for(bytes)).map_err(|_| Error::from_raw_os_error(libc::ENOMEM))?;
        // Ranges are aligned to the power of two that they fit in.
        let is_aligned = align as u64 <= bytes_of(pages).next_power_of_two();
        if self.kept_bytes == 0 || !is_aligned {
            return Ok(Found::None(pages));
        }
        let found = match clean {
            true => self.clean.take(pages),
            false => self.dirty.take(pages).or_else(|| self.clean.take(pages)),
        };
        let Some((pages, range)) = found else {
            return Ok(Found::None(pages));
        };
        self.kept_bytes -= bytes_of(pages);
        Ok(Found::Kept(pages, range.offset))
    }

    /// The range that is kept longest, if that began before a time; its pages, and whether it is of zeros.
    fn take_oldest(&mut self, before: u64) -> Option<(u32, bool, Range)> {
        let (dirty, clean) = (self.dirty.oldest(), self.clean.oldest());
        let is_clean = dirty.is_none() || clean.is_some_and(|clean| Some(clean) < dirty);
        let (since, pages) = if is_clean { clean? } else { dirty? };
        if since >= before {
            return None;
        }
        let kept = self.kept(is_clean);
        let range = kept.0.get_mut(&pages)?.pop_front()?;
        self.kept_bytes -= bytes_of(pages);
        Some((pages, is_clean, range))
    }

    #[cfg(test)]
    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    fn kept(&mut self, clean: bool) -> &mut Kept {
        if clean {
            &mut self.clean
        } else {
            &mut self.dirty
        }
    }
}

fn bytes_of(pages: u32) -> u64 {
    u64::from(pages) * PAGE as u64
}

impl Heap {
    /// Memory for the program, of any content, aligned to `align` bytes, a power of two of up to 2 MB, and at least to a line. `None`: the
    /// heap has no room for it, or cannot be had, or this is a child of a fork.
    ///
    /// Errors: ENOMEM if it is known that so much memory is not left.
    pub fn lend(&self, bytes: u64, align: usize) -> Result<Option<*mut u8>> {
        if in_child() {
            return Ok(None);
        }
        let offset = match bytes <= LONGEST as u64 && align <= SHORTEST {
            true => self.lent.lock().pieces.obtain(self, bytes as usize, false),
            false => self.lend_range(bytes, align),
        };
        let Ok(offset) = offset else {
            // For want of memory, or for another reason?
            return self.ask_for(bytes, For::Later).map(|()| None);
        };
        let address = self.at(offset, bytes);
        if address.is_none() {
            self.take_back(offset);
        }
        Ok(address)
    }

    fn lend_range(&self, bytes: u64, align: usize) -> Result<u64> {
        let mut lent = self.lent.lock();
        let (pages, offset) = match lent.take(bytes, align, false)? {
            Found::Kept(pages, offset) => (pages, offset),
            Found::None(pages) => {
                drop(lent);
                let offset = self.promise_anew(pages, align)?;
                lent = self.lent.lock();
                (pages, offset)
            }
        };
        lent.ranges.insert(offset, pages);
        Ok(offset)
    }

    /// Takes back what [`Heap::lend`] gave. False: the program has no such memory.
    pub fn take_back(&self, offset: u64) -> bool {
        if in_child() {
            return true; // it is the parent's
        }
        let mut lent = self.lent.lock();
        if let Some(released) = lent.pieces.release(self, offset) {
            return released;
        }
        let Some(pages) = lent.ranges.remove(&offset) else {
            return false;
        };
        self.keep(lent, pages, offset, false);
        true
    }

    /// Memory of zeros for a part of a window; allocated when it is touched, unless it is small.
    ///
    /// Errors: as [`Heap::allocate`]; ENOMEM if it is known that so much memory is not left.
    pub fn lend_zeros(&self, bytes: u64, align: usize) -> Result<u64> {
        if bytes <= LONGEST as u64 && align <= SHORTEST {
            return self.obtain(bytes, align);
        }
        let found = self.lent.lock().take(bytes, align, true)?;
        match found {
            Found::Kept(_, offset) => Ok(offset),
            Found::None(pages) => self.promise_anew(pages, align),
        }
    }

    /// Takes back what [`Heap::lend_zeros`] gave, or [`Heap::obtain`]. False: neither did.
    pub fn take_back_zeros(&self, offset: u64) -> bool {
        let piece = self.pieces.lock().release(self, offset);
        if let Some(released) = piece {
            return released;
        }
        let Some(bytes) = self.reserved(offset) else {
            return false;
        };
        if !self.has_file() || bytes > self.most_kept() {
            return self.free(offset);
        }
        let start = self.start();
        let touched = start + offset..start + offset + bytes;
        for part in memory::parts_with_memory(self.fd.as_fd(), touched) {
            let Ok(part) = part else {
                return self.free(offset);
            };
            let length = part.end - part.start;
            let Some(address) = self.at(part.start - start, length) else {
                return self.free(offset);
            };
            // SAFETY: inside a range that this process has lent and whose pages are there; nobody uses it any more.
            unsafe { address.write_bytes(0, length as usize) };
        }
        self.keep(self.lent.lock(), (bytes / PAGE as u64) as u32, offset, true);
        true
    }

    /// A new range of so many pages, if need be at the cost of what is kept.
    fn promise_anew(&self, pages: u32, align: usize) -> Result<u64> {
        self.tidy(KEPT_FOR, u64::MAX);
        match self.promise(bytes_of(pages), align) {
            Err(_) if self.tidy(0, u64::MAX) => self.promise(bytes_of(pages), align),
            offset => offset,
        }
    }

    /// Reserves a range as [`Heap::allocate`] does, whose memory is had when it is touched.
    ///
    /// Errors: as [`Heap::allocate`]; ENOMEM if it is known that so much memory is not left.
    pub fn promise(&self, bytes: u64, align: usize) -> Result<u64> {
        self.ask_for(bytes, For::Later)?;
        let offset = self.allocate(bytes, align as u64)?;
        if bytes >= ALIGN as u64 && memory::takes_advice_of_huge_pages() {
            let huge = bytes / ALIGN as u64 * ALIGN as u64;
            let _ = self.view()?.use_huge_pages(offset as usize, huge as usize);
        }
        Ok(offset)
    }

    /// Keeps a range, or gives it or older ones back.
    fn keep(&self, mut lent: MutexGuard<'_, Lent>, pages: u32, offset: u64, clean: bool) {
        let bytes = bytes_of(pages);
        let mut most = ALWAYS_KEPT;
        if lent.kept_bytes + bytes > most {
            most = most.max(self.most_kept());
        }
        let mut given_back = Vec::new();
        if bytes > most {
            given_back.push(offset);
        } else {
            while lent.kept_bytes + bytes > most {
                let Some((_, _, range)) = lent.take_oldest(u64::MAX) else {
                    break;
                };
                given_back.push(range.offset);
            }
            let range = Range {
                offset,
                filled: bytes,
                since: coarse_nanoseconds(),
            };
            let kept = lent.kept(clean);
            kept.0.entry(pages).or_default().push_back(range);
            lent.kept_bytes += bytes;
        }
        drop(lent);
        for offset in given_back {
            self.free(offset);
        }
    }

    /// For a thread that is about to sleep: gives back a part of what is kept and nobody wants.
    pub fn tidy_up(&self) {
        if !in_child() {
            self.tidy(KEPT_FOR, AT_ONCE);
        }
    }

    /// Gives back what has been kept for so many nanoseconds, up to so many bytes. Returns whether there was something.
    #[cold]
    pub(super) fn tidy(&self, age: u64, most: u64) -> bool {
        let (mut left, mut found) = (most, false);
        let now = coarse_nanoseconds();
        while left > 0 {
            let Some(mut lent) = self.lent.try_lock() else {
                break; // somebody else is here
            };
            if lent.kept_bytes == 0 || age > 0 && now < lent.tidy_at {
                break;
            }
            let before = now.saturating_sub(age).saturating_add(u64::from(age == 0));
            let Some((pages, is_clean, mut range)) = lent.take_oldest(before) else {
                lent.tidy_at = now + TIDY_EVERY;
                break;
            };
            drop(lent);
            found = true;
            // Whole pages: the kernel gives back nothing else.
            let pages_left = left.div_ceil(PAGE as u64).saturating_mul(PAGE as u64);
            let bytes = range.filled.min(pages_left);
            range.filled -= bytes;
            left = left.saturating_sub(bytes);
            if let Ok(view) = self.view() {
                let _ = view.punch((range.offset + range.filled) as usize, bytes as usize);
            }
            if range.filled == 0 {
                self.give_up(range.offset);
                continue;
            }
            let mut lent = self.lent.lock();
            let kept = lent.kept(is_clean);
            kept.0.entry(pages).or_default().push_front(range);
            lent.kept_bytes += bytes_of(pages);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_long_enough_and_of_few_sizes() {
        for pages in 1..3 * ROUNDED {
            let rounded = pages_for(pages * PAGE as u64);
            assert!(rounded >= pages && rounded - pages <= pages / 8);
            assert_eq!(pages_for(rounded * PAGE as u64), rounded);
        }
        assert_eq!(pages_for(0), 1);
    }
}
