//! Reductions at a board, all in the order of the ranks.

use super::{FEW, Step, Work};
use crate::coll::call::{Operands, blocks};
use crate::coll::packed::scratch;
use crate::datatype::{Buffer, nontemporal};
use std::ops::Range;

impl Work<'_> {
    /// Reduces what some ranks show, in their order: a part of it, into `right`. What this rank shows is read from `mine`, if
    /// that is given: the others hold the lines of its slot.
    pub(super) fn combine(
        &mut self,
        ranks: Range<usize>,
        round: u64,
        (shown, part): (usize, Range<usize>),
        mine: Option<Buffer>,
        with: &Operands,
        right: &mut [u8],
    ) {
        let (board, me, last) = (self.board, self.me, ranks.end - 1);
        let count = right.len() as u64 / with.datatype.size.max(1);
        // SAFETY: the caller has waited for the data of this round, and this rank passes it afterwards.
        let of = |rank: usize| &unsafe { board.read(rank, round, shown) }[part.clone()];
        match mine {
            Some(mine) if last == me => mine.read(0, right),
            _ => right.copy_from_slice(of(last)),
        }
        for rank in (ranks.start..last).rev() {
            let mut apply = |left: &[u8]| with.op.apply(left, right, count, with.datatype);
            let result = match mine {
                Some(mine) if rank == me => mine.with_bytes(apply),
                _ => apply(of(rank)),
            };
            self.note(result);
        }
    }

    /// Lets `work` make a part of a buffer in place, or beside it if it has holes.
    pub(super) fn make(
        &mut self,
        into: &Buffer,
        part: Range<usize>,
        make: impl FnOnce(&mut Self, &mut [u8]),
    ) {
        if into.contiguous().is_some() {
            let whole = into.slice(part.start, part.len());
            let done: std::result::Result<(), ()> = whole.fill_from(part.len(), |bytes| {
                make(self, bytes);
                Ok(())
            });
            debug_assert!(done.is_ok());
        } else {
            let mut bytes = scratch(part.len());
            make(self, &mut bytes);
            into.write(part.start, &bytes);
        }
    }

    /// Whole elements that fit into so many bytes.
    pub(super) fn elements(with: &Operands, bytes: usize) -> usize {
        let unit = (with.datatype.size as usize).max(1);
        bytes / unit * unit
    }

    pub(super) fn allreduce(&mut self, own: &Buffer, into: &Buffer, with: &Operands) -> Step {
        let (ranks, me, bytes) = (self.ranks, self.me, own.len());
        let apart = own.is_apart_from(into);
        let rounds = self.rounds(bytes, Self::elements(with, self.board.slot_bytes()));
        let show = |work: &mut Self, at, round| {
            let part = rounds.part(at, bytes);
            let length = part.len();
            let streams = work.streams(length);
            work.show(round, length, bytes, |data| {
                Self::lay(streams, own, part.start, data);
            })
        };
        // The last one to come works it out for all.
        let last = |work: &mut Self, at, round| {
            work.reduce_for_all(round, (rounds.part(at, bytes).len(), bytes), with);
        };
        self.everybody_and_last(rounds, None, show, last, |work, at, round| {
            let part = rounds.part(at, bytes);
            let length = part.len();
            if ranks <= FEW {
                for rank in (0..ranks).filter(|rank| *rank != me) {
                    work.agree(rank, round, bytes);
                }
                let mine = apart.then(|| own.slice(part.start, length));
                work.make(into, part, |work, right| {
                    work.combine(0..ranks, round, (length, 0..length), mine, with, right);
                });
            } else {
                work.await_rank(ranks, round)?;
                work.agree(ranks, round, bytes);
                // SAFETY: `await_rank` has seen the results, and this rank passes the round afterwards.
                into.write(part.start, unsafe { work.board.read(ranks, round, length) });
            }
            Ok(())
        })
    }

    /// A part of so many bytes of vectors of `total`.
    pub(super) fn reduce_for_all(
        &mut self,
        round: u64,
        (bytes, total): (usize, usize),
        with: &Operands,
    ) {
        let (board, ranks, me) = (self.board, self.ranks, self.me);
        let (streams, unit) = (self.streams(bytes), board.unit_of_result(round));
        let mut result = scratch(bytes);
        self.expect_others(round);
        for rank in (0..ranks).filter(|rank| *rank != me) {
            self.agree(rank, round, total);
        }
        self.combine(0..ranks, round, (bytes, 0..bytes), None, with, &mut result);
        let result = Buffer::of_copy(&mut result);
        // SAFETY: the last rank to arrive alone writes the results, and the rounds that were there are passed.
        unsafe {
            board.fill(ranks, round, (unit, bytes), |data| {
                Self::lay(streams, &result, 0, data);
            })
        };
        if streams {
            nontemporal::fence();
        }
        board.show(ranks, round, unit, total);
        self.wake_others();
    }

    pub(super) fn reduce(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        root: usize,
    ) -> Step {
        let (ranks, bytes) = (self.ranks, own.len());
        let rounds = self.rounds(bytes, Self::elements(with, self.board.slot_bytes()));
        let apart = self.me == root && own.is_apart_from(into);
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, bytes));
            let length = part.len();
            let streams = self.streams(length);
            // Nobody but the root reads what it shows, and it only in place.
            if !apart {
                self.show(round, length, bytes, |data| {
                    Self::lay(streams, own, part.start, data);
                })?;
            }
            if self.me == root {
                let others = (0..ranks).filter(|rank| *rank != root);
                self.await_rooted(root, others.clone(), round)?;
                for rank in others {
                    self.agree(rank, round, bytes);
                }
                let mine = apart.then(|| own.slice(part.start, length));
                self.make(into, part, |work, right| {
                    work.combine(0..ranks, round, (length, 0..length), mine, with, right);
                });
            } else {
                self.wake(root);
            }
            self.pass(round);
        }
        Ok(())
    }

    pub(super) fn reduce_scatter(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        counts: &[u64],
        with: &Operands,
    ) -> Step {
        let (ranks, me) = (self.ranks, self.me);
        let mut receivers = (0..ranks).filter(|rank| counts[*rank] > 0);
        if let (Some(only), None) = (receivers.next(), receivers.next())
            && own.len() <= Self::elements(with, self.board.slot_bytes())
        {
            return self.reduce(own, into, with, only);
        }
        let begins = blocks(counts, with.datatype);
        let size = |rank: usize| begins[rank + 1] - begins[rank];
        let longest = (0..ranks).map(size).max().unwrap_or(0);
        // Those who get something; they alone wait, and only their parts are shown.
        let receivers = (0..ranks).filter(|rank| size(*rank) > 0).count();
        let piece = Self::elements(with, self.board.slot_bytes() / receivers.max(1));
        let rounds = self.rounds(longest, piece);
        // In place the result lies where parts that are not yet shown may be.
        let mut aside = (rounds.number > 1).then(|| scratch(into.len()));
        let target = aside.as_mut().map_or(*into, Buffer::of_copy);
        let apart = own.is_apart_from(&target);
        let waits = size(me) > 0;
        let is_read = receivers > usize::from(waits) || !apart;
        let each = piece.min(longest);
        let shown = receivers * each;
        let show = |work: &mut Self, at, round| {
            if !is_read {
                return Ok(());
            }
            let streams = work.streams(shown);
            work.show(round, shown, own.len(), |data| {
                let receivers = (0..ranks).filter(|rank| size(*rank) > 0);
                for (place, rank) in data.chunks_mut(each).zip(receivers) {
                    let part = rounds.part(at, size(rank));
                    let place = &mut place[..part.len()];
                    Self::lay(streams, own, begins[rank] + part.start, place);
                }
            })
        };
        let before = (0..me).filter(|rank| size(*rank) > 0).count() * each;
        let waiting = |_| waits;
        let whom = (receivers < ranks).then_some(&waiting as &dyn Fn(usize) -> bool);
        self.everybody(rounds, whom, show, |work, at, round| {
            let part = rounds.part(at, size(me));
            let place = before..before + part.len();
            if !part.is_empty() {
                work.expect_others(round);
                let begin = begins[me] + part.start;
                let mine = apart.then(|| own.slice(begin, part.len()));
                work.make(&target, part, |work, right| {
                    work.combine(0..ranks, round, (shown, place), mine, with, right);
                });
            }
            Ok(())
        })?;
        if let Some(aside) = aside {
            into.write(0, &aside);
        }
        Ok(())
    }

    pub(super) fn scan(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        exclusive: bool,
    ) -> Step {
        let (bytes, me) = (own.len(), self.me);
        let rounds = self.rounds(bytes, Self::elements(with, self.board.slot_bytes()));
        let end = if exclusive { me } else { me + 1 };
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, bytes));
            let length = part.len();
            let streams = self.streams(length);
            self.show(round, length, bytes, |data| {
                Self::lay(streams, own, part.start, data);
            })?;
            self.wake_others();
            self.await_ranks(0..me, round)?;
            if end > 0 {
                self.make(into, part, |work, right| {
                    work.combine(0..end, round, (length, 0..length), None, with, right);
                });
            }
            self.pass(round);
        }
        Ok(())
    }
}
