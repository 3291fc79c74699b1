//! Small pieces of the heap: pages that this process alone divides, each into pieces of one size.
//!
//! Invariant: a page is in `pages` while one of its pieces is given out, and then goes back.

use super::{Heap, PAGE};
use std::collections::HashMap;
use std::io::{Error, Result};

/// The largest piece, bytes.
pub const LONGEST: usize = 2048;
/// The smallest piece, and what all are aligned to: a cache line.
pub const SHORTEST: usize = 64;

/// A page in pieces.
struct Divided {
    /// Bytes of a piece.
    size: usize,
    /// Pieces that are given out, a bit each.
    used: u64,
}

impl Divided {
    fn all(&self) -> u64 {
        u64::MAX >> (64 - PAGE / self.size)
    }
}

/// See the module.
pub struct Pieces {
    /// By offset in the heap.
    pages: HashMap<u64, Divided>,
    /// For each size, pages of which pieces are free.
    free: [Vec<u64>; (LONGEST / SHORTEST).ilog2() as usize + 1],
}

impl Pieces {
    pub fn new() -> Pieces {
        Pieces {
            pages: HashMap::new(),
            free: Default::default(),
        }
    }

    /// A piece of zeros.
    pub fn obtain(&mut self, heap: &Heap, bytes: usize) -> Result<u64> {
        let size = bytes.max(SHORTEST).next_power_of_two();
        let free = &mut self.free[(size / SHORTEST).ilog2() as usize];
        let page = match free.last() {
            Some(page) => *page,
            None => {
                let page = heap.allocate(PAGE as u64, PAGE as u64)?;
                if let Err(error) = heap.populate(page, PAGE as u64) {
                    heap.free(page);
                    return Err(error);
                }
                self.pages.insert(page, Divided { size, used: 0 });
                free.push(page);
                page
            }
        };
        let divided = self.pages.get_mut(&page).expect("a page of pieces");
        let piece = divided.used.trailing_ones();
        divided.used |= 1 << piece;
        if divided.used == divided.all() {
            free.pop();
        }
        let offset = page + u64::from(piece) * size as u64;
        let address = heap
            .at(offset, size as u64)
            .ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))?;
        // SAFETY: inside a page of this process's that is allocated, and nobody else has the piece.
        unsafe { address.write_bytes(0, size) };
        Ok(offset)
    }

    /// Whether it is a piece that is given out, which goes back; `None`: it is in no page of pieces.
    pub fn release(&mut self, heap: &Heap, offset: u64) -> Option<bool> {
        let page = offset / PAGE as u64 * PAGE as u64;
        let divided = self.pages.get_mut(&page)?;
        let (inside, size) = ((offset - page) as usize, divided.size);
        let bit = 1u64 << (inside / size);
        if !inside.is_multiple_of(size) || divided.used & bit == 0 {
            return Some(false);
        }
        let was_full = divided.used == divided.all();
        divided.used &= !bit;
        let free = &mut self.free[(size / SHORTEST).ilog2() as usize];
        if was_full {
            free.push(page);
        }
        if divided.used == 0 {
            free.retain(|other| *other != page);
            self.pages.remove(&page);
            heap.free(page);
        }
        Some(true)
    }
}
