//! Staged MPI_Scan and MPI_Exscan, in the order of the ranks.
//!
//! How: each rank reads the vectors of all before it, or, of long vectors, the result of the one before it, to which it adds its own (a chain, in
//! pieces, so that many ranks work at a time). Of n vectors the first way reads n²/2, the second one n.
//! Invariant: as in [`super::reduction`].

use super::reduction::{FIRST_CACHE, Target, fold_all};
use super::{Pieces, Step, Work, elements};
use crate::coll::args::Operands;
use crate::coll::choose::plan::Staged;
use crate::coll::packed::scratch;
use crate::datatype::Buffer;
use crate::transport::Stores;
use oxmpi_macros::both;

#[both]
impl Work<'_, BLOCK> {
    pub(super) async fn scan(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        exclusive: bool,
    ) -> Step {
        match self.plan.how {
            Staged::Chain => self.scan_in_chain(own, into, with, exclusive).await,
            _ => self.scan_directly(own, into, with, exclusive).await,
        }
    }

    /// Each rank reads the vectors of those before it.
    async fn scan_directly(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        exclusive: bool,
    ) -> Step {
        let (bytes, me) = (own.len(), self.me);
        let piece = elements(with.datatype.size, self.plan.piece);
        let pieces = self.pieces(bytes, piece, false);
        let end = if exclusive { me } else { me + 1 };
        for at in 0..pieces.number {
            let (round, range) = (pieces.round(at), pieces.range(at));
            let length = range.len();
            let place = self.room(round, length).await?;
            self.publish(round, (place, length), bytes, |work, data| {
                work.lay(own, range.start, data, length);
            });
            self.wake_others();
            self.await_ranks(0..me, round).await?;
            let area = self.staging.area;
            for rank in 0..me {
                self.agree(rank, round, bytes);
            }
            if end > 0 {
                // SAFETY: the data was waited for or is this rank's own, and this rank acknowledges the round afterwards.
                let of = |rank: usize| unsafe { area.read(rank, round, length, (0, length)) };
                let fold = |made: &mut [u8]| fold_all(with, end, of, made, None);
                let done = match into.contiguous() {
                    _ if end == 1 => {
                        into.write(range.start, of(0));
                        Ok(())
                    }
                    Some(_) => into.slice(range.start, length).fill_from(length, fold),
                    None => {
                        let mut made = scratch(length);
                        let done = fold(&mut made);
                        into.write(range.start, &made);
                        done
                    }
                };
                self.note(done);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    /// Each rank takes the result of the one before it, and publishes that with its own vector in it for the next one.
    async fn scan_in_chain(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        exclusive: bool,
    ) -> Step {
        let (bytes, me) = (own.len(), self.me);
        let (is_first, is_last) = (me == 0, me + 1 == self.ranks);
        let piece = elements(with.datatype.size, self.plan.piece);
        let pieces = self.pieces(bytes, piece, false);
        for at in 0..pieces.number {
            let (round, length) = (pieces.round(at), pieces.range(at).len());
            if !is_first {
                self.await_ranks(me - 1..me, round).await?;
                self.agree(me - 1, round, bytes);
            }
            if is_last {
                self.link((own, into, with), (&pieces, at), exclusive, None);
            } else {
                let place = self.room(round, length).await?;
                self.publish(round, (place, length), bytes, |work, data| {
                    work.link((own, into, with), (&pieces, at), exclusive, Some(data));
                });
                self.wake_one(me + 1);
            }
            self.acknowledge(round);
        }
        Ok(())
    }

    /// Makes this rank's piece of a chain: its result, and what the next rank gets.
    fn link(
        &mut self,
        (own, into, with): (&Buffer, &Buffer, &Operands),
        (pieces, at): (&Pieces, usize),
        exclusive: bool,
        next: Option<&mut [u8]>,
    ) {
        let (round, range) = (pieces.round(at), pieces.range(at));
        let (begin, length) = (range.start, range.len());
        let Some(before) = self.me.checked_sub(1) else {
            if let Some(data) = next {
                self.lay(own, begin, data, length);
            }
            if !exclusive && !own.is_at(into) {
                Self::with_packed((own, begin), length, |mine| into.write(begin, mine));
            }
            return;
        };
        let area = self.staging.area;
        // SAFETY: the data was waited for, and this rank acknowledges the round afterwards.
        let before = unsafe { area.read(before, round, length, (0, length)) };
        if !exclusive {
            let target = Target {
                own,
                begin,
                into,
                place: begin,
                past_caches: false,
            };
            return self.make_as((1, 2), with, target, length, |_| before, next);
        }
        if let Some(data) = next {
            self.add(with, before, (own, begin), data);
        }
        into.write(begin, before);
    }

    /// Fills `data` with what was made before and a part of this rank's vector. What is to go past the caches is made in the first one.
    fn add(
        &mut self,
        with: &Operands,
        before: &[u8],
        (own, begin): (&Buffer, usize),
        data: &mut [u8],
    ) {
        let unit = with.datatype.size;
        let block = elements(unit, FIRST_CACHE.max(unit as usize)).max(1);
        let all = data.len();
        let in_place = self.stores_for(all) == Stores::Ordinary;
        let mut aside = scratch(if in_place { 0 } else { block.min(all) });
        for (number, data) in data.chunks_mut(block).enumerate() {
            let (at, length) = (number * block, data.len());
            let before = &before[at..at + length];
            let made = match in_place {
                true => &mut *data,
                false => &mut aside[..length],
            };
            let done = Self::with_packed((own, begin + at), length, |mine| {
                let of = |rank: usize| if rank == 0 { before } else { mine };
                fold_all(with, 2, of, made, None)
            });
            self.note(done);
            if !in_place {
                Buffer::of_copy(&mut aside).read_nontemporal(0, data);
            }
        }
    }
}
