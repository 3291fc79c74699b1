//! Small pieces of the heap: slabs of pages that this process alone divides, each into pieces of one size.
//!
//! ```text
//! bytes a piece    slab      sizes
//! 64 to 2,048      a page    powers of two
//! to 8,192         32 KB     eighths of the power of two below: much of the memory of many small windows is here
//! ```
//!
//! Invariant: a slab is in `slabs` while one of its pieces is given out, and then goes back; but the last one stays until another one is
//! empty, so that what is made and freed in turn costs no calls of the kernel.

use super::{Heap, PAGE};
use std::collections::{BTreeMap, HashMap};
use std::io::{Error, Result};

/// The largest piece, bytes.
pub const LONGEST: usize = 8192;
/// The smallest piece, and what all are aligned to: a cache line.
pub const SHORTEST: usize = 64;

/// The largest piece of a slab of one page, bytes.
const SHORT: usize = 2048;
/// Bytes of the slabs of larger pieces.
const LONG_SLAB: usize = 32 << 10;

/// The bytes of a piece for so many.
fn size_of_piece(bytes: usize) -> usize {
    let power = bytes.max(SHORTEST).next_power_of_two();
    match power <= SHORT {
        true => power,
        false => bytes.next_multiple_of(power / 16),
    }
}

fn slab_of(size: usize) -> usize {
    if size <= SHORT { PAGE } else { LONG_SLAB }
}

/// A slab in pieces.
struct Divided {
    /// Bytes of a piece.
    size: usize,
    /// Pieces that are given out, a bit each.
    used: u64,
}

impl Divided {
    fn all(&self) -> u64 {
        u64::MAX >> (64 - slab_of(self.size) / self.size)
    }
}

/// See the module.
pub struct Pieces {
    /// By offset in the heap.
    slabs: HashMap<u64, Divided>,
    /// For each size, slabs of which pieces are free.
    free: BTreeMap<usize, Vec<u64>>,
    /// The slab of which no piece is given out.
    empty: Option<u64>,
}

impl Pieces {
    pub fn new() -> Pieces {
        Pieces {
            slabs: HashMap::new(),
            free: BTreeMap::new(),
            empty: None,
        }
    }

    /// A piece of zeros.
    pub fn obtain(&mut self, heap: &Heap, bytes: usize) -> Result<u64> {
        let size = size_of_piece(bytes);
        let free = self.free.entry(size).or_default();
        let slab = match free.last() {
            Some(slab) => *slab,
            None => {
                let bytes = slab_of(size) as u64;
                let slab = heap.allocate(bytes, bytes)?;
                if let Err(error) = heap.populate(slab, bytes) {
                    heap.free(slab);
                    return Err(error);
                }
                self.slabs.insert(slab, Divided { size, used: 0 });
                free.push(slab);
                slab
            }
        };
        let divided = self.slabs.get_mut(&slab).expect("a slab of pieces");
        if self.empty == Some(slab) {
            self.empty = None;
        }
        let piece = divided.used.trailing_ones();
        divided.used |= 1 << piece;
        if divided.used == divided.all() {
            free.pop();
        }
        let offset = slab + u64::from(piece) * size as u64;
        let address = heap
            .at(offset, size as u64)
            .ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))?;
        // SAFETY: inside a slab of this process's that is allocated, and nobody else has the piece.
        unsafe { address.write_bytes(0, size) };
        Ok(offset)
    }

    /// The slab that an offset lies in.
    fn slab_at(&self, offset: u64) -> Option<u64> {
        [PAGE, LONG_SLAB].into_iter().find_map(|bytes| {
            let slab = offset / bytes as u64 * bytes as u64;
            let divided = self.slabs.get(&slab)?;
            (slab_of(divided.size) == bytes).then_some(slab)
        })
    }

    /// Whether it is a piece that is given out, which goes back; `None`: it is in no slab of pieces.
    pub fn release(&mut self, heap: &Heap, offset: u64) -> Option<bool> {
        let slab = self.slab_at(offset)?;
        let divided = self.slabs.get_mut(&slab)?;
        let (inside, size) = ((offset - slab) as usize, divided.size);
        let bit = 1u64 << (inside / size);
        if !inside.is_multiple_of(size) || divided.used & bit == 0 {
            return Some(false);
        }
        let was_full = divided.used == divided.all();
        divided.used &= !bit;
        let free = self.free.entry(size).or_default();
        if was_full {
            free.push(slab);
        }
        if divided.used == 0
            && let Some(old) = self.empty.replace(slab)
        {
            self.give_back(heap, old);
        }
        Some(true)
    }

    /// Gives an empty slab back.
    fn give_back(&mut self, heap: &Heap, slab: u64) {
        let divided = self.slabs.remove(&slab).expect("a slab of pieces");
        let free = self.free.entry(divided.size).or_default();
        free.retain(|other| *other != slab);
        heap.free(slab);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_long_enough_and_a_bit_each() {
        for bytes in 1..=LONGEST {
            let size = size_of_piece(bytes);
            assert!(size >= bytes && size.is_multiple_of(SHORTEST));
            assert!(size <= bytes.max(SHORTEST) * 2);
            assert!(bytes <= SHORT || size - bytes <= bytes / 8);
            assert!((2..=64).contains(&(slab_of(size) / size)));
        }
    }
}
