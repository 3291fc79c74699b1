//! Staged operations that move data: a rank reads what others publish, and reduces nothing.

use super::{Step, Work, after, elements, part_of, stride};
use crate::coll::args::part_bytes;
use crate::coll::choose::plan::Staged;
use crate::coll::team::copy_fitting;
use crate::datatype::{Buffer, Parts};
use crate::error::{Class, fail};
use crate::transport::collective::Event;
use oxmpi_macros::both;

#[both]
impl Work<'_, BLOCK> {
    /// Whether so many bytes fit; otherwise it is an error.
    fn fits(&mut self, from: usize, total: usize, bytes: usize) {
        if total > bytes {
            self.env.note_difference();
            self.note(fail!(
                Class::Truncate,
                "{total} bytes came from {} where {bytes} fit",
                self.name_of(from)
            ));
        }
    }

    /// For errors; one rank makes the results in the name of all.
    #[cold]
    fn name_of(&self, publisher: usize) -> String {
        match publisher == self.ranks {
            true => "another rank".to_string(),
            false => format!("rank {publisher}"),
        }
    }

    /// Of what a rank publishes, or the one that makes the results, for an operation to which every rank comes with the same number of
    /// bytes: the number is on the line that is read anyway.
    #[inline]
    pub(super) fn agree(&mut self, from: usize, round: u64, bytes: usize) {
        let total = self.area().total_of(from, round);
        if total != bytes {
            self.disagree(from, total, bytes);
        }
    }

    #[cold]
    fn disagree(&mut self, from: usize, total: usize, bytes: usize) {
        if total > bytes {
            return self.fits(from, total, bytes);
        }
        self.env.note_difference();
        self.note(fail!(
            Class::Count,
            "{} has given {total} bytes, this rank wants {bytes}",
            self.name_of(from)
        ));
    }

    /// Copies this rank's own part, which must fit.
    fn copy_own(&mut self, own: &Buffer, into: &Buffer) {
        self.note(copy_fitting(own, into));
    }

    /// Comes to a barrier by a counter, and wakes the others if it is the last one. What the counter is when all have come.
    #[inline]
    pub(super) fn enter_counter(&mut self) -> u64 {
        self.staging.barriers += self.ranks as u64;
        let all = self.staging.barriers;
        if self.area().enter_barrier() == all {
            self.wake_others();
        }
        all
    }

    pub(super) async fn barrier(&mut self) -> Step {
        match self.plan.how {
            Staged::Tree => self.tree_barrier().await,
            Staged::Counter => {
                let (area, all) = (self.staging.area, self.enter_counter());
                if area.entered_barrier() >= all {
                    return Ok(());
                }
                self.wait(0..self.ranks, Event::Published, || {
                    area.entered_barrier() >= all
                })
                .await
            }
            _ => {
                let pieces = self.pieces(1, 1, false);
                self.everybody((pieces, 0, false), |_| 0, |_, _, _| {}, |_, _| {})
                    .await
            }
        }
    }

    pub(super) async fn bcast(&mut self, buffer: &Buffer, root: usize) -> Step {
        let bytes = buffer.len();
        if let Staged::Tree = self.plan.how {
            return self.tree_bcast(buffer, root).await;
        }
        let pieces = self.pieces(bytes, self.plan.piece, false);
        let past_caches = self.writes_past_caches(bytes);
        for at in 0..pieces.number {
            let (round, range) = (pieces.round(at), pieces.range(at));
            if self.me == root {
                let place = self.room(round, range.len()).await?;
                self.publish(round, (place, range.len()), bytes, |work, data| {
                    work.lay(buffer, range.start, data, range.len());
                });
                self.wake_others();
            } else {
                self.await_rooted(root, root..root + 1, round).await?;
                self.agree(root, round, bytes);
                // SAFETY: the root's data was waited for, and this rank acknowledges the round afterwards.
                let data = unsafe { self.area().read(root, round, range.len(), (0, range.len())) };
                Self::take_in(past_caches, buffer, range.start, data);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    pub(super) async fn gather(
        &mut self,
        own: Option<&Buffer>,
        parts: Option<&Parts>,
        root: usize,
    ) -> Step {
        let each = own.map_or_else(|| parts.map_or(0, |parts| parts.len(root)), Buffer::len);
        let pieces = self.pieces(each, self.plan.piece, false);
        if let (Some(own), Some(parts)) = (own, parts) {
            self.copy_own(own, &parts.of(root));
        }
        for at in 0..pieces.number {
            let (round, range) = (pieces.round(at), pieces.range(at));
            if let Some(parts) = parts {
                let ranks = self.ranks;
                let others = (0..ranks).filter(|rank| *rank != root);
                self.await_rooted(root, others.clone(), round).await?;
                for rank in others {
                    self.fits(rank, self.area().total_of(rank, round), each);
                    // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                    let data =
                        unsafe { self.area().read(rank, round, range.len(), (0, range.len())) };
                    Self::deposit(&parts.of(rank), range.start, data);
                }
            } else if let Some(own) = own {
                let place = self.room(round, range.len()).await?;
                self.publish(round, (place, range.len()), each, |work, data| {
                    work.lay(own, range.start, data, range.len());
                });
                self.wake_one(root);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    pub(super) async fn scatter(
        &mut self,
        parts: Option<&Parts>,
        into: Option<&Buffer>,
        root: usize,
    ) -> Step {
        let each = part_bytes(into.copied(), parts, root);
        let pieces = self.pieces(each, self.plan.piece, false);
        if let (Some(into), Some(parts)) = (into, parts) {
            self.copy_own(&parts.of(root), into);
        }
        for at in 0..pieces.number {
            let (round, range) = (pieces.round(at), pieces.range(at));
            let all = stride(range.len()) * (self.ranks - 1);
            if let Some(parts) = parts {
                let place = self.room(round, all).await?;
                self.publish(round, (place, all), each, |work, data| {
                    for rank in (0..work.ranks).filter(|rank| *rank != root) {
                        let place = &mut data[part_of(root, rank, range.len())];
                        work.lay(&parts.of(rank), range.start, place, all);
                    }
                });
                self.wake_others();
            } else if let Some(into) = into {
                self.await_rooted(root, root..root + 1, round).await?;
                self.fits(root, self.area().total_of(root, round), each);
                let place = part_of(root, self.me, range.len());
                // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                let data = unsafe {
                    self.area()
                        .read(root, round, all, (place.start, place.len()))
                };
                Self::deposit(into, range.start, data);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    /// Writes what fits of a part to `offset` of a buffer.
    fn deposit(into: &Buffer, offset: usize, data: &[u8]) {
        let offset = offset.min(into.len());
        let bytes = data.len().min(into.len() - offset);
        into.write(offset, &data[..bytes]);
    }

    pub(super) async fn allgather(&mut self, own: Option<&Buffer>, parts: &Parts) -> Step {
        let (ranks, me) = (self.ranks, self.me);
        let mine = parts.of(me);
        // Published straight from the send buffer, so that the own part is copied while the first piece is under way.
        let source = *own.unwrap_or(&mine);
        let (longest, least) = (0..ranks).fold((0, usize::MAX), |(longest, least), rank| {
            let bytes = parts.len(rank);
            (longest.max(bytes), least.min(bytes))
        });
        // Nobody waits for those who have nothing.
        let counted = self.plan.counted && least > 0;
        let pieces = self.pieces(longest, self.plan.piece, counted);
        let past_caches = self.writes_past_caches(longest * ranks);
        let ahead = self.ahead(&pieces);
        let mut own = own;
        for step in 0..pieces.number + ahead {
            if step < pieces.number {
                let (round, range) = (pieces.round(step), pieces.part(step, source.len()));
                let place = self.room(round, range.len()).await?;
                self.publish(round, (place, range.len()), source.len(), |work, data| {
                    work.lay(&source, range.start, data, range.len());
                });
                self.arrive(round, counted);
            }
            if let Some(own) = own.take() {
                self.copy_own(own, &mine);
            }
            let Some(at) = step.checked_sub(ahead) else {
                continue;
            };
            let round = pieces.round(at);
            if least > 0 {
                self.await_all(round, counted).await?;
                self.staging
                    .all_have_acknowledged(round.saturating_sub(1 + ahead as u64));
            } else {
                let gives = |rank: &usize| *rank != me && parts.len(*rank) > 0;
                self.await_ranks((0..ranks).filter(gives), round).await?;
            }
            self.prefetch_others(round, counted);
            for distance in 1..ranks {
                let rank = after(me, distance, ranks);
                let bytes = parts.len(rank);
                let range = pieces.part(at, bytes);
                if bytes > 0 {
                    self.fits(rank, self.area().total_of(rank, round), bytes);
                }
                if !range.is_empty() {
                    // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                    let data =
                        unsafe { self.area().read(rank, round, range.len(), (0, range.len())) };
                    Self::take_in(past_caches, &parts.of(rank), range.start, data);
                }
            }
            self.acknowledge(round);
        }
        if let Some(own) = own.take() {
            self.copy_own(own, &mine);
        }
        Ok(())
    }

    /// Each rank publishes a part for each other one.
    pub(super) async fn alltoall(&mut self, out: Option<&Parts>, into: &Parts) -> Step {
        let (ranks, me, each) = (self.ranks, self.me, into.len(0));
        let source = out.unwrap_or(into);
        let leaving = source.len(0);
        let counted = self.plan.counted;
        let pieces = self.pieces(each, elements(1, self.plan.piece), counted);
        let past_caches = self.writes_past_caches(each * ranks);
        let mut out = out;
        let length = |at: usize| stride(pieces.range(at).len()) * (ranks - 1);
        // In place what is overwritten lies before what is not yet laid out.
        let lay = |work: &mut Self, at: usize, data: &mut [u8]| {
            let (range, all) = (pieces.range(at), data.len());
            for distance in 1..ranks {
                let rank = after(me, distance, ranks);
                let (begin, end) = (range.start.min(leaving), range.end.min(leaving));
                let place = part_of(me, rank, range.len()).start;
                let place = &mut data[place..place + end - begin];
                work.lay(&source.of(rank), begin, place, all);
            }
        };
        let take = |work: &mut Self, at: usize| {
            let (round, range, all) = (pieces.round(at), pieces.range(at), length(at));
            if let Some(out) = out.take() {
                work.copy_own(&out.of(me), &into.of(me));
            }
            work.prefetch_others(round, counted);
            for distance in 1..ranks {
                let rank = after(me, distance, ranks);
                work.fits(rank, work.area().total_of(rank, round), each);
                let place = part_of(rank, me, range.len());
                // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
                let data = unsafe {
                    work.area()
                        .read(rank, round, all, (place.start, place.len()))
                };
                Self::take_in(past_caches, &into.of(rank), range.start, data);
            }
        };
        self.everybody((pieces, leaving, counted), length, lay, take)
            .await
    }
}
