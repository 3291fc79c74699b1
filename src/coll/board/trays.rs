//! Large operations of ranks that share cores, or of 3 to 16 with a core each, at trays (`transport/shm/trays.rs`): piece by piece all lay out their data, whoever
//! runs makes shares of the result, in rank order, and all take what they need. One turn of each rank a piece, because each lays
//! out the next one before it takes; a piece of all ranks stays in the caches.
//!
//! Source: the arrangement of shared-memory collectives (Graham, Shipman 2008), with work that is taken by whoever runs.
//! Cost, with c cores: (pieces + 1) turns of each rank, and nb/c copied in; reductions: see `trays/reduction.rs`.
//! Invariant: what a rank lays out ahead is no part of what it has taken in before, also in place.

mod reduction;

use super::{Step, Work};
use crate::coll::call::{CollArgs, Operands, blocks};
use crate::coll::choose;
use crate::datatype::{Buffer, Parts, nontemporal};
use crate::op::Op;
use crate::transport::collective::{Earned, Service, Trays};
use std::ops::Range;

/// Pieces laid out before one is taken.
const AHEAD: usize = 1;
/// Where a piece for one rank begins in a tray: at a line, where stores past the caches begin.
const LINE: usize = 64;
/// More bytes than any cache holds: results are written past the caches wherever the cores are.
const BEYOND_ALL_CACHES: usize = 64 << 20;

/// An operation's rounds.
struct Course {
    first: u64,
    number: usize,
    piece: usize,
    /// Bytes of what is cut into pieces.
    bytes: usize,
    made: Made,
}

/// What is made of a piece for others.
enum Made {
    Nothing,
    /// Shares of at most so many bytes, by whoever runs.
    Shares(usize),
    /// A part by each of so many ranks.
    Parts(usize),
}

impl Course {
    fn new(trays: &Trays, bytes: usize, piece: usize, made: Made) -> Course {
        Course {
            first: trays.next(),
            number: bytes.div_ceil(piece),
            piece,
            bytes,
            made,
        }
    }

    fn range(&self, at: usize) -> Range<usize> {
        (at * self.piece).min(self.bytes)..((at + 1) * self.piece).min(self.bytes)
    }

    fn round(&self, at: usize) -> u64 {
        self.first + at as u64
    }

    /// Where a rank's part of a piece lies in a tray that has one for each.
    fn place(&self, rank: usize, at: usize) -> usize {
        rank * self.range(at).len().next_multiple_of(LINE)
    }

    fn shares(&self, at: usize) -> usize {
        match self.made {
            Made::Nothing => 0,
            Made::Shares(longest) => self.range(at).len().div_ceil(longest),
            Made::Parts(ranks) => ranks,
        }
    }
}

impl Work<'_> {
    /// False: not an operation for trays.
    pub(super) fn at_trays(&mut self, call: &CollArgs) -> Step<bool> {
        if !choose::has_trays(self.crowded, self.ranks) || !self.fits_trays(call) {
            return Ok(false);
        }
        let service = match call {
            CollArgs::Alltoall { .. } => Service::Exchange,
            CollArgs::Allreduce { .. } if self.ranks <= choose::MOST_RANKS_WITH_A_PART_EACH => {
                Service::Exchange
            }
            CollArgs::ReduceScatter { counts, .. } if self.each_has_its_share(counts) => {
                Service::Exchange
            }
            _ => Service::Parts,
        };
        let earned = self.earned(
            |seat| &mut seat.trays[service as usize],
            |around, board| around.make_trays(board, service),
            |around, board, _| around.trays(board, service),
        )?;
        let Some(mut trays) = earned else {
            return Ok(false);
        };
        self.look_around();
        self.serve(&mut trays, call)?;
        nontemporal::fence();
        self.seat.trays[service as usize] = Earned::Given(trays);
        Ok(true)
    }

    /// Whether the parts of a result are about equal, so that each rank may as well make its own.
    fn each_has_its_share(&self, counts: &[u64]) -> bool {
        let longest = counts.iter().max().copied().unwrap_or(0);
        self.ranks <= choose::MOST_RANKS_TO_EXCHANGE_AT_TRAYS
            && longest * self.ranks as u64 <= 2 * counts.iter().sum::<u64>()
    }

    fn fits_trays(&self, call: &CollArgs) -> bool {
        let least = choose::least_at_trays(self.crowded);
        let reduces = |own: &Buffer, with: &Operands| {
            own.len() >= least
                && with.datatype.size as usize <= reduction::SHORTEST_SHARE
                && !choose::reproducible()
        };
        match call {
            CollArgs::Bcast { buffer, .. } => buffer.len() >= least,
            CollArgs::Allgather { parts, .. } => {
                let longest = (0..self.ranks).map(|rank| parts.len(rank)).max();
                longest.unwrap_or(0) >= choose::LEAST_TO_GATHER_AT_TRAYS
            }
            CollArgs::Alltoall { out, into } => {
                let equal = into.are_equal() && out.as_ref().is_none_or(Parts::are_equal);
                equal
                    && into.len(0) >= choose::LEAST_TO_EXCHANGE_AT_TRAYS
                    && self.ranks <= choose::MOST_RANKS_TO_EXCHANGE_AT_TRAYS
            }
            CollArgs::Allreduce { own, with, .. }
            | CollArgs::Reduce { own, with, .. }
            | CollArgs::ReduceScatter { own, with, .. } => reduces(own, with),
            _ => false,
        }
    }

    fn serve(&mut self, trays: &mut Trays, call: &CollArgs) -> Step {
        let me = self.me;
        match call {
            CollArgs::Bcast { buffer, root } => self.bcast_at_trays(trays, buffer, *root as usize),
            CollArgs::Allgather { own, parts } => {
                self.allgather_at_trays(trays, own.as_ref(), parts)
            }
            CollArgs::Alltoall { out, into } => self.alltoall_at_trays(trays, out.as_ref(), into),
            CollArgs::Allreduce { own, into, with } => match trays.service() {
                Service::Exchange => self.reduce_parts_for_all(trays, own, with, into),
                Service::Parts => self.reduce_by_shares(trays, own, with, (into, 0..own.len())),
            },
            CollArgs::Reduce {
                own,
                into,
                with,
                root,
            } => match with.op {
                Op::Predefined(_) => self.reduce_at_root(trays, own, with, (into, *root as usize)),
                Op::User(_) => {
                    let mine = if me == *root as usize { own.len() } else { 0 };
                    self.reduce_by_shares(trays, own, with, (into, 0..mine))
                }
            },
            CollArgs::ReduceScatter {
                own,
                into,
                counts,
                with,
            } => {
                let begins = blocks(counts, with.datatype);
                match trays.service() {
                    Service::Exchange => self.reduce_own_parts(trays, own, with, (into, &begins)),
                    Service::Parts => {
                        self.reduce_by_shares(trays, own, with, (into, begins[me]..begins[me + 1]))
                    }
                }
            }
            _ => unreachable!("not for trays"),
        }
    }

    /// Makes this rank wait until the next round's trays may be filled.
    fn begin(&self, trays: &mut Trays, course: &Course, at: usize) -> Step<u64> {
        let round = trays.begin(course.shares(at));
        debug_assert_eq!(round, course.round(at));
        self.wait(0..self.ranks, || trays.has_room(round))?;
        Ok(round)
    }

    /// Packs a part of a buffer into a tray.
    fn lay_out(&mut self, buffer: &Buffer, at: usize, data: &mut [u8]) {
        Self::lay(self.is_far(), buffer, at, data);
    }

    /// Whether a result of so many bytes, which every rank gets, is written past the caches.
    fn trays_stream(&self, bytes: usize) -> bool {
        let all = bytes.saturating_mul(self.ranks);
        all >= BEYOND_ALL_CACHES || self.is_far() && all >= super::STREAMED_RESULTS
    }

    fn pass_trays(&self, trays: &Trays, round: u64) {
        if trays.pass(round) {
            self.wake_others();
        }
    }

    /// Lays out a piece, as all ranks do, when there is room for it.
    fn lay_out_piece(
        &mut self,
        trays: &mut Trays,
        course: &Course,
        at: usize,
        lay_out: impl FnOnce(&mut Self, &Trays, usize),
    ) -> Step {
        let round = self.begin(trays, course, at)?;
        lay_out(self, trays, at);
        nontemporal::fence();
        if trays.arrive(round) {
            self.wake_others();
        }
        Ok(())
    }

    /// Lays out all pieces, one ahead, and takes them round by round.
    fn at_each_piece(
        &mut self,
        trays: &mut Trays,
        course: &Course,
        mut lay_out: impl FnMut(&mut Self, &Trays, usize),
        mut take: impl FnMut(&mut Self, &Trays, usize) -> Step,
    ) -> Step {
        for step in 0..course.number + AHEAD {
            if step < course.number {
                self.lay_out_piece(trays, course, step, &mut lay_out)?;
            }
            if step >= AHEAD {
                let round = course.round(step - AHEAD);
                self.wait(0..self.ranks, || trays.is_full(round))?;
                take(self, trays, step - AHEAD)?;
                self.pass_trays(trays, round);
            }
        }
        Ok(())
    }

    fn bcast_at_trays(&mut self, trays: &mut Trays, buffer: &Buffer, root: usize) -> Step {
        let (me, bytes) = (self.me, buffer.len());
        let course = Course::new(trays, bytes, trays.whole_bytes(), Made::Nothing);
        let streams = self.trays_stream(bytes);
        for at in 0..course.number {
            let range = course.range(at);
            if me == root {
                let round = self.begin(trays, &course, at)?;
                // SAFETY: the root alone writes in this operation, and `begin` found that all have passed what was there.
                unsafe {
                    trays.fill(0, round, (0, range.len()), |data| {
                        self.lay_out(buffer, range.start, data);
                    })
                };
                nontemporal::fence();
                trays.publish_alone(round, bytes);
                self.wake_others();
            } else {
                let round = trays.begin(0);
                self.wait(root..root + 1, || trays.is_full(round))?;
                self.agrees(root, trays.total(round), bytes);
                // SAFETY: the round is full, and this rank passes it afterwards.
                let data = unsafe { trays.read(0, round, (0, range.len())) };
                Self::take_in(streams, buffer, range.start, data);
            }
            self.pass_trays(trays, course.round(at));
        }
        Ok(())
    }

    fn allgather_at_trays(
        &mut self,
        trays: &mut Trays,
        own: Option<&Buffer>,
        parts: &Parts,
    ) -> Step {
        let (ranks, me) = (self.ranks, self.me);
        let mine = parts.of(me);
        if let Some(own) = own {
            self.copy(own, &mine);
        }
        let longest = (0..ranks).map(|rank| parts.len(rank)).max().unwrap_or(0);
        let course = Course::new(trays, longest, trays.tray_bytes(), Made::Nothing);
        let streams = self.trays_stream(ranks * longest);
        let part = |at: usize, bytes: usize| {
            let range = course.range(at);
            range.start.min(bytes)..range.end.min(bytes)
        };
        let lay_out = |work: &mut Self, trays: &Trays, at: usize| {
            let range = part(at, mine.len());
            // SAFETY: this rank alone writes its own tray, and `begin` found that all have passed what was there.
            unsafe {
                trays.fill(me, course.round(at), (0, range.len()), |data| {
                    work.lay_out(&mine, range.start, data);
                })
            };
        };
        self.at_each_piece(trays, &course, lay_out, |_, trays, at| {
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                let range = part(at, parts.len(rank));
                // SAFETY: the round is full, and this rank passes it afterwards.
                let data = unsafe { trays.read(rank, course.round(at), (0, range.len())) };
                Self::take_in(streams, &parts.of(rank), range.start, data);
            }
            Ok(())
        })
    }

    /// Each rank's tray has a piece for each.
    fn alltoall_at_trays(&mut self, trays: &mut Trays, out: Option<&Parts>, into: &Parts) -> Step {
        let (ranks, me, each) = (self.ranks, self.me, into.len(0));
        if let Some(out) = out {
            self.copy(&out.of(me), &into.of(me));
        }
        let source = out.unwrap_or(into);
        let course = Course::new(trays, each, trays.tray_bytes() / ranks, Made::Nothing);
        let streams = self.trays_stream(ranks * each);
        // In place what is overwritten lies before what is not yet laid out.
        let lay_out = |work: &mut Self, trays: &Trays, at: usize| {
            let range = course.range(at);
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                let bytes = source.len(rank);
                let (begin, end) = (range.start.min(bytes), range.end.min(bytes));
                let tray = (course.place(rank, at), end - begin);
                // SAFETY: this rank alone writes its own tray, and `begin` found that all have passed what was there.
                unsafe {
                    trays.fill(me, course.round(at), tray, |data| {
                        work.lay_out(&source.of(rank), begin, data);
                    })
                };
            }
        };
        self.at_each_piece(trays, &course, lay_out, |_, trays, at| {
            let range = course.range(at);
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                // SAFETY: the round is full, and this rank passes it afterwards.
                let data = unsafe {
                    trays.read(rank, course.round(at), (course.place(me, at), range.len()))
                };
                Self::take_in(streams, &into.of(rank), range.start, data);
            }
            Ok(())
        })
    }
}
