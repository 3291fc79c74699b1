//! Small pieces of the heap: slabs of pages that this process alone divides, each into pieces of one size.
//!
//! ```text
//! bytes a piece    slab      sizes
//! 64 to 2,048      a page    powers of two
//! to 8,192         32 KB     eighths of the power of two below: much of the memory of many small windows is here
//! ```
//!
//! Invariant: a slab is in `slabs` while one of its pieces is given out, and then goes back; but the last ones stay until more are
//! empty, so that what is made and freed in turn costs no calls of the kernel.

use super::{Heap, PAGE};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
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

/// Sizes of pieces.
const CLASSES: usize = 22;

/// The number of a size: six powers of two, then eight sizes for each of two.
fn class_of(size: usize) -> usize {
    match size {
        ..=SHORT => (size.ilog2() - SHORTEST.ilog2()) as usize,
        _ if size <= 2 * SHORT => 5 + (size - SHORT) / (SHORT / 8),
        _ => 13 + (size - 2 * SHORT) / (SHORT / 4),
    }
}

/// A hash of offsets in the heap, for tables of this process alone: nobody chooses them.
#[derive(Clone, Copy, Default)]
pub struct OfOffset(u64);

impl BuildHasher for OfOffset {
    type Hasher = OfOffset;

    fn build_hasher(&self) -> OfOffset {
        OfOffset(0)
    }
}

impl Hasher for OfOffset {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // 2^64 by the golden ratio. The table uses the highest and the lowest bits.
        let mixed = (self.0 ^ word >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed.rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
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
    slabs: HashMap<u64, Divided, OfOffset>,
    /// For each size, slabs of which pieces are free.
    free: [Vec<u64>; CLASSES],
    /// Slabs of which no piece is given out, the longest empty ones first.
    empty: Vec<u64>,
    /// How many of them stay.
    most_empty: usize,
}

impl Pieces {
    /// Of slabs of which so many stay when they are empty.
    pub fn new(most_empty: usize) -> Pieces {
        Pieces {
            slabs: HashMap::default(),
            free: [const { Vec::new() }; CLASSES],
            empty: Vec::new(),
            most_empty,
        }
    }

    /// A piece, of zeros if wanted.
    pub fn obtain(&mut self, heap: &Heap, bytes: usize, zeros: bool) -> Result<u64> {
        let size = size_of_piece(bytes);
        let free = &mut self.free[class_of(size)];
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
        if divided.used == 0
            && let Some(place) = self.empty.iter().rposition(|empty| *empty == slab)
        {
            self.empty.remove(place);
        }
        let piece = divided.used.trailing_ones();
        divided.used |= 1 << piece;
        if divided.used == divided.all() {
            free.pop();
        }
        let offset = slab + u64::from(piece) * size as u64;
        if !zeros {
            return Ok(offset);
        }
        let address = heap
            .at(offset, size as u64)
            .ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))?;
        // SAFETY: inside a slab of this process's that is allocated, and nobody else has the piece.
        unsafe { address.write_bytes(0, size) };
        Ok(offset)
    }

    /// Whether it is a piece that is given out, which goes back; `None`: it is in no slab of pieces.
    pub fn release(&mut self, heap: &Heap, offset: u64) -> Option<bool> {
        for bytes in [PAGE, LONG_SLAB] {
            let slab = offset & !(bytes as u64 - 1);
            let Some(divided) = self.slabs.get_mut(&slab) else {
                continue;
            };
            if slab_of(divided.size) != bytes {
                continue;
            }
            let (inside, size) = ((offset - slab) as u32, divided.size as u32);
            let bit = 1u64 << (inside / size);
            if !inside.is_multiple_of(size) || divided.used & bit == 0 {
                return Some(false);
            }
            if divided.used == divided.all() {
                self.free[class_of(divided.size)].push(slab);
            }
            divided.used &= !bit;
            if divided.used == 0 {
                self.empty.push(slab);
                if self.empty.len() > self.most_empty {
                    let oldest = self.empty.remove(0);
                    self.give_back(heap, oldest);
                }
            }
            return Some(true);
        }
        None
    }

    /// Gives an empty slab back.
    fn give_back(&mut self, heap: &Heap, slab: u64) {
        let divided = self.slabs.remove(&slab).expect("a slab of pieces");
        self.free[class_of(divided.size)].retain(|other| *other != slab);
        heap.free(slab);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_long_enough_and_a_bit_each() {
        let mut classes = std::collections::BTreeSet::new();
        for bytes in 1..=LONGEST {
            let size = size_of_piece(bytes);
            assert!(size >= bytes && size.is_multiple_of(SHORTEST));
            assert!(size <= bytes.max(SHORTEST) * 2);
            assert!(bytes <= SHORT || size - bytes <= bytes / 8);
            assert!((2..=64).contains(&(slab_of(size) / size)));
            classes.insert((class_of(size), size));
        }
        assert!(classes.iter().map(|(class, _)| *class).eq(0..CLASSES));
    }
}
