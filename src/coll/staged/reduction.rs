//! Staged reductions, in the order of the ranks.
//!
//! How: every rank reduces all of it, the rank that comes last does so for all, each rank a part for all (`parts.rs`), or whichever rank runs
//! takes shares of it; to one rank: it reduces all of it, or a tree does (`tree.rs`). Scans: `scan.rs`. Costs: docs/collectives.md.
//! Invariant: every element of a result is made by one rank, in the order of the ranks, so the bits do not depend on who does it.

use super::{Pieces, Step, Work, copy, elements};
use crate::coll::args::Operands;
use crate::coll::choose::plan::Staged;
use crate::coll::packed::scratch;
use crate::datatype::Buffer;
use crate::error::Result;
use crate::op::Second;
use crate::transport::Stores;
use crate::transport::collective::{Event, Place, RESULT_SLOTS, SHARED_ROUNDS};
use oxmpi_macros::both;
use smallvec::SmallVec;
use std::ops::Range;

/// What one rank reduces at a time: it stays in the first cache.
pub(super) const FIRST_CACHE: usize = 16 << 10;
/// Results of so many bytes are made without further ado.
const SMALL: usize = 1024;
/// Streams that are read at the same time: more of them hinder each other (benches/counts.md).
const GROUP: usize = 8;

/// This rank's operand and where the result goes: of both a part.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub own: &'a Buffer,
    pub begin: usize,
    pub into: &'a Buffer,
    pub place: usize,
    pub past_caches: bool,
}

#[both]
impl Work<'_, BLOCK> {
    pub(super) async fn allreduce(&mut self, own: &Buffer, into: &Buffer, with: &Operands) -> Step {
        match self.plan.how {
            Staged::Tree => self.tree_reduce(own, into, with, None).await,
            Staged::Last => self.reduce_by_last(own, into, with).await,
            Staged::Shares => self.reduce_by_shares(own, with, (into, 0..own.len())).await,
            Staged::Parts => self.reduce_parts(own, with, (into, None)).await,
            _ => self.reduce_everywhere(own, into, with).await,
        }
    }

    pub(super) async fn reduce(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        root: usize,
    ) -> Step {
        match self.plan.how {
            Staged::Tree => self.tree_reduce(own, into, with, Some(root)).await,
            Staged::Parts => self.reduce_parts(own, with, (into, Some(root))).await,
            Staged::Shares => {
                let mine = if self.me == root { own.len() } else { 0 };
                self.reduce_by_shares(own, with, (into, 0..mine)).await
            }
            _ => self.reduce_at_root(own, into, with, root).await,
        }
    }

    /// Every rank reads all vectors.
    async fn reduce_everywhere(&mut self, own: &Buffer, into: &Buffer, with: &Operands) -> Step {
        let bytes = own.len();
        let piece = elements(with.datatype.size, self.plan.piece);
        let pieces = self.pieces(bytes, piece, self.plan.counted);
        let lay = |work: &mut Self, at: usize, data: &mut [u8]| {
            work.lay(own, pieces.range(at).start, data, data.len());
        };
        // What this rank publishes is read from where it was given, or, in place, ahead of what is not yet published.
        self.everybody(
            (pieces, bytes, self.plan.counted),
            |at| pieces.range(at).len(),
            lay,
            |work, at| work.take_vectors(own, into, with, &pieces, at),
        )
        .await
    }

    /// Reduces a piece of all vectors, which are published.
    #[inline]
    pub(super) fn take_vectors(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        pieces: &Pieces,
        at: usize,
    ) {
        let (ranks, me) = (self.ranks, self.me);
        let (round, range) = (pieces.round(at), pieces.range(at));
        for rank in (0..ranks).filter(|rank| *rank != me) {
            self.agree(rank, round, pieces.bytes);
        }
        let area = self.staging.area;
        // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
        let of = |rank: usize| unsafe { area.read(rank, round, range.len(), (0, range.len())) };
        let target = Target {
            own,
            begin: range.start,
            into,
            place: range.start,
            past_caches: false,
        };
        self.make(with, target, range.len(), of, None);
    }

    /// The last one to come works it out for all.
    async fn reduce_by_last(&mut self, own: &Buffer, into: &Buffer, with: &Operands) -> Step {
        let (ranks, bytes) = (self.ranks, own.len());
        let piece = elements(with.datatype.size, self.plan.piece);
        let pieces = self.pieces(bytes, piece, true);
        let ahead = self.ahead(&pieces);
        for step in 0..pieces.number + ahead {
            if step < pieces.number {
                let (round, range) = (pieces.round(step), pieces.range(step));
                let place = self.room(round, range.len()).await?;
                self.publish(round, (place, range.len()), bytes, |work, data| {
                    work.lay(own, range.start, data, range.len());
                });
                if self.arrive(round, true) {
                    self.make_results(round, range.len(), bytes, with);
                }
            }
            if let Some(at) = step.checked_sub(ahead) {
                let (round, range) = (pieces.round(at), pieces.range(at));
                self.await_all(round, true).await?;
                self.staging
                    .all_have_acknowledged(round.saturating_sub(1 + ahead as u64));
                self.await_published(ranks, round).await?;
                self.take_results(into, round, range, bytes);
                self.acknowledge(round);
            }
        }
        Ok(())
    }

    /// Takes a part of a result of `total` bytes, which is published.
    #[inline]
    pub(super) fn take_results(
        &mut self,
        into: &Buffer,
        round: u64,
        range: Range<usize>,
        total: usize,
    ) {
        self.agree(self.ranks, round, total);
        let whole = (0, range.len());
        // SAFETY: the results were waited for, and this rank acknowledges the round afterwards.
        let data = unsafe { self.area().read(self.ranks, round, range.len(), whole) };
        into.write(range.start, data);
    }

    /// Reduces a part of so many bytes of vectors of `total`, and publishes it in the name of all.
    pub(super) fn make_results(&mut self, round: u64, bytes: usize, total: usize, with: &Operands) {
        let (area, ranks, me) = (self.staging.area, self.ranks, self.me);
        let place = match bytes <= crate::transport::collective::INLINE {
            true => Place::INLINE,
            false => Place::in_ring(false, round as usize % RESULT_SLOTS * area.geometry.slot),
        };
        self.prefetch_others(round, true);
        for rank in (0..ranks).filter(|rank| *rank != me) {
            self.agree(rank, round, total);
        }
        // SAFETY: all have arrived, and this rank acknowledges the round afterwards.
        let of = |rank: usize| unsafe { area.read(rank, round, bytes, (0, bytes)) };
        let stores = self.stores_for(bytes);
        // SAFETY: the last rank to arrive alone writes the results, and the rounds that were there are acknowledged.
        let done = unsafe {
            area.fill(ranks, round, (place, bytes), |data| match stores {
                Stores::Ordinary => fold_all(with, ranks, of, data, None),
                Stores::NonTemporal => {
                    let mut result = scratch(bytes);
                    let done = fold_all(with, ranks, of, &mut result, None);
                    Buffer::of_copy(&mut result).read_nontemporal(0, data);
                    done
                }
            })
        };
        self.note(done);
        area.publish(ranks, round, place, total, stores);
        self.wake_others();
    }

    /// The root reduces all of it: nobody waits for anything but room.
    pub(super) async fn reduce_at_root(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        root: usize,
    ) -> Step {
        let (ranks, bytes) = (self.ranks, own.len());
        let piece = elements(with.datatype.size, self.plan.piece);
        let pieces = self.pieces(bytes, piece, false);
        let past_caches = self.writes_past_caches(bytes / ranks);
        for at in 0..pieces.number {
            let (round, range) = (pieces.round(at), pieces.range(at));
            if self.me == root {
                let others = (0..ranks).filter(|rank| *rank != root);
                self.await_rooted(root, others.clone(), round).await?;
                for rank in others {
                    self.agree(rank, round, bytes);
                }
                let (area, length) = (self.staging.area, range.len());
                // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                let of = |rank: usize| unsafe { area.read(rank, round, length, (0, length)) };
                let target = Target {
                    own,
                    begin: range.start,
                    into,
                    place: range.start,
                    past_caches,
                };
                self.make(with, target, length, of, None);
            } else {
                let place = self.room(round, range.len()).await?;
                self.publish(round, (place, range.len()), bytes, |work, data| {
                    work.lay(own, range.start, data, range.len());
                });
                self.wake_one(root);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    /// Whoever runs makes shares of the result, of which this rank gets a range.
    pub(super) async fn reduce_by_shares(
        &mut self,
        own: &Buffer,
        with: &Operands,
        (into, mine): (&Buffer, Range<usize>),
    ) -> Step {
        let (bytes, ranks) = (own.len(), self.ranks);
        let piece = elements(with.datatype.size, self.plan.piece);
        let longest = self.plan.rings.map_or(0, |rings| rings.share);
        let longest = elements(with.datatype.size, longest).max(1);
        let pieces = self.pieces(bytes, piece, true);
        let ahead = self.ahead(&pieces);
        let past_caches = self.writes_past_caches(mine.len());
        let number = self.staging.shared_rounds;
        self.staging.shared_rounds += pieces.number as u64;
        let mut made = scratch(longest.min(bytes));
        // In place what is overwritten lies before what is not yet laid out.
        for step in 0..pieces.number + ahead {
            if step < pieces.number {
                let (round, range) = (pieces.round(step), pieces.range(step));
                let place = self.room(round, range.len()).await?;
                self.publish(round, (place, range.len()), bytes, |work, data| {
                    work.lay(own, range.start, data, range.len());
                });
                let number = number + step as u64;
                self.staging.due[number as usize % SHARED_ROUNDS] +=
                    range.len().div_ceil(longest) as u64;
                let last = self.area().arrive(round - self.staging.uncounted);
                if last {
                    self.area().shares(number).open(round);
                    self.wake_others();
                }
            }
            let Some(at) = step.checked_sub(ahead) else {
                continue;
            };
            let (round, range) = (pieces.round(at), pieces.range(at));
            let number = number + at as u64;
            self.await_all(round, true).await?;
            self.staging
                .all_have_acknowledged(round.saturating_sub(1 + ahead as u64));
            let results = Place::in_ring(true, number as usize % SHARED_ROUNDS * self.results());
            self.make_shares(
                (round, number),
                range.len(),
                bytes,
                with,
                results,
                &mut made,
            );
            let (begin, end) = (mine.start.max(range.start), mine.end.min(range.end));
            if begin < end {
                let (area, due) = (
                    self.staging.area,
                    self.staging.due[number as usize % SHARED_ROUNDS],
                );
                // Whoever has no part in the result may have left already, even for MPI_Finalize: there is nobody to watch.
                self.wait(0..0, Event::Published, || area.shares(number).are_made(due))
                    .await?;
                // SAFETY: the results of the round are made, and this rank acknowledges it afterwards.
                let data =
                    unsafe { area.read_shares(ranks, results, (begin - range.start, end - begin)) };
                Self::take_in(past_caches, into, begin - mine.start, data);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    /// Bytes between the results of two rounds.
    fn results(&self) -> usize {
        self.area().geometry.large / SHARED_ROUNDS
    }

    /// Makes shares of a round as long as there are some that nobody has taken.
    fn make_shares(
        &mut self,
        (round, number): (u64, u64),
        bytes: usize,
        total: usize,
        with: &Operands,
        results: Place,
        scratch: &mut Box<[u8]>,
    ) {
        let (area, longest, ranks) = (self.staging.area, scratch.len().max(1), self.ranks);
        let shares = bytes.div_ceil(longest);
        let due = self.staging.due[number as usize % SHARED_ROUNDS];
        let mut first = true;
        while let Some(share) = area.shares(number).take(round, shares) {
            if std::mem::take(&mut first) {
                for rank in 0..ranks {
                    self.agree(rank, round, total);
                }
            }
            let begin = share * longest;
            let length = longest.min(bytes - begin);
            // SAFETY: all have arrived, and this rank acknowledges the round afterwards.
            let of = |rank: usize| unsafe { area.read(rank, round, bytes, (begin, length)) };
            let done = fold_all(with, ranks, of, &mut scratch[..length], None);
            self.note(done);
            let stores = self.stores;
            // SAFETY: a share is taken by one rank, and all have acknowledged the round that had this place before.
            unsafe {
                area.fill_share(ranks, results, (begin, length), |data| {
                    self.lay(&Buffer::of_copy(scratch), 0, data, usize::MAX);
                });
            }
            if area.finish_share(number, due, stores) {
                self.wake_others();
            }
        }
    }

    /// Makes part of a result of what the others have published and this rank's own operand. The result goes to a second place, too, if
    /// there is one.
    pub(super) fn make<'d>(
        &mut self,
        with: &Operands,
        target: Target<'_>,
        bytes: usize,
        of: impl Fn(usize) -> &'d [u8],
        second: Option<&mut [u8]>,
    ) {
        self.make_as((self.me, self.ranks), with, target, bytes, of, second);
    }

    /// As [`Self::make`], of so many operands, of which this rank's own is the `me`th.
    #[inline]
    pub(super) fn make_as<'d>(
        &mut self,
        (me, ranks): (usize, usize),
        with: &Operands,
        target: Target<'_>,
        bytes: usize,
        of: impl Fn(usize) -> &'d [u8],
        second: Option<&mut [u8]>,
    ) {
        let Target { own, into, .. } = target;
        if bytes <= SMALL && second.is_none() && into.is_apart_from(own) {
            let done = own.slice(target.begin, bytes).with_bytes(|mine| {
                let of = |rank: usize| if rank == me { mine } else { of(rank) };
                into.slice(target.place, bytes)
                    .fill_from(bytes, |made| fold_all(with, ranks, of, made, None))
            });
            return self.note(done);
        }
        self.make_in_blocks((me, ranks), with, target, bytes, of, second);
    }

    /// As [`Self::make_as`], of any length.
    fn make_in_blocks<'d>(
        &mut self,
        (me, ranks): (usize, usize),
        with: &Operands,
        target: Target<'_>,
        bytes: usize,
        of: impl Fn(usize) -> &'d [u8],
        mut second: Option<&mut [u8]>,
    ) {
        let Target { own, into, .. } = target;
        let block = elements(
            with.datatype.size,
            FIRST_CACHE.max(with.datatype.size as usize),
        )
        .max(1);
        let in_place = !target.past_caches && into.is_apart_from(own);
        let nontemporal = self.stores_for(bytes) == Stores::NonTemporal;
        let mut aside: SmallVec<[u8; 512]> =
            SmallVec::from_elem(0, if in_place { 0 } else { block.min(bytes) });
        let mut begin = 0;
        while begin < bytes {
            let length = block.min(bytes - begin);
            let fold = |made: &mut [u8], second: Option<Second>| {
                Self::with_packed((own, target.begin + begin), length, |mine| {
                    let of = |rank: usize| match rank == me {
                        true => mine,
                        false => &of(rank)[begin..begin + length],
                    };
                    fold_all(with, ranks, of, made, second)
                })
            };
            let second = second
                .as_mut()
                .map(|second| &mut second[begin..begin + length]);
            let result = if in_place {
                let second = second.map(|second| Second::new(second, nontemporal));
                let target = into.slice(target.place + begin, length);
                target.fill_from(length, |made| fold(made, second))
            } else {
                let result = fold(&mut aside[..length], None);
                Self::take_in(
                    target.past_caches,
                    into,
                    target.place + begin,
                    &aside[..length],
                );
                if let Some(second) = second {
                    copy(&aside[..length], second);
                }
                result
            };
            self.note(result);
            begin += length;
        }
    }
}

/// Reduces the operands of ranks 0 to `ranks` - 1, in their order.
pub(super) fn fold_all<'d>(
    with: &Operands,
    ranks: usize,
    of: impl Fn(usize) -> &'d [u8],
    made: &mut [u8],
    mut second: Option<Second>,
) -> Result<()> {
    let count = match with.datatype.size {
        8 => made.len() as u64 / 8,
        size => made.len() as u64 / size.max(1),
    };
    if ranks == 2 {
        let (left, last) = ([of(0)], of(1));
        return with
            .op
            .fold((&left, Some(last)), made, second, count, with.datatype);
    }
    let (mut end, mut last) = (ranks - 1, Some(of(ranks - 1)));
    loop {
        let begin = end.saturating_sub(GROUP);
        let mut left: [&[u8]; GROUP] = [&[]; GROUP];
        for (left, rank) in left.iter_mut().zip(begin..end) {
            *left = of(rank);
        }
        let second = second.take_if(|_| begin == 0);
        let group = &left[..end - begin];
        with.op
            .fold((group, last.take()), made, second, count, with.datatype)?;
        if begin == 0 {
            return Ok(());
        }
        end = begin;
    }
}
