//! Staged reductions of which each rank makes a part: for itself, for all, or for a root.
//!
//! Invariant: as in [`super::reduction`]; a rank reads from each other one only what is for its own part.

use super::reduction::Target;
use super::{Pieces, Step, Work, after, elements, part_of, stride};
use crate::coll::args::{Operands, blocks, even_begin, longest_even};
use crate::coll::choose::plan::Staged;
use crate::coll::packed::scratch;
use crate::datatype::Buffer;
use oxmpi_macros::both;
use std::ops::Range;

/// A vector of which each rank reduces a part.
struct Parts<'a> {
    /// Where each rank's part begins, and the end.
    begins: &'a [usize],
    pieces: Pieces,
}

impl Parts<'_> {
    /// What of the vector a piece has for a rank.
    fn part(&self, rank: usize, at: usize) -> Range<usize> {
        let (begin, end) = (self.begins[rank], self.begins[rank + 1]);
        let range = self.pieces.range(at);
        (begin + range.start).min(end)..(begin + range.end).min(end)
    }

    /// Where in a publisher's piece that for a rank lies.
    fn place(&self, from: usize, to: usize, at: usize) -> (usize, usize) {
        let place = part_of(from, to, self.pieces.range(at).len());
        (place.start, self.part(to, at).len())
    }

    /// Bytes of a publisher's piece.
    fn published(&self, at: usize) -> usize {
        (self.begins.len() - 2) * stride(self.pieces.range(at).len())
    }
}

#[both]
impl Work<'_, BLOCK> {
    pub(super) async fn reduce_scatter(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        counts: &[u64],
        with: &Operands,
    ) -> Step {
        let (ranks, me) = (self.ranks, self.me);
        if self.plan.how != Staged::Shares {
            let mut receivers = (0..ranks).filter(|rank| counts[*rank] > 0);
            let (first, second) = (receivers.next(), receivers.next());
            if let (Some(only), None) = (first, second) {
                return self.reduce_at_root(own, into, with, only).await;
            }
        }
        let begins = blocks(counts, with.datatype);
        if let Staged::Shares = self.plan.how {
            return self
                .reduce_by_shares(own, with, (into, begins[me]..begins[me + 1]))
                .await;
        }
        let all_receive = counts.iter().all(|count| *count > 0);
        let longest = counts.iter().max().map_or(0, |count| *count as usize);
        let longest = longest * with.datatype.size as usize;
        let counted = self.plan.counted && all_receive;
        let parts = Parts {
            begins: &begins,
            pieces: self.pieces(
                longest,
                elements(with.datatype.size, self.plan.piece),
                counted,
            ),
        };
        let past_caches = self.writes_past_caches(into.len());
        let total = own.len();
        let pieces = parts.pieces;
        let ahead = self.ahead(&pieces);
        // In place the result of a piece lies before what is not yet laid out, and not behind this rank's own operand.
        for step in 0..pieces.number + ahead {
            if step < pieces.number {
                self.publish_parts(pieces.round(step), step, own, &parts)
                    .await?;
                self.arrive(pieces.round(step), counted);
            }
            let Some(at) = step.checked_sub(ahead) else {
                continue;
            };
            let (round, part) = (pieces.round(at), parts.part(me, at));
            if all_receive {
                self.await_all(round, counted).await?;
                self.staging
                    .all_have_acknowledged(round.saturating_sub(1 + ahead as u64));
            } else if counts[me] > 0 {
                self.await_ranks((0..ranks).filter(|rank| *rank != me), round)
                    .await?;
            }
            if !part.is_empty() {
                self.prefetch_others(round, counted);
                for rank in (0..ranks).filter(|rank| *rank != me) {
                    self.agree(rank, round, total);
                }
                let target = Target {
                    own,
                    begin: part.start,
                    into,
                    place: part.start - begins[me],
                    past_caches,
                };
                let area = self.staging.area;
                let published = parts.published(at);
                // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                let of = |rank: usize| unsafe {
                    area.read(rank, round, published, parts.place(rank, me, at))
                };
                self.make(with, target, part.len(), of, None);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    /// Each rank reduces a part, which all take, or the root: publishes the operands of the others' parts, makes its own, takes the
    /// others'. Two rounds a piece: operands, results.
    pub(super) async fn reduce_parts(
        &mut self,
        own: &Buffer,
        with: &Operands,
        (into, root): (&Buffer, Option<usize>),
    ) -> Step {
        let (me, ranks, total) = (self.me, self.ranks, own.len());
        let size = (with.datatype.size as usize).max(1);
        let count = total / size;
        let begins = (0..=ranks).map(|rank| even_begin(count, ranks, rank) * size);
        let begins: Vec<usize> = begins.collect();
        let longest = longest_even(count, ranks) * size;
        let counted = self.plan.counted;
        let piece = elements(with.datatype.size, self.plan.piece);
        let pieces = self.pieces(longest, piece, counted);
        self.rounds(pieces.number, counted);
        let first = pieces.first;
        let operands = |at: usize| first + 2 * at as u64;
        let results = |at: usize| first + 2 * at as u64 + 1;
        let parts = Parts {
            begins: &begins,
            pieces,
        };
        let past_caches = self.writes_past_caches(into.len());
        let takes = root.is_none_or(|root| root == me);
        // Whoever does not take the others' results has its own part of the vector in them only.
        let mut aside = match takes {
            true => Box::default(),
            false => scratch(parts.part(me, 0).len().max(1)),
        };
        for step in 0..pieces.number + 2 {
            if step < pieces.number {
                self.publish_parts(operands(step), step, own, &parts)
                    .await?;
                self.arrive(operands(step), counted);
            }
            if let Some(at) = step.checked_sub(1).filter(|at| *at < pieces.number) {
                let (round, part) = (operands(at), parts.part(me, at));
                self.await_all(round, counted).await?;
                for rank in (0..ranks).filter(|rank| *rank != me) {
                    self.agree(rank, round, total);
                }
                let area = self.staging.area;
                let published = parts.published(at);
                // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                let of = |rank: usize| unsafe {
                    area.read(rank, round, published, parts.place(rank, me, at))
                };
                let place = self.room(results(at), part.len()).await?;
                let aside = Buffer::of_copy(&mut aside);
                let target = Target {
                    own,
                    begin: part.start,
                    into: if takes { into } else { &aside },
                    place: if takes { part.start } else { 0 },
                    past_caches,
                };
                self.publish(results(at), (place, part.len()), total, |work, data| {
                    work.make(with, target, part.len(), of, Some(data));
                });
                self.arrive(results(at), counted);
                // Later operands are acknowledged with results. Three pieces of operands, not acknowledged, might not fit into the ring.
                if at == 0 && pieces.number > 2 {
                    self.acknowledge(operands(0));
                }
            }
            if let Some(at) = step.checked_sub(2) {
                let round = results(at);
                if takes {
                    self.await_all(round, counted).await?;
                    // Before that they took the results of two pieces before.
                    let known = if at < 2 { first - 1 } else { round - 3 };
                    self.staging.all_have_acknowledged(known);
                    for distance in 1..ranks {
                        let rank = after(me, distance, ranks);
                        let part = parts.part(rank, at);
                        if part.is_empty() {
                            continue;
                        }
                        // SAFETY: the results were waited for, and this rank acknowledges the round afterwards.
                        let data =
                            unsafe { self.area().read(rank, round, part.len(), (0, part.len())) };
                        Self::take_in(past_caches, into, part.start, data);
                    }
                }
                // The operands of the piece behind it are read, too.
                let next = if at + 1 < pieces.number { 1 } else { 0 };
                self.acknowledge(round + next);
            }
        }
        if !takes && counted && pieces.number > 1 {
            // The counter of the last results but one serves the second round from here, which the next operation may publish ahead. They
            // come right behind operands that were waited for.
            self.await_all(results(pieces.number - 2), counted).await?;
        }
        Ok(())
    }

    /// Publishes a piece of what each other rank reduces.
    async fn publish_parts(
        &mut self,
        round: u64,
        at: usize,
        own: &Buffer,
        parts: &Parts<'_>,
    ) -> Step {
        let (me, ranks, all) = (self.me, self.ranks, parts.published(at));
        let place = self.room(round, all).await?;
        self.publish(round, (place, all), own.len(), |work, data| {
            for distance in 1..ranks {
                let rank = after(me, distance, ranks);
                let (begin, bytes) = parts.place(me, rank, at);
                let part = &mut data[begin..begin + bytes];
                work.lay(own, parts.part(rank, at).start, part, all);
            }
        });
        Ok(())
    }
}
