//! Reductions at trays, in the order of the ranks.
//!
//! To all: whoever runs makes shares of the result, which all copy out; of few ranks each makes a part. To one rank: it makes all of
//! it, and the others leave when they have laid out their data. To each a part: each makes its own, of what the others have laid
//! out for it. Costs: docs/collectives.md.
//! Invariant: every element is made by one rank alone in the order of the ranks, so the bits do not depend on who does it.

use super::{Course, Made, Step, Work};
use crate::coll::call::Operands;
use crate::coll::packed::scratch;
use crate::datatype::{Buffer, nontemporal};
use crate::error::Result;
use crate::op::Second;
use crate::transport::collective::MOST_RANKS;
use crate::transport::collective::Trays;
use std::ops::Range;

/// What one rank reduces at a time, at most and at least: it stays in the first cache. A piece is so many shares.
const LONGEST_SHARE: usize = 16 << 10;
pub(super) const SHORTEST_SHARE: usize = 4 << 10;
/// The least where all ranks run side by side: each makes one.
const SHORTEST_BESIDE: usize = 1 << 10;
const SHARES: usize = 16;
/// Streams that are read at the same time: more of them hinder each other (benches/counts.md).
const GROUP: usize = 8;

/// This rank's operand and where the result goes: of both a part of so many bytes.
struct Own<'a> {
    own: &'a Buffer,
    begin: usize,
    into: &'a Buffer,
    place: usize,
    /// Whether the result is written past the caches.
    streams: bool,
}

/// A vector of which each rank reduces a part, in pieces that lie beside each other in each tray.
struct Shared<'a> {
    begins: &'a [usize],
    course: Course,
}

impl<'a> Shared<'a> {
    fn new(trays: &Trays, begins: &'a [usize], with: &Operands, made: Made) -> Self {
        let longest = begins.windows(2).map(|ends| ends[1] - ends[0]).max();
        let piece = Work::elements(with, trays.tray_bytes() / (begins.len() - 1));
        Shared {
            begins,
            course: Course::new(trays, longest.unwrap_or(0), piece, made),
        }
    }

    /// What of the vector a piece has for a rank.
    fn part(&self, rank: usize, at: usize) -> Range<usize> {
        let (begin, end) = (self.begins[rank], self.begins[rank + 1]);
        let range = self.course.range(at);
        (begin + range.start).min(end)..(begin + range.end).min(end)
    }

    /// Where that lies in a tray, and how long it is.
    fn tray(&self, rank: usize, at: usize) -> (usize, usize) {
        (self.course.place(rank, at), self.part(rank, at).len())
    }
}

impl Work<'_> {
    /// Reduces all vectors; this rank gets a range of the result.
    pub(super) fn reduce_by_shares(
        &mut self,
        trays: &mut Trays,
        own: &Buffer,
        with: &Operands,
        (into, mine): (&Buffer, Range<usize>),
    ) -> Step {
        let (me, ranks) = (self.me, self.ranks);
        let piece = Self::elements(with, trays.tray_bytes());
        let shortest = match self.crowded {
            true => SHORTEST_SHARE,
            false => SHORTEST_BESIDE,
        };
        let share = (own.len().min(piece) / SHARES).clamp(shortest, LONGEST_SHARE);
        let share = Self::elements(with, share);
        let streams = self.trays_stream(mine.len());
        let course = Course::new(trays, own.len(), piece, Made::Shares(share));
        let mut scratch = scratch(share);
        let lay_out = |work: &mut Self, trays: &Trays, at: usize| {
            let range = course.range(at);
            // SAFETY: this rank alone writes its own tray, and `begin` found that all have passed what was there.
            unsafe {
                trays.fill(me, course.round(at), (0, range.len()), |data| {
                    work.lay_out(own, range.start, data);
                })
            };
        };
        // In place what is overwritten lies before what is not yet laid out.
        self.at_each_piece(trays, &course, lay_out, |work, trays, at| {
            let (round, range) = (course.round(at), course.range(at));
            work.make_shares(trays, (&course, at), with, &mut scratch);
            let (begin, end) = (mine.start.max(range.start), mine.end.min(range.end));
            if begin < end {
                // Whoever has no part in the result may have left already, even for MPI_Finalize: there is nobody to watch.
                work.wait(0..0, || trays.is_made(round))?;
                // SAFETY: the results of the round are made, and this rank passes it afterwards.
                let made = unsafe { trays.read(ranks, round, (begin - range.start, end - begin)) };
                Self::take_in(streams, into, begin - mine.start, made);
            }
            Ok(())
        })
    }

    /// Makes shares of a piece as long as there are some that nobody has taken.
    fn make_shares(
        &mut self,
        trays: &Trays,
        (course, at): (&Course, usize),
        with: &Operands,
        scratch: &mut Box<[u8]>,
    ) {
        let longest = scratch.len();
        let (round, bytes, shares) = (course.round(at), course.range(at).len(), course.shares(at));
        while let Some(share) = trays.take_share(round, shares) {
            let begin = share * longest;
            let length = longest.min(bytes - begin);
            // SAFETY: the round is full, and this rank passes it afterwards.
            let of = |rank: usize| unsafe { trays.read(rank, round, (begin, length)) };
            let result = self.fold_all(with, of, &mut scratch[..length], None);
            self.note(result);
            let streams = self.is_far();
            // SAFETY: a share is taken by one rank, and `begin` found that all have passed what was there.
            unsafe {
                trays.fill(self.ranks, round, (begin, length), |data| {
                    Self::lay(streams, &Buffer::of_copy(scratch), 0, data);
                })
            };
            nontemporal::fence();
            if trays.finish_share(round) {
                self.wake_others();
            }
        }
    }

    /// The root makes all of it: nobody waits for anything but an empty tray.
    pub(super) fn reduce_at_root(
        &mut self,
        trays: &mut Trays,
        own: &Buffer,
        with: &Operands,
        (into, root): (&Buffer, usize),
    ) -> Step {
        let me = self.me;
        let piece = Self::elements(with, trays.tray_bytes());
        let course = Course::new(trays, own.len(), piece, Made::Nothing);
        let streams = self.trays_stream(own.len() / self.ranks);
        for at in 0..course.number {
            let range = course.range(at);
            let round = self.begin(trays, &course, at)?;
            if me == root {
                for rank in (0..self.ranks).filter(|rank| *rank != me) {
                    self.wait(rank..rank + 1, || trays.has_filled(rank, round))?;
                }
                let place = Own {
                    own,
                    begin: range.start,
                    into,
                    place: range.start,
                    streams,
                };
                // SAFETY: all have filled their trays, and this rank passes the round afterwards.
                let of = |rank: usize| unsafe { trays.read(rank, round, (0, range.len())) };
                self.reduce_trays(with, place, of, range.len(), None);
                trays.count_all(round);
            } else {
                // SAFETY: this rank alone writes its own tray, and `begin` found that all have passed what was there.
                unsafe {
                    trays.fill(me, round, (0, range.len()), |data| {
                        self.lay_out(own, range.start, data);
                    })
                };
                nontemporal::fence();
                trays.tell_filled(me, round);
                self.wake(root);
            }
            self.pass_trays(trays, round);
        }
        Ok(())
    }

    /// Each rank makes its part of the result; `begins` are those of all parts.
    pub(super) fn reduce_own_parts(
        &mut self,
        trays: &mut Trays,
        own: &Buffer,
        with: &Operands,
        (into, begins): (&Buffer, &[usize]),
    ) -> Step {
        let me = self.me;
        let parts = Shared::new(trays, begins, with, Made::Nothing);
        let streams = self.trays_stream(into.len());
        // In place the result of a piece lies before what is not yet laid out, and not behind this rank's own operand.
        let lay_out = |work: &mut Self, trays: &Trays, at: usize| {
            work.lay_out_parts(trays, at, own, &parts);
        };
        self.at_each_piece(trays, &parts.course, lay_out, |work, trays, at| {
            let part = parts.part(me, at);
            let target = Own {
                own,
                begin: part.start,
                into,
                place: part.start - begins[me],
                streams,
            };
            let (round, tray) = (parts.course.round(at), parts.tray(me, at));
            // SAFETY: the round is full, and this rank passes it afterwards.
            let of = |rank: usize| unsafe { trays.read(rank, round, tray) };
            work.reduce_trays(with, target, of, part.len(), None);
            Ok(())
        })
    }

    /// Each rank makes a part of the result for all: lays out, makes, takes.
    pub(super) fn reduce_parts_for_all(
        &mut self,
        trays: &mut Trays,
        own: &Buffer,
        with: &Operands,
        into: &Buffer,
    ) -> Step {
        let (me, ranks) = (self.me, self.ranks);
        let size = (with.datatype.size as usize).max(1);
        let count = own.len() / size;
        let begins: Vec<usize> = (0..=ranks)
            .map(|rank| rank * count / ranks * size)
            .collect();
        let parts = Shared::new(trays, &begins, with, Made::Parts(ranks));
        let course = &parts.course;
        let streams = self.trays_stream(into.len());
        for step in 0..course.number + 2 {
            if let Some(at) = step.checked_sub(2) {
                let round = course.round(at);
                self.wait(0..ranks, || trays.is_made(round))?;
                for distance in 1..ranks {
                    let rank = (me + distance) % ranks;
                    // SAFETY: the results of the round are made, and this rank passes it afterwards.
                    let made = unsafe { trays.read(rank, round, parts.tray(rank, at)) };
                    Self::take_in(streams, into, parts.part(rank, at).start, made);
                }
                self.pass_trays(trays, round);
            }
            if step < course.number {
                self.lay_out_piece(trays, course, step, |work, trays, at| {
                    work.lay_out_parts(trays, at, own, &parts);
                })?;
            }
            if let Some(at) = step.checked_sub(1).filter(|at| *at < course.number) {
                let round = course.round(at);
                self.wait(0..ranks, || trays.is_full(round))?;
                let part = parts.part(me, at);
                let target = Own {
                    own,
                    begin: part.start,
                    into,
                    place: part.start,
                    streams,
                };
                let tray = parts.tray(me, at);
                // SAFETY: the round is full, and this rank passes it afterwards.
                let of = |rank: usize| unsafe { trays.read(rank, round, tray) };
                // Where its own operand would be if it were laid out.
                // SAFETY: the part of its own operand, which no rank reads before this rank has finished its share.
                unsafe {
                    trays.fill(me, round, tray, |made| {
                        self.reduce_trays(with, target, of, part.len(), Some(made));
                    })
                };
                nontemporal::fence();
                if trays.finish_share(round) {
                    self.wake_others();
                }
            }
        }
        Ok(())
    }

    /// Lays out a piece of what each other rank reduces.
    fn lay_out_parts(&mut self, trays: &Trays, at: usize, own: &Buffer, parts: &Shared<'_>) {
        let (me, ranks) = (self.me, self.ranks);
        for distance in 1..ranks {
            let rank = (me + distance) % ranks;
            let round = parts.course.round(at);
            // SAFETY: this rank alone writes its own tray, and `begin` found that all have passed what was there.
            unsafe {
                trays.fill(me, round, parts.tray(rank, at), |data| {
                    self.lay_out(own, parts.part(rank, at).start, data);
                })
            };
        }
    }

    /// Reduces what the trays of the others have of a piece and this rank's own operand. The result goes to a second place, too, if
    /// there is one.
    fn reduce_trays<'d>(
        &mut self,
        with: &Operands,
        place: Own<'_>,
        of: impl Fn(usize) -> &'d [u8],
        bytes: usize,
        mut second: Option<&mut [u8]>,
    ) {
        let (me, block) = (self.me, Self::elements(with, LONGEST_SHARE));
        let Own { own, into, .. } = place;
        let in_place = !place.streams && into.is_apart_from(own);
        let to_memory = self.is_far();
        let mut scratch = scratch(if in_place { 0 } else { block.min(bytes) });
        for at in (0..bytes).step_by(block) {
            let length = block.min(bytes - at);
            let fold = |made: &mut [u8], second: Option<Second>| {
                Self::with_packed((own, place.begin + at), length, |mine| {
                    let of = |rank: usize| match rank == me {
                        true => mine,
                        false => &of(rank)[at..at + length],
                    };
                    self.fold_all(with, of, made, second)
                })
            };
            let second = second.as_mut().map(|second| &mut second[at..at + length]);
            let result = if in_place {
                let second = second.map(|second| Second::new(second, to_memory));
                let target = into.slice(place.place + at, length);
                target.fill_from(length, |made| fold(made, second))
            } else {
                let result = fold(&mut scratch[..length], None);
                Self::take_in(place.streams, into, place.place + at, &scratch[..length]);
                if let Some(second) = second {
                    Self::lay(to_memory, &Buffer::of_copy(&mut scratch), 0, second);
                }
                result
            };
            self.note(result);
        }
    }

    /// Reduces the operands of all ranks, in their order.
    fn fold_all<'d>(
        &self,
        with: &Operands,
        of: impl Fn(usize) -> &'d [u8],
        made: &mut [u8],
        mut second: Option<Second>,
    ) -> Result<()> {
        let count = made.len() as u64 / with.datatype.size.max(1);
        let mut left: [&[u8]; MOST_RANKS] = [&[]; MOST_RANKS];
        for (rank, left) in left[..self.ranks - 1].iter_mut().enumerate() {
            *left = of(rank);
        }
        let (left, mut last) = (&left[..self.ranks - 1], Some(of(self.ranks - 1)));
        let groups = left.len().div_ceil(GROUP);
        for (at, group) in left.rchunks(GROUP).enumerate() {
            let second = second.take_if(|_| at + 1 == groups);
            with.op
                .fold((group, last.take()), made, second, count, with.datatype)?;
        }
        Ok(())
    }
}
