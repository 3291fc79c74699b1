//! Where a process addresses memory of another one that is shared in place ([`super::in_place`]).
//!
//! Invariant: accesses to pages that have other variables of their process are counted while they are under way.

use super::room::PAGE;
use super::window::Window;
use crate::queue::relocation::Pages;
use crate::transport::{Heap, heap};
use std::ops::Range;

impl Window {
    /// The address here of memory of another rank at an address there, if all of it is on whole pages that are shared in place.
    #[inline]
    pub(super) fn shared_address(&self, rank: usize, at: usize, bytes: u64) -> Option<usize> {
        let pages = self.block.target(rank).place.pages()?;
        let target = &self.targets[rank];
        let memory = target.base..target.base + target.bytes as usize;
        address_here(heap()?, &memory, pages, (at, bytes))
    }

    /// As [`Self::shared_address`], for an access that is counted: also on edges.
    #[inline]
    pub(super) fn counted_address(&self, rank: usize, at: usize, bytes: u64) -> Option<usize> {
        if self.is_dynamic() {
            return self.counted_address_attached(rank, at, bytes);
        }
        let pages = self.block.target(rank).place.pages()?;
        let target = &self.targets[rank];
        let memory = target.base..target.base + target.bytes as usize;
        counted_address_here(heap()?, &memory, pages, (at, bytes))
    }
}

/// As [`address_here`], for an access that is counted: also on edges.
#[inline]
pub(super) fn counted_address_here(
    heap: &Heap,
    memory: &Range<usize>,
    pages: Pages,
    (at, bytes): (usize, u64),
) -> Option<usize> {
    if !pages.edges {
        return address_here(heap, memory, pages, (at, bytes));
    }
    if at < memory.start || at + bytes as usize > memory.end {
        return None;
    }
    let first = memory.start / PAGE * PAGE;
    let here = heap.at(pages.offset + (at - first) as u64, bytes)?;
    Some(here as usize)
}

/// The address here of `bytes` at an address `at` of another process, on whole pages of memory there that are shared.
#[inline]
pub(super) fn address_here(
    heap: &Heap,
    memory: &Range<usize>,
    pages: Pages,
    (at, bytes): (usize, u64),
) -> Option<usize> {
    let end = memory.end / PAGE * PAGE;
    let whole = memory.start.next_multiple_of(PAGE);
    if at < whole || at + bytes as usize > end {
        return None;
    }
    let first = match pages.edges {
        true => memory.start / PAGE * PAGE,
        false => whole,
    };
    let here = heap.at(pages.offset + (at - first) as u64, bytes)?;
    Some(here as usize)
}
