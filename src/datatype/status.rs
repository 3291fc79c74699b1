//! MPI_Status as the ABI has it, and the counts that MPI_Get_count and MPI_Get_elements take from it.
//!
//! Invariant: the received size is kept in bytes, 63 bits in the two first words; bit 0 of the second
//! word says that the operation was cancelled.

use super::Datatype;

/// MPI_ANY_SOURCE, the source of an empty status.
const ANY_SOURCE: i32 = -2;
const ANY_TAG: i32 = -1;
const PROC_NULL: i32 = -1;

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    pub count_lo: i32,
    pub count_hi_and_cancelled: i32,
    pub source: i32,
    pub tag: i32,
    pub error: i32,
}

const _: () = assert!(size_of::<Status>() == 20);

impl Status {
    pub const fn new(source: i32, tag: i32, bytes: u64) -> Status {
        let mut status = Status {
            count_lo: 0,
            count_hi_and_cancelled: 0,
            source,
            tag,
            error: 0,
        };
        status.set_bytes(bytes);
        status
    }

    /// What a send gives, and nothing at all.
    pub const fn empty() -> Status {
        Status::new(ANY_SOURCE, ANY_TAG, 0)
    }

    /// What a call on a null or inactive request gives: empty, and MPI_ERROR is part of it, which stays as it is at the end of an operation.
    pub const fn of_inactive() -> Status {
        let mut status = Status::empty();
        status.error = Status::WITH_ERROR;
        status
    }

    /// Whether the program's MPI_ERROR becomes MPI_SUCCESS.
    #[inline]
    pub const fn is_of_inactive(&self) -> bool {
        self.error == Status::WITH_ERROR
    }

    /// Never shown to programs.
    const WITH_ERROR: i32 = -1;

    /// What a receive from MPI_PROC_NULL gives.
    pub const fn proc_null() -> Status {
        Status::new(PROC_NULL, ANY_TAG, 0)
    }

    pub const fn bytes(&self) -> u64 {
        (self.count_hi_and_cancelled as u32 as u64 >> 1) << 32 | self.count_lo as u32 as u64
    }

    /// Keeps the cancelled bit.
    pub const fn set_bytes(&mut self, bytes: u64) {
        self.count_lo = bytes as u32 as i32;
        let high = (bytes >> 32 << 1) as u32 as i32;
        self.count_hi_and_cancelled = high | self.count_hi_and_cancelled & 1;
    }

    pub const fn cancelled(&self) -> bool {
        self.count_hi_and_cancelled & 1 != 0
    }

    pub const fn set_cancelled(&mut self, cancelled: bool) {
        self.count_hi_and_cancelled = self.count_hi_and_cancelled & !1 | cancelled as i32;
    }

    /// Whole elements of the type that were received; `None` (MPI_UNDEFINED) if bytes are left over.
    pub fn get_count(&self, datatype: &Datatype) -> Option<u64> {
        let bytes = self.bytes();
        match datatype.size {
            0 => (bytes == 0).then_some(0),
            size => bytes.is_multiple_of(size).then(|| bytes / size),
        }
    }

    /// Basic elements that were received: a half received pair counts as one. `None`
    /// (MPI_UNDEFINED) if an element is not whole.
    pub fn get_elements(&self, datatype: &Datatype) -> Option<u64> {
        datatype.layout().signature.elements_in(self.bytes())
    }

    /// Makes `get_elements` of the same type return `elements`; `None` if the bytes do not fit into
    /// a status.
    pub fn set_elements(&mut self, datatype: &Datatype, elements: u64) -> Option<()> {
        let bytes = datatype.layout().signature.bytes_of(elements)?;
        if bytes >> 63 != 0 {
            return None;
        }
        self.set_bytes(bytes);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BYTE, INT, get};
    use super::*;

    fn words(status: &Status) -> [u32; 5] {
        [
            status.count_lo as u32,
            status.count_hi_and_cancelled as u32,
            status.source as u32,
            status.tag as u32,
            status.error as u32,
        ]
    }

    #[test]
    fn words_of_a_large_and_cancelled_status() {
        let mut status = Status::new(0x11, 0x22, 0x0123_4567_89ab);
        status.error = 0x33;
        assert_eq!(words(&status), [0x4567_89ab, 0x246, 0x11, 0x22, 0x33]);
        status.set_cancelled(true);
        assert_eq!(status.count_hi_and_cancelled, 0x247);
        assert_eq!(status.bytes(), 0x0123_4567_89ab);
        status.set_elements(get(INT).unwrap(), 5).unwrap();
        assert_eq!(words(&status)[..2], [20, 1]);
        status.set_cancelled(false);
        assert!(!status.cancelled());
        assert_eq!(words(&Status::empty()), [0, 0, 0xffff_fffe, 0xffff_ffff, 0]);
    }

    #[test]
    fn counts() {
        let double = get(0x4c00_080b).unwrap();
        let marker = get(0x4c00_0010).unwrap();
        assert_eq!(Status::new(0, 0, 20).get_count(double), None);
        assert_eq!(Status::new(0, 0, 24).get_count(double), Some(3));
        assert_eq!(Status::new(0, 0, 24).get_elements(double), Some(3));
        assert_eq!(Status::new(0, 0, 0).get_count(marker), Some(0));
        assert_eq!(Status::new(0, 0, 1).get_count(marker), None);
    }

    #[test]
    fn elements_of_a_pair_type() {
        let double_int = get(0x8c00_0001_u32 as i32).unwrap();
        for (bytes, count, elements) in [
            (0, Some(0), Some(0)),
            (4, None, None),
            (8, None, Some(1)),
            (12, Some(1), Some(2)),
            (16, None, None),
            (20, None, Some(3)),
            (24, Some(2), Some(4)),
        ] {
            let status = Status::new(0, 0, bytes);
            assert_eq!(status.get_count(double_int), count);
            assert_eq!(status.get_elements(double_int), elements);
        }
        let mut status = Status::empty();
        status.set_elements(double_int, 3).unwrap();
        assert_eq!(status.bytes(), 20);
    }

    #[test]
    fn too_many_elements_do_not_fit() {
        let mut status = Status::empty();
        assert!(status.set_elements(get(BYTE).unwrap(), 1 << 63).is_none());
        assert!(status.set_elements(get(INT).unwrap(), 1 << 62).is_none());
        assert!(status.set_elements(get(INT).unwrap(), 1 << 60).is_some());
        assert_eq!(status.get_count(get(INT).unwrap()), Some(1 << 60));
    }
}
