//! The mapped heap: which parts of it this process may touch, and the entries of pages that lie in it.
//!
//! Invariant: a granule is accessible before anything in it is named.

use super::buddy::Entries;
use super::state::Entry;
use super::{FIXED_BYTES, PAGE};
use crate::os::memory::Mapping;
use crate::sync::{AtomicU32, Ordering};
use std::io::{Error, Result};

const ENTRIES_IN_PAGE: usize = PAGE / size_of::<Entry>();

/// Bytes that become accessible at once.
const GRANULE: usize = 2 << 20;

/// The mapped heap.
pub struct View {
    pub map: Mapping,
    pub pages: usize,
    /// A bit for each granule to which this process has access.
    opened: Box<[AtomicU32]>,
}

const fn bitmap_bytes(pages: usize) -> usize {
    pages
        .div_ceil(ENTRIES_IN_PAGE)
        .div_ceil(8)
        .next_multiple_of(PAGE)
}

pub const fn entries_at(pages: usize) -> usize {
    FIXED_BYTES + bitmap_bytes(pages)
}

/// The first page that is given out.
pub const fn first_page(pages: usize) -> usize {
    (entries_at(pages) + pages * size_of::<Entry>()).div_ceil(PAGE)
}

impl View {
    /// The view of a mapping that is closed, of which the locks and the bitmap are opened.
    pub fn new(map: Mapping) -> Result<View> {
        let granules = map.bytes().div_ceil(GRANULE);
        let view = View {
            pages: map.bytes() / PAGE,
            map,
            opened: (0..granules.div_ceil(32))
                .map(|_| AtomicU32::new(0))
                .collect(),
        };
        match view.at(0, entries_at(view.pages)) {
            Some(_) => Ok(view),
            None => Err(Error::from_raw_os_error(libc::ENOMEM)),
        }
    }

    /// The address of a range, which is accessible from now on; `None` if it is not inside the heap, or the process has too many mappings.
    #[inline]
    pub fn at(&self, offset: usize, bytes: usize) -> Option<*mut u8> {
        let address = self.map.at(offset, bytes)?;
        let last = (offset + bytes.max(1) - 1) / GRANULE;
        let mut granules = offset / GRANULE..=last;
        match granules.all(|granule| self.is_open(granule)) || self.open(offset / GRANULE, last) {
            true => Some(address),
            false => None,
        }
    }

    #[inline]
    fn is_open(&self, granule: usize) -> bool {
        // Acquire: pairs with `open`, by another thread.
        let word = self.opened.get(granule / 32);
        word.is_some_and(|word| word.load(Ordering::Acquire) & 1 << (granule % 32) != 0)
    }

    #[cold]
    fn open(&self, first: usize, last: usize) -> bool {
        let start = first * GRANULE;
        if start >= self.map.bytes() {
            return true; // nothing, at the heap's end
        }
        let bytes = ((last + 1) * GRANULE).min(self.map.bytes()) - start;
        let done = self.map.open(start, bytes).is_ok();
        if done {
            for granule in first..=last {
                self.opened[granule / 32].fetch_or(1 << (granule % 32), Ordering::Release);
            }
        }
        done
    }

    /// The word and the bit that say whether a page of entries is allocated.
    fn bit(&self, page: u32) -> (&AtomicU32, u32) {
        let number = page as usize / ENTRIES_IN_PAGE;
        // SAFETY: inside the bitmap, which is accessible, and allocated before the heap is ready; atomics are valid for any content.
        let word = unsafe { &*self.map.base().add(FIXED_BYTES + number / 32 * 4).cast() };
        (word, 1 << (number % 32))
    }

    /// Allocates the pages of a range, as [`Mapping::populate`].
    pub fn populate(&self, offset: usize, bytes: usize) -> Result<()> {
        self.accessible(offset, bytes)?;
        self.map.populate(offset, bytes)
    }

    /// Gives the pages of a range back, as [`Mapping::punch`].
    pub fn punch(&self, offset: usize, bytes: usize) -> Result<()> {
        self.accessible(offset, bytes)?;
        self.map.punch(offset, bytes)
    }

    /// Lets the kernel use huge pages in a range, as [`Mapping::use_huge_pages`].
    pub fn use_huge_pages(&self, offset: usize, bytes: usize) -> Result<()> {
        self.accessible(offset, bytes)?;
        self.map.use_huge_pages(offset, bytes)
    }

    fn accessible(&self, offset: usize, bytes: usize) -> Result<()> {
        match self.at(offset, bytes) {
            Some(_) => Ok(()),
            None => Err(Error::from_raw_os_error(libc::ENOMEM)),
        }
    }
}

impl Entries for View {
    fn find(&self, page: u32) -> Option<&Entry> {
        if page as usize >= self.pages {
            return None;
        }
        let (word, bit) = self.bit(page);
        if word.load(Ordering::Relaxed) & bit == 0 {
            return None;
        }
        let offset = entries_at(self.pages) + page as usize * size_of::<Entry>();
        let entry = self.at(offset, size_of::<Entry>())?;
        // SAFETY: inside the entries, and its page is allocated; atomics are valid for any content.
        Some(unsafe { &*entry.cast() })
    }

    fn behind_missing(&self, page: u32) -> u32 {
        // Most words of the bitmap are zero.
        let pages = match self.bit(page).0.load(Ordering::Relaxed) {
            0 => 32 * ENTRIES_IN_PAGE as u32,
            _ => ENTRIES_IN_PAGE as u32,
        };
        (page / pages).saturating_add(1).saturating_mul(pages)
    }

    fn make(&self, page: u32) -> Result<()> {
        let (word, bit) = self.bit(page);
        if word.load(Ordering::Relaxed) & bit == 0 {
            let number = page as usize / ENTRIES_IN_PAGE;
            self.populate(entries_at(self.pages) + number * PAGE, PAGE)?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }
}
