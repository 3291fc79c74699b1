//! A buffer of several ranks' parts: equal ones that follow each other, or each where its rank's arguments say.
//!
//! Invariant: as of a `Buffer`: nothing outside of the elements that it was made of is touched.
#![allow(unsafe_code)]

use super::{Buffer, MemoryKind};
use crate::datatype::Datatype;

/// See the module.
#[derive(Clone, Debug)]
pub enum Parts {
    Equal(Equal),
    Each(Box<[Buffer]>),
}

/// So many elements for each rank, without a gap between the ranks' parts.
#[derive(Clone, Copy)]
pub struct Equal {
    address: *mut u8,
    count: u64,
    datatype: &'static Datatype,
}

impl std::fmt::Debug for Equal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} elements a rank at {:p}",
            self.count, self.address
        )
    }
}

// SAFETY: as for `Buffer`.
unsafe impl Send for Equal {}
// SAFETY: as for `Buffer`.
unsafe impl Sync for Equal {}

impl Equal {
    /// From one part to the next, bytes.
    #[inline]
    fn stride(&self) -> isize {
        self.count as isize * self.datatype.extent as isize
    }

    /// The parts of `number` ranks from `first` on.
    #[inline]
    fn range(&self, first: usize, number: usize) -> Buffer {
        let address = self.address.wrapping_offset(first as isize * self.stride());
        // SAFETY: by the contract of `Parts::equal`, which is for the parts of all ranks.
        unsafe { Buffer::new(address, number as u64 * self.count, self.datatype) }
    }
}

impl Parts {
    /// # Safety
    /// As `Buffer::new`, for `count` elements of each rank.
    pub unsafe fn equal(address: *mut u8, count: u64, datatype: &'static Datatype) -> Parts {
        Parts::Equal(Equal {
            address,
            count,
            datatype,
        })
    }

    /// Equal parts of bytes in memory of the library's own, as [`Buffer::of_copy`].
    pub fn of_copy(copy: &mut Box<[u8]>, each: usize) -> Parts {
        let whole = Buffer::of_copy(copy);
        let count = whole.len().checked_div(each).unwrap_or(0);
        Parts::Each(
            (0..count)
                .map(|rank| whole.slice(rank * each, each))
                .collect(),
        )
    }

    /// The part of a rank.
    #[inline]
    pub fn of(&self, rank: usize) -> Buffer {
        match self {
            Parts::Equal(equal) => equal.range(rank, 1),
            Parts::Each(parts) => parts[rank],
        }
    }

    /// The parts of `number` ranks from `first` on as one buffer, where they are one.
    pub fn range(&self, first: usize, number: usize) -> Option<Buffer> {
        match self {
            Parts::Equal(equal) => Some(equal.range(first, number)),
            Parts::Each(parts) => Buffer::joined(&parts[first..first + number]),
        }
    }

    /// Packed bytes of a rank's part.
    #[inline]
    pub fn len(&self, rank: usize) -> usize {
        match self {
            Parts::Equal(equal) => equal.count as usize * equal.datatype.size as usize,
            Parts::Each(parts) => parts[rank].len(),
        }
    }

    /// Which of the first `ranks` parts begins at an address, as [`Buffer::begin`] has it.
    #[inline]
    pub fn beginning_at(&self, address: usize, ranks: usize) -> Option<usize> {
        let first = match self {
            Parts::Equal(_) => self.of(0).begin()?,
            Parts::Each(parts) => {
                let mut begins = parts.iter().take(ranks).map(Buffer::begin);
                return begins.position(|begin| begin == Some(address));
            }
        };
        let (distance, stride) = (address.wrapping_sub(first), self.stride());
        // `distance` is unsigned: an address before the first part wraps to one behind the last.
        if stride > 0 && distance as u128 >= stride as u128 * ranks as u128 {
            return None;
        }
        self.equal_beginning_at(distance as isize, ranks)
    }

    /// From one equal part to the next, bytes.
    fn stride(&self) -> isize {
        match self {
            Parts::Equal(equal) => equal.stride(),
            Parts::Each(_) => 0,
        }
    }

    #[cold]
    fn equal_beginning_at(&self, distance: isize, ranks: usize) -> Option<usize> {
        let stride = self.stride();
        if stride == 0 {
            return (distance == 0).then_some(0);
        }
        let rank = usize::try_from(distance / stride).ok()?;
        (distance % stride == 0 && rank < ranks).then_some(rank)
    }

    /// The lowest and the highest address at which one of the first `ranks` parts begins.
    pub fn begins_within(&self, ranks: usize) -> Option<(usize, usize)> {
        let (mut lowest, mut highest) = (usize::MAX, 0);
        let mut count = |part: &Buffer| {
            if let Some(begin) = part.begin() {
                (lowest, highest) = (lowest.min(begin), highest.max(begin));
            }
        };
        match self {
            Parts::Equal(_) if ranks == 0 => {}
            Parts::Equal(equal) => {
                let first = self.of(0).begin()?;
                let last = first.wrapping_add_signed((ranks - 1) as isize * equal.stride());
                return Some((first.min(last), first.max(last)));
            }
            Parts::Each(parts) => parts.iter().take(ranks).for_each(&mut count),
        }
        (lowest <= highest).then_some((lowest, highest))
    }

    /// The types that say where the data lies.
    pub fn datatypes(&self) -> impl Iterator<Item = &'static Datatype> {
        let (equal, each): (_, &[Buffer]) = match self {
            Parts::Equal(equal) => (Some(equal.datatype), &[]),
            Parts::Each(parts) => (None, parts),
        };
        equal
            .into_iter()
            .chain(each.iter().filter_map(Buffer::datatype))
    }

    /// Whether all parts have the same size by how they were made.
    pub fn are_equal(&self) -> bool {
        matches!(self, Parts::Equal(_))
    }
}

impl Buffer {
    /// Lets `look` read the bytes of a buffer without holes. Panics if it has some.
    pub fn with_bytes<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        assert!(self.contiguous().is_some(), "bytes of a buffer with holes");
        if self.length == 0 {
            return look(&[]);
        }
        match self.kind {
            MemoryKind::Host => {
                // SAFETY: without holes, so all bytes are the buffer's; nobody writes them, by the contract of `new`.
                look(unsafe { std::slice::from_raw_parts(self.address, self.length) })
            }
        }
    }

    /// Whether both have no holes and begin at one address.
    pub fn is_at(&self, other: &Buffer) -> bool {
        self.contiguous().is_some() && self.contiguous() == other.contiguous()
    }

    /// Whether this buffer has no holes and shares no byte with another one without holes.
    pub fn is_apart_from(&self, other: &Buffer) -> bool {
        let (Some(one), Some(two)) = (self.contiguous(), other.contiguous()) else {
            return false;
        };
        let (one, two) = (one as usize, two as usize);
        one + self.length <= two || two + other.length <= one
    }

    /// Buffers without holes that follow each other as one; also a single one with holes.
    fn joined(buffers: &[Buffer]) -> Option<Buffer> {
        let [first, others @ ..] = buffers else {
            return None;
        };
        let mut whole = *first;
        for next in others.iter().filter(|next| !next.is_empty()) {
            let end = whole.address.wrapping_add(whole.length);
            if whole.is_empty() {
                whole = *next;
            } else if whole.contiguous().is_some() && next.contiguous() == Some(end) {
                whole.length += next.length;
            } else {
                return None;
            }
        }
        Some(whole)
    }

    /// The bytes from `offset` on of a buffer without holes. Panics if they are not all in it, or if it has holes.
    pub fn slice(&self, offset: usize, length: usize) -> Buffer {
        self.check(offset, length);
        assert!(self.layout.is_none(), "a part of a buffer with holes");
        Buffer {
            address: self.address.wrapping_add(offset),
            kind: self.kind,
            length,
            layout: None,
        }
    }

    /// As [`Self::slice`], of any buffer; `None` if it has holes and the part does not consist of whole elements.
    pub fn cut(&self, offset: usize, length: usize) -> Option<Buffer> {
        self.check(offset, length);
        let Some(datatype) = self.layout else {
            return Some(self.slice(offset, length));
        };
        let size = (datatype.size as usize).max(1);
        if !offset.is_multiple_of(size) || !length.is_multiple_of(size) {
            return None;
        }
        let distance = datatype.extent as isize * (offset / size) as isize;
        Some(Buffer {
            address: self.address.wrapping_offset(distance),
            kind: self.kind,
            length,
            layout: Some(datatype),
        })
    }
}

#[cfg(test)]
impl Parts {
    /// For tests: as [`Parts::of_copy`], in the form of equal parts. The memory outlives them.
    pub fn in_memory(memory: &mut [u8], each: usize) -> Parts {
        let Some(byte) = crate::datatype::get(crate::datatype::BYTE) else {
            unreachable!("MPI_BYTE is a datatype")
        };
        // SAFETY: by the test, which has memory for `each` bytes of each rank.
        unsafe { Parts::equal(memory.as_mut_ptr(), each as u64, byte) }
    }

    /// For tests: all elements, the same number for each rank. They outlive the parts.
    pub fn of_laid(laid: &mut super::Laid, ranks: usize) -> Parts {
        let address = laid.memory[laid.origin..].as_mut_ptr();
        // SAFETY: by the test.
        unsafe { Parts::equal(address, laid.count / ranks as u64, laid.datatype) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype;

    fn int(count: u64, address: usize) -> Parts {
        let int = datatype::get(datatype::INT).unwrap();
        // SAFETY: nothing reads or writes it: addresses are compared only.
        unsafe { Parts::equal(address as *mut u8, count, int) }
    }

    #[test]
    fn parts_are_found_by_where_they_begin() {
        let base = 0x1000;
        let parts = int(3, base);
        for rank in 0..4 {
            assert_eq!(parts.beginning_at(base + 12 * rank, 4), Some(rank));
            assert_eq!(parts.beginning_at(base + 12 * rank + 4, 4), None);
        }
        assert_eq!(parts.beginning_at(base - 12, 4), None);
        assert_eq!(parts.beginning_at(base + 48, 4), None);
        assert_eq!(int(0, base).beginning_at(base, 4), None);
        assert_eq!(parts.begins_within(4), Some((base, base + 36)));
        let each = Parts::Each(Box::new([parts.of(2), Buffer::empty(), parts.of(0)]));
        assert_eq!(each.beginning_at(base, 3), Some(2));
        assert_eq!(each.beginning_at(base + 12, 3), None);
        assert_eq!(each.begins_within(3), Some((base, base + 24)));
        assert_eq!(int(0, base).begins_within(3), None);
        assert_eq!(parts.begins_within(0), None);
    }

    #[test]
    fn parts_that_follow_each_other_are_one() {
        let mut memory = vec![0; 40].into_boxed_slice();
        let whole = Buffer::of_copy(&mut memory);
        let parts = |ranges: &[(usize, usize)]| {
            let parts = ranges.iter().map(|(at, bytes)| whole.slice(*at, *bytes));
            Parts::Each(parts.collect())
        };
        let in_order = parts(&[(0, 8), (8, 0), (8, 12), (20, 20)]);
        let found = in_order.range(0, 4).unwrap();
        assert!(found.is_at(&whole) && found.len() == 40);
        let found = in_order.range(1, 2).unwrap();
        assert!(found.is_at(&whole.slice(8, 1)) && found.len() == 12);
        assert!(parts(&[(0, 8), (9, 8)]).range(0, 2).is_none());
        assert!(parts(&[(8, 8), (0, 8)]).range(0, 2).is_none());
        assert_eq!(parts(&[(8, 8), (0, 8)]).range(1, 1).unwrap().len(), 8);
    }
}
