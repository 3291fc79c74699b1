//! Small operations on private memory that wait at the origin, so that one call of the kernel, or of the helper thread, does many.
//!
//! A call costs 0.5 to 2 us, a piece in it 0.15 to 0.3 us, and neighbours are one piece. An operation that follows another one without a flush in
//! between waits, with a copy of its data, until the epoch or a flush completes it, until an operation of another kind goes to that target, or
//! until the list is full. Its result is written then: the standard lets nobody look at it before. Invariant: operations of a list are done in their
//! order, and before every later operation of this process to that target.

use super::access::{Pieces, Spot};
use super::apply::Work;
use super::locks::{self, Held, Locks, MOST_LOCKS};
use super::private::PrivateMemory;
use super::room::private_key;
use super::waiting::{Kind, List, SMALL, Small, Step};
use super::ways;
use super::window::Window;
use crate::error::Result;
use crate::op::Operation;
use crate::sync::Ordering;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// For each piece of a list whether it could be read.
type AreThere = SmallVec<[bool; 8]>;

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
            Kind::Get => self.get(&target),
            Kind::Accumulate(operation, basic) => {
                let work = Work::new(window, operation, basic);
                // SAFETY: as many elements on both sides, whose locks are held.
                let change = |elements: &mut [u8], data: &[u8]| unsafe {
                    let count = elements.len() / work.size();
                    work.change(elements.as_mut_ptr(), data.as_ptr(), count);
                };
                self.change(window, &target, &spot, change)
            }
            Kind::CompareAndSwap => self.change(window, &target, &spot, |elements, data| {
                let (compare, new) = data.split_at(elements.len());
                if elements == compare {
                    elements.copy_from_slice(new);
                }
            }),
        });
        self.clear();
        done
    }

    fn put(&self, target: &PrivateMemory) -> Result<()> {
        match target.put_by_target(&self.pieces, &self.data) {
            true => Ok(()),
            false => target.write_all(&self.pieces, &self.data),
        }
    }

    fn get(&self, target: &PrivateMemory) -> Result<()> {
        let mut elements = vec![0; self.bytes];
        let (are_there, outcome) = match target.get_by_target(&self.pieces, &mut elements) {
            true => (AreThere::new(), Ok(())),
            false => self.read(target, &mut elements),
        };
        for step in &self.steps {
            if outcome.is_ok() || self.is_there(&are_there, step) {
                step.give(&elements);
            }
        }
        outcome
    }

    /// Whether a step's bytes could be read.
    fn is_there(&self, are_there: &AreThere, step: &Step) -> bool {
        let mut end = 0;
        let piece = self.pieces.iter().position(|piece| {
            end += piece.bytes;
            step.elements.start < end
        });
        piece.is_none_or(|piece| are_there[piece])
    }

    /// The bytes of a piece, of those of all.
    fn range(&self, number: usize) -> Range<usize> {
        let begin = self.pieces[..number].iter().map(|it| it.bytes).sum();
        begin..begin + self.pieces[number].bytes
    }

    /// Reads all pieces, one by one where they cannot be read together.
    fn read(&self, target: &PrivateMemory, elements: &mut [u8]) -> (AreThere, Result<()>) {
        let mut are_there: AreThere = smallvec![true; self.pieces.len()];
        if target.read(&self.pieces, elements).is_ok() {
            return (are_there, Ok(()));
        }
        let mut outcome = Ok(());
        for (number, piece) in self.pieces.iter().enumerate() {
            let one = Pieces::from_slice(&[*piece]);
            let read = target.read(&one, &mut elements[self.range(number)]);
            are_there[number] = read.is_ok();
            outcome = outcome.and(read);
        }
        (are_there, outcome)
    }

    /// Does operations that change elements in their order, under the locks of all of them: with two calls of the kernel. `change` gets a step's
    /// elements and its data.
    fn change(
        &self,
        window: &Window,
        target: &PrivateMemory,
        spot: &Spot,
        change: impl Fn(&mut [u8], &[u8]),
    ) -> Result<()> {
        let locks = Locks::of(window)?;
        let mut numbers: SmallVec<[usize; MOST_LOCKS]> = SmallVec::new();
        for it in &self.pieces {
            let first = locks::piece(spot.key_of(it.address));
            let last = locks::piece(spot.key_of(it.address + it.bytes - 1));
            for number in (first..=last).map(locks::number) {
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
        }
        numbers.sort_unstable();
        let mut held: SmallVec<[Held; MOST_LOCKS]> = SmallVec::new();
        for number in numbers {
            held.push(locks.hold_number(number)?);
        }
        let mut elements = vec![0; self.bytes];
        let (are_there, outcome) = self.read(target, &mut elements);
        let before = match self.kind {
            Kind::CompareAndSwap => Some(elements.clone()),
            _ => None,
        };
        for step in &self.steps {
            if outcome.is_ok() || self.is_there(&are_there, step) {
                step.give(&elements);
            }
            let data = &self.data[step.data.clone()];
            change(&mut elements[step.elements.clone()], data);
        }
        if let Kind::Accumulate(Operation::NoOp, _) = self.kind {
            return outcome;
        }
        // A comparison in vain writes nothing.
        outcome.and(self.write(target, &elements, |number, range| {
            let is_as_before = before
                .as_ref()
                .map(|it| it[range.clone()] == elements[range]);
            are_there[number] && is_as_before != Some(true)
        }))
    }

    /// Writes the pieces that are wanted by their number and their bytes; one that cannot be written keeps no other from being so.
    fn write(
        &self,
        target: &PrivateMemory,
        elements: &[u8],
        wanted: impl Fn(usize, Range<usize>) -> bool,
    ) -> Result<()> {
        let (mut pieces, mut data) = (Pieces::new(), Vec::new());
        let mut at = 0;
        for (number, piece) in self.pieces.iter().enumerate() {
            let range = at..at + piece.bytes;
            at = range.end;
            if wanted(number, range.clone()) {
                pieces.push(*piece);
                data.extend_from_slice(&elements[range]);
            }
        }
        match pieces.is_empty() {
            true => Ok(()),
            false => target.write_all(&pieces, &data),
        }
    }
}

impl Step {
    /// Copies the elements that it finds to its result.
    fn give(&self, elements: &[u8]) {
        if self.result == 0 {
            return;
        }
        let found = &elements[self.elements.clone()];
        let to = std::ptr::with_exposed_provenance_mut::<u8>(self.result);
        // SAFETY: the operation's result, which is the library's until the operation is complete.
        unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), to, found.len()) };
    }
}

impl Window {
    /// Adds an operation to those that wait. False: it is not to wait, and nothing was done.
    ///
    /// Errors: those of operations that waited already.
    pub(super) fn do_later(&self, rank: usize, it: &Small) -> Result<bool> {
        if it.bytes > SMALL || self.has_edges(rank) {
            return Ok(false);
        }
        let polls = self.access.polls.load(Ordering::Relaxed);
        let mut lists = self.access.waiting(self.size()).lists.lock();
        let list = lists[rank].get_or_insert_default();
        let is_first = list.polls != polls.wrapping_add(1);
        list.polls = polls.wrapping_add(1);
        if list.pieces.is_empty() {
            // One alone is no sooner done for waiting.
            if is_first {
                return Ok(false);
            }
            list.kind = it.kind;
            self.access.unsettled.fetch_add(2, Ordering::Relaxed);
        }
        if list.kind == it.kind && list.add(it) {
            return Ok(true);
        }
        if let Err(error) = list.finish(self, rank) {
            self.access.unsettled.fetch_sub(2, Ordering::Release);
            return Err(error);
        }
        list.kind = it.kind;
        list.add(it);
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
        match self.access.unsettled.load(Ordering::Acquire) >> 1 {
            0 => Ok(()),
            _ => self.finish_waiting(rank..rank + 1),
        }
    }

    /// As [`Window::catch_up`], to all targets.
    #[inline]
    pub(super) fn catch_up_all(&self) -> Result<()> {
        match self.access.unsettled.load(Ordering::Acquire) >> 1 {
            0 => Ok(()),
            _ => self.finish_waiting(0..self.size()),
        }
    }

    /// Whether operations wait.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        self.access.unsettled.load(Ordering::Acquire) >> 1 != 0
    }

    #[cold]
    #[inline(never)]
    fn finish_waiting(&self, targets: Range<usize>) -> Result<()> {
        self.finish_lists(targets, |_| true)
    }

    fn finish_lists(&self, targets: Range<usize>, wanted: impl Fn(&List) -> bool) -> Result<()> {
        let mut outcome = Ok(());
        let mut lists = self.access.waiting(self.size()).lists.lock();
        for rank in targets {
            if let Some(list) = &mut lists[rank]
                && !list.pieces.is_empty()
                && wanted(list)
            {
                outcome = outcome.and(list.finish(self, rank));
                // Behind it: another thread that finds no waiting operation takes its own for done.
                self.access.unsettled.fetch_sub(2, Ordering::Release);
            }
        }
        outcome
    }

    /// Waits until all operations to a target, or all targets, are complete here: what they wanted to know is in their results.
    ///
    /// Errors: as for [`Window::settle`].
    #[inline]
    pub(super) fn settle_here(&self, target: Option<usize>, function: &'static str) -> Result<()> {
        match self.access.unsettled.load(Ordering::Acquire) {
            0 => Ok(()),
            _ => self.settle_here_now(target, function),
        }
    }

    #[cold]
    fn settle_here_now(&self, target: Option<usize>, function: &'static str) -> Result<()> {
        let targets = target.map_or(0..self.size(), |target| target..target + 1);
        let done = match self.has_waiting() {
            true => self.finish_lists(targets, |list| list.has_results),
            false => Ok(()),
        };
        done.and(self.settle_far_here(target, function))
    }

    /// Waits until all operations of this process to a target are complete there.
    ///
    /// Errors: those of operations that waited, and those that a target on another host has found; MPI_ERR_OTHER if it is lost.
    #[inline]
    pub(super) fn settle(&self, target: usize, function: &'static str) -> Result<()> {
        match self.access.unsettled.load(Ordering::Acquire) {
            0 => Ok(()),
            _ => self.settle_now(target, function),
        }
    }

    /// As [`Window::settle`], to all targets.
    #[inline]
    pub(super) fn settle_all(&self, function: &'static str) -> Result<()> {
        match self.access.unsettled.load(Ordering::Acquire) {
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
