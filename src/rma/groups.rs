//! Groups of pieces of a target's memory, and what they cost by the kernel and by the target.

use crate::os::peer_memory::Piece;
use smallvec::SmallVec;

/// Pieces of a put or get from which on it is worth while.
pub(super) const FEWEST: usize = 16;
/// Groups of pieces of one operation, at most.
pub(super) const GROUPS: usize = 255;
/// Pieces of a group lie no farther apart, so that its pages have elements.
const STRIDE: usize = 4096;
/// What a piece costs by the kernel at least, nanoseconds, a call, and its copy; what the target pays for a range of pages that the kernel provides, and for each of
/// them. It has no less to do besides.
const PIECE_COST: usize = 130;
const CALL_COST: usize = 500;
const BYTES_A_NANOSECOND: usize = 14;
const RANGE_COST: usize = 300;
const PAGE_COST: usize = 120;
const PAGE: usize = 4096;

/// Equally long pieces of the target's memory at equal distances.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub first: usize,
    pub bytes: usize,
    pub stride: isize,
    pub count: usize,
}

impl Group {
    pub fn address(&self, at: usize) -> usize {
        self.first
            .wrapping_add_signed(self.stride.wrapping_mul(at as isize))
    }

    /// Where a piece's packed bytes are, if those of the first one are there, and the piece, if the memory is this process's.
    pub fn piece(&self, at: usize, packed: *mut u8) -> (*mut u8, *mut u8) {
        let own = packed.wrapping_add(at * self.bytes);
        (own, self.address(at) as *mut u8)
    }

    /// All of its pieces with what is between them.
    fn range(&self) -> (usize, usize) {
        let (one, other) = (self.first, self.address(self.count - 1));
        (one.min(other), one.abs_diff(other) + self.bytes)
    }

    pub fn is_dense(&self) -> bool {
        self.stride.unsigned_abs() <= STRIDE
    }
}

/// Visits ranges of addresses in which all pieces lie, with what is between them, until `visit` is false for one. Returns whether it was true for all.
pub(super) fn each_range(groups: &[Group], mut visit: impl FnMut(usize, usize) -> bool) -> bool {
    let mut range: Option<(usize, usize)> = None;
    for group in groups {
        let (first, bytes) = group.range();
        let end = first.saturating_add(bytes);
        range = match range {
            Some((from, to)) if from <= first && first <= to.saturating_add(STRIDE) => {
                Some((from, to.max(end)))
            }
            Some((from, to)) if !visit(from, to - from) => return false,
            _ => Some((first, end)),
        };
    }
    range.is_none_or(|(from, to)| visit(from, to - from))
}

/// What a put to all of them costs by the kernel, nanoseconds.
pub(super) fn kernel_cost(groups: &[Group]) -> usize {
    let pieces: usize = groups.iter().map(|group| group.count).sum();
    pieces * PIECE_COST
}

/// What an accumulate to all of them costs by the kernel, nanoseconds.
pub(super) fn accumulate_cost(groups: &[Group]) -> usize {
    let bytes: usize = groups.iter().map(|it| it.count * it.bytes).sum();
    2 * (CALL_COST + kernel_cost(groups) + bytes / BYTES_A_NANOSECOND)
}

/// Whether the target does a put or get in less time than the kernel.
pub(super) fn is_worth_moving(groups: &[Group]) -> bool {
    let kernel = kernel_cost(groups);
    kernel >= FEWEST * PIECE_COST && is_worth_while(groups, kernel)
}

/// Whether the target does in less time what costs so much by the kernel.
pub(super) fn is_worth_while(groups: &[Group], kernel: usize) -> bool {
    let mut cost = 0_usize;
    each_range(groups, |_, bytes| {
        cost = cost.saturating_add(RANGE_COST + PAGE_COST * (bytes / PAGE + 2));
        true
    });
    cost <= kernel / 2
}

/// Groups of pieces.
#[derive(Default)]
pub(super) struct Groups(pub SmallVec<[Group; 4]>);

impl Groups {
    /// Adds a piece. False: there are too many groups.
    pub fn add(&mut self, address: usize, bytes: usize) -> bool {
        if let Some(last) = self.0.last_mut()
            && last.bytes == bytes
        {
            if last.count == 1 {
                last.stride = address.wrapping_sub(last.first) as isize;
            }
            if last.is_dense() && last.address(last.count) == address {
                last.count += 1;
                return true;
            }
        }
        self.0.push(Group {
            first: address,
            bytes,
            stride: 0,
            count: 1,
        });
        self.0.len() <= GROUPS
    }

    pub fn of_pieces(pieces: &[Piece]) -> Option<Groups> {
        let mut groups = Groups::default();
        let all = pieces.iter().all(|it| groups.add(it.address, it.bytes));
        all.then_some(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(addresses: &[usize]) -> Groups {
        let mut groups = Groups::default();
        assert!(addresses.iter().all(|address| groups.add(*address, 8)));
        groups
    }

    fn addresses(groups: &Groups) -> Vec<usize> {
        let all = |group: &Group| {
            (0..group.count)
                .map(|at| group.address(at))
                .collect::<Vec<_>>()
        };
        groups.0.iter().flat_map(all).collect()
    }

    fn ranges(groups: &Groups) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        each_range(&groups.0, |first, bytes| {
            found.push((first, bytes));
            true
        });
        found
    }

    #[test]
    fn groups_have_all_pieces_in_order() {
        for (list, number) in [
            (vec![4096], 1),
            (vec![4096, 4160, 4224, 4288], 1),
            (vec![4288, 4224, 4160], 1),
            (vec![4096, 4160, 4225, 4290], 2),
            (vec![4096, 4096, 4096], 1),
            (vec![4096, 1 << 40, 1 << 41], 3),
        ] {
            let found = groups(&list);
            assert_eq!((addresses(&found), found.0.len()), (list, number));
        }
        let mut full = Groups::default();
        let added = (0..GROUPS + 1).all(|at| full.add(at * at * 8192, 8));
        assert!(!added);
    }

    #[test]
    fn ranges_cover_what_lies_near_together() {
        assert_eq!(ranges(&groups(&[8000, 8064, 8128])), [(8000, 136)]);
        assert_eq!(ranges(&groups(&[8128, 8064, 8000])), [(8000, 136)]);
        assert_eq!(
            ranges(&groups(&[8000, 8064, 8128, 9000, 9001])),
            [(8000, 1009)]
        );
        assert_eq!(ranges(&groups(&[8000, 1 << 30])), [(8000, 8), (1 << 30, 8)]);
    }

    #[test]
    fn pieces_that_lie_far_apart_are_left_to_the_kernel() {
        let apart = |bytes: usize| {
            (0..256)
                .map(|at| (1 << 20) + at * bytes)
                .collect::<Vec<_>>()
        };
        assert!(is_worth_moving(&groups(&apart(64)).0));
        assert!(!is_worth_moving(&groups(&apart(4096)).0));
        assert!(!is_worth_moving(&groups(&apart(64)[..8]).0));
    }

    #[test]
    fn an_accumulate_of_one_element_is_worth_while_and_one_of_many_pages_is_not() {
        let is_worth = |groups: &Groups| is_worth_while(&groups.0, accumulate_cost(&groups.0));
        assert!(is_worth(&groups(&[8000])));
        assert!(!is_worth(&groups(&[4096, 1 << 30, 1 << 31])));
    }
}
