//! Pages of this process that the kernel has provided for operations of others, remembered where nothing can take them away.
//!
//! The call of the kernel that says whether pages can be written takes a microsecond, longer than 256 pieces on them. While the only thread of
//! a process is in one wait of the library nobody unmaps its memory, so each page is asked for once a wait. Invariant: of a process with more
//! threads, or outside of such a wait, the kernel is asked each time.

use crate::engine::numbered_waits;
use crate::os::{own_memory, process};
use smallvec::SmallVec;
use std::ops::Range;

/// The operation of a wait from which on pages are remembered: it takes a few microseconds to count threads.
const KEPT_FROM: u32 = 4;
/// Ranges that are remembered, at most.
const RANGES: usize = 16;

/// See the module.
#[derive(Default)]
pub(super) struct Provided {
    /// The wait's number.
    wait: Option<u64>,
    /// Operations in it.
    operations: u32,
    is_alone: bool,
    ranges: SmallVec<[Pages; RANGES]>,
}

struct Pages {
    addresses: Range<usize>,
    writes: bool,
}

impl Pages {
    fn has(&self, other: &Pages) -> bool {
        self.addresses.start <= other.addresses.start
            && other.addresses.end <= self.addresses.end
            && self.writes >= other.writes
    }
}

impl Provided {
    /// To be called before each operation.
    pub fn begin(&mut self) {
        let wait = numbered_waits::current();
        if wait.is_none() || wait != self.wait {
            *self = Provided {
                wait,
                ..Provided::default()
            };
        }
        self.operations = self.operations.saturating_add(1);
        if self.operations == KEPT_FROM && self.wait.is_some() {
            self.is_alone = process::has_one_thread();
        }
    }

    /// As [`own_memory::provide`].
    pub fn provide(&mut self, address: usize, bytes: usize, writes: bool) -> bool {
        let Some(addresses) = own_memory::pages(address, bytes) else {
            return false;
        };
        let pages = Pages { addresses, writes };
        if self.ranges.iter().any(|it| it.has(&pages)) {
            return true;
        }
        let is_there = own_memory::provide(&pages.addresses, writes);
        if is_there && self.is_alone {
            self.add(pages);
        }
        is_there
    }

    fn add(&mut self, mut pages: Pages) {
        let meets = |it: &Pages| {
            it.writes == pages.writes
                && it.addresses.start <= pages.addresses.end
                && pages.addresses.start <= it.addresses.end
        };
        if let Some(at) = self.ranges.iter().position(meets) {
            let other = self.ranges.swap_remove(at).addresses;
            pages.addresses.start = pages.addresses.start.min(other.start);
            pages.addresses.end = pages.addresses.end.max(other.end);
        }
        if self.ranges.len() == RANGES {
            self.ranges.remove(0);
        }
        self.ranges.push(pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4096;

    fn pages(range: Range<usize>, writes: bool) -> Pages {
        Pages {
            addresses: range.start * PAGE..range.end * PAGE,
            writes,
        }
    }

    #[test]
    fn what_may_be_written_may_be_read_and_not_the_other_way_round() {
        let mut provided = Provided::default();
        provided.add(pages(1..3, false));
        provided.add(pages(4..5, true));
        let has = |of: &Provided, range, writes| {
            let wanted = pages(range, writes);
            of.ranges.iter().any(|it| it.has(&wanted))
        };
        assert!(has(&provided, 1..3, false) && !has(&provided, 1..3, true));
        assert!(has(&provided, 4..5, false) && has(&provided, 4..5, true));
        assert!(!has(&provided, 2..5, false) && !has(&provided, 0..1, false));
        provided.add(pages(3..4, true));
        assert!(has(&provided, 3..5, true) && !has(&provided, 2..5, true));
    }

    #[test]
    fn the_oldest_range_makes_room() {
        let mut provided = Provided::default();
        for at in 0..=RANGES {
            provided.add(pages(4 * at..4 * at + 1, true));
        }
        let starts: Vec<_> = provided
            .ranges
            .iter()
            .map(|it| it.addresses.start / PAGE)
            .collect();
        assert!(starts.into_iter().eq((1..=RANGES).map(|at| 4 * at)));
    }

    #[test]
    fn outside_of_a_wait_the_kernel_is_asked_each_time() {
        let own = [1u8; PAGE];
        let mut provided = Provided::default();
        for _ in 0..2 * KEPT_FROM {
            provided.begin();
            provided.provide(own.as_ptr() as usize, own.len(), true);
        }
        assert!(provided.ranges.is_empty());
    }
}
