//! Small puts and accumulates to private memory that wait at the origin, so that one call of the kernel, or of the helper thread, does many.
//!
//! A call costs 0.5 to 2 us, a piece in it 0.15 to 0.3 us, and neighbours are one piece. An operation that follows another one without a flush in
//! between waits, with a copy of its data, until the epoch or a flush completes it, until an operation of another kind goes to that target, or
//! until the list is full. Invariant: operations of a list are done in their order, and before every later operation of this process to that target.

use super::access::Spot;
use super::apply::Work;
use super::private::PrivateMemory;
use super::room::private_key;
use super::waiting::{Kind, List, SMALL};
use super::ways;
use super::window::Window;
use crate::datatype::Buffer;
use crate::error::Result;
use crate::sync::Ordering;

impl List {
    /// Does all operations.
    ///
    /// Errors: the first one; the others are done all the same.
    fn finish(&mut self, window: &Window, rank: usize) -> Result<()> {
        let process = window.targets[rank].process;
        let address = self.pieces.first().map_or(0, |piece| piece.address);
        let spot = Spot {
            rank,
            way: ways::to(process),
            address,
            key: private_key(process, address as u64),
        };
        let done = PrivateMemory::begin(window, &spot).and_then(|target| match self.kind {
            Kind::Put => self.put(&target),
            Kind::Accumulate(operation, basic) => {
                let work = Work::new(window, operation, basic);
                work.together(&target, &spot, self)
            }
        });
        self.clear();
        done
    }

    fn put(&self, target: &PrivateMemory) -> Result<()> {
        if target.offer_pieces(&self.pieces, &self.data) {
            return Ok(());
        }
        let all = target.write(&self.pieces, &self.data);
        if all.is_ok() || self.pieces.len() == 1 {
            return all;
        }
        // One that cannot be done keeps no other from being done.
        target.write_each(&self.pieces, &self.data, |_| true)
    }
}

impl Window {
    /// Adds a put or an accumulate of elements without holes to those that wait. False: it is not to wait, and nothing was done.
    ///
    /// Errors: those of operations that waited already.
    pub(super) fn do_later(&self, kind: Kind, spot: &Spot, origin: &Buffer) -> Result<bool> {
        if origin.len() > SMALL || self.has_edges(spot.rank) {
            return Ok(false);
        }
        let polls = self.access.polls.load(Ordering::Relaxed);
        let mut lists = self.access.waiting(self.size()).lists.lock();
        let list = lists[spot.rank].get_or_insert_default();
        let is_first = list.polls != polls.wrapping_add(1);
        list.polls = polls.wrapping_add(1);
        if list.pieces.is_empty() {
            // One alone is no sooner done for waiting.
            if is_first {
                return Ok(false);
            }
            list.kind = kind;
            self.access.unsettled.fetch_add(2, Ordering::Relaxed);
        }
        if list.kind == kind && list.add(spot.address, origin) {
            return Ok(true);
        }
        if let Err(error) = list.finish(self, spot.rank) {
            self.access.unsettled.fetch_sub(2, Ordering::Relaxed);
            return Err(error);
        }
        list.kind = kind;
        list.add(spot.address, origin);
        Ok(true)
    }

    /// Whether some of the target's memory is shared in place with its edges, where operations go one by one.
    fn has_edges(&self, rank: usize) -> bool {
        match &self.dynamic {
            Some(dynamic) => dynamic.seen(rank).has_edges,
            None => self.block.target(rank).place.has_edges(),
        }
    }

    /// Does the operations to a target that wait: before every other operation on private memory of that target.
    ///
    /// Errors: theirs.
    #[inline]
    pub(super) fn catch_up(&self, rank: usize) -> Result<()> {
        match self.access.unsettled.load(Ordering::Relaxed) >> 1 {
            0 => Ok(()),
            _ => self.finish_waiting(rank..rank + 1),
        }
    }

    /// As [`Window::catch_up`], to all targets.
    #[inline]
    pub(super) fn catch_up_all(&self) -> Result<()> {
        match self.access.unsettled.load(Ordering::Relaxed) >> 1 {
            0 => Ok(()),
            _ => self.finish_waiting(0..self.size()),
        }
    }

    /// Whether operations wait.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        self.access.unsettled.load(Ordering::Relaxed) >> 1 != 0
    }

    #[cold]
    #[inline(never)]
    fn finish_waiting(&self, targets: std::ops::Range<usize>) -> Result<()> {
        let mut outcome = Ok(());
        let mut lists = self.access.waiting(self.size()).lists.lock();
        for rank in targets {
            if let Some(list) = &mut lists[rank]
                && !list.pieces.is_empty()
            {
                self.access.unsettled.fetch_sub(2, Ordering::Relaxed);
                outcome = outcome.and(list.finish(self, rank));
            }
        }
        outcome
    }

    /// Waits until all operations of this process to a target are complete there.
    ///
    /// Errors: those of operations that waited, and those that a target on another host has found; MPI_ERR_OTHER if it is lost.
    #[inline]
    pub(super) fn settle(&self, target: usize, function: &'static str) -> Result<()> {
        match self.access.unsettled.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => self.settle_now(target, function),
        }
    }

    /// As [`Window::settle`], to all targets.
    #[inline]
    pub(super) fn settle_all(&self, function: &'static str) -> Result<()> {
        match self.access.unsettled.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => self.settle_all_now(function),
        }
    }

    #[cold]
    fn settle_now(&self, target: usize, function: &'static str) -> Result<()> {
        let done = self.catch_up(target);
        done.and(self.settle_far(target, function))
    }

    #[cold]
    fn settle_all_now(&self, function: &'static str) -> Result<()> {
        let done = self.catch_up_all();
        done.and(self.settle_all_far(function))
    }
}
