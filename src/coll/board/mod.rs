//! Blocking operations of one node's ranks at a board (`transport/shm/board.rs`): each rank shows its data in the shared segment
//! and takes what it needs, without messages. Data larger than a slot goes in pieces, a round each, so that ranks copy at the
//! same time.
//!
//! Invariant: whether an operation goes this way, and in how many rounds, depends on what all ranks know alike. A rank fills what
//! all have passed, reads what is shown, and passes a round when it reads nothing of it any more.
#![allow(unsafe_code)]

mod around;
mod direct;
mod movement;
mod passage;
mod reduction;
mod trays;
mod waiting;

use super::call::CollArgs;
use super::choose;
use super::context::{CollContext, block_on};
use super::packed::scratch;
use crate::comm::Comm;
use crate::datatype::{Buffer, Parts, nontemporal};
use crate::engine::wait::Reason;
use crate::engine::{enter, liveness};
use crate::error::{Error, Result};
use crate::node;
use crate::node::distance::CacheDistance;
#[cfg(test)]
use crate::transport::collective::Stage;
use crate::transport::collective::{Board, DEPTH, MOST_RANKS};
use crate::transport::collective::{Earned, Place, Seat};
use around::Around;
use std::ops::Range;

/// Blocking operations of a communicator before it gets a board: most have few.
const PATIENCE: u32 = 4;
/// Large ones before its ranks get what those go through.
const PATIENCE_OF_LARGE: u32 = 3;
/// Rounds that are shown ahead of the one that is read.
const AHEAD: usize = 2;
/// Slots of an oversubscribed node are written past the caches from so many bytes on where the cores share none: the rank that
/// read what a slot held before may have run on another core, whose caches would have to give back each line.
const STREAMED: usize = 2048;
/// From so many bytes on that all ranks get together, results are written past the caches where such stores are cheap: they would
/// not stay there, and each line would be fetched first (benches/counts.md).
const STREAMED_RESULTS: usize = 2 << 20;

const _: () = assert!(AHEAD + 2 <= DEPTH);
/// Up to so many ranks each watches each; of more, all watch one counter.
const FEW: usize = 3;

/// Runs a blocking operation at the communicator's board. `None`: it is not for boards, and nothing was done.
pub fn run(comm: &Comm, function: &'static str, call: &CollArgs) -> Option<Result<()>> {
    if comm.size() < 2 || comm.size() as usize > MOST_RANKS || comm.is_inter() {
        return None;
    }
    let mut place = comm.place.lock();
    let seat = match &mut *place {
        Place::Given(seat) => seat,
        Place::Refused => return None,
        Place::Lost(world) => return Some(Err(error_of_loss(*world))),
        Place::Counting(count) => {
            *count += 1;
            if *count < PATIENCE {
                return None;
            }
            *place = take_place(comm, function);
            match &mut *place {
                Place::Given(seat) => seat,
                Place::Lost(world) => return Some(Err(error_of_loss(*world))),
                _ => return None,
            }
        }
    };
    let reason = Reason {
        context: comm.receive_context() + crate::comm::COLLECTIVE,
        ..Reason::of(function)
    };
    let crowded = node::is_oversubscribed();
    let (board, done) = (
        seat.board,
        at_seat(seat, Around::Comm(comm), crowded, reason, call),
    );
    // It goes by messages, for which those do not come who have given up at the board.
    let done = done.and_then(
        |done| match done.is_none().then(|| board.lost()).flatten() {
            Some(world) => Err(Lost(world)),
            None => Ok(done),
        },
    );
    match done {
        Ok(done) => done,
        Err(Lost(world)) => {
            *place = Place::Lost(world);
            Some(Err(error_of_loss(world)))
        }
    }
}

/// A rank that takes part is lost, so nothing more is done at this board.
#[cold]
fn error_of_loss(world: u32) -> Error {
    liveness::error(&enter(), world)
}

#[inline(always)]
fn at_seat(
    seat: &mut Seat,
    around: Around<'_>,
    crowded: bool,
    reason: Reason,
    call: &CollArgs,
) -> Step<Option<Result<()>>> {
    let mut work = Work {
        ranks: seat.ranks(),
        me: seat.me,
        board: seat.board,
        crowded,
        seat,
        around,
        reason,
        failure: None,
    };
    let done = work.run(call)?;
    Ok(done.then(|| work.failure.take().map_or(Ok(()), Err)))
}

/// An operation on a stage, for tests: the ranks take turns.
#[cfg(test)]
pub fn rehearse(
    seat: &mut Seat,
    (stage, crowded): (&Stage, bool),
    function: &'static str,
    call: &CollArgs,
) -> Option<Result<()>> {
    let reason = Reason::of(function);
    match at_seat(seat, Around::Stage(stage), crowded, reason, call) {
        Ok(done) => done,
        Err(Lost(rank)) => unreachable!("rank {rank} of a stage is lost"),
    }
}

/// In place of where a board is: a rank on the way from rank 0 is lost.
const NO_WORD: u64 = u64::MAX;

/// Rank 0 makes a board and tells the others where.
#[cold]
fn take_place(comm: &Comm, function: &'static str) -> Place {
    let ranks = comm.size() as usize;
    // Passed on as it is where no word has come.
    let mut word = NO_WORD.to_ne_bytes().to_vec().into_boxed_slice();
    if comm.rank() == 0 {
        let wanted = choose::boards() && comm.nodes().is_none();
        let offset = wanted
            .then(|| enter().transport().node_memory().make_board(ranks))
            .flatten();
        word.copy_from_slice(&(offset.unwrap_or(0) as u64).to_ne_bytes());
    }
    let lane = CollContext::new(comm, function);
    let told = block_on(super::bcast_on(&lane, Buffer::of_copy(&mut word), 0));
    let word = u64::from_ne_bytes(word[..].try_into().unwrap_or_default());
    if told.is_err() || word == NO_WORD {
        // Some of the others may have got the message, and wait at the board.
        let engine = enter();
        let mut worlds = (0..comm.size()).map(|rank| comm.process(rank));
        let lost = worlds.find(|world| liveness::of(&engine, *world).is_some());
        return lost.map_or(Place::Refused, Place::Lost);
    }
    match enter()
        .transport()
        .node_memory()
        .board(word as usize, ranks)
    {
        Some(board) => Place::Given(Box::new(Seat::new(board, comm.rank() as usize))),
        None => Place::Refused,
    }
}

/// A rank of MPI_COMM_WORLD that the operation needs is lost: it ends at once, and this rank touches the board no more.
struct Lost(u32);

/// What all functions return that may wait.
type Step<T = ()> = std::result::Result<T, Lost>;

/// One operation under way.
struct Work<'a> {
    seat: &'a mut Seat,
    board: Board,
    me: usize,
    ranks: usize,
    crowded: bool,
    around: Around<'a>,
    reason: Reason,
    failure: Option<Error>,
}

/// The rounds of an operation: data in pieces.
#[derive(Clone, Copy)]
struct Rounds {
    first: u64,
    number: usize,
    piece: usize,
}

impl Rounds {
    /// The bytes of a buffer of so many that belong to a piece; none behind its end.
    fn part(&self, at: usize, bytes: usize) -> Range<usize> {
        (at * self.piece).min(bytes)..((at + 1) * self.piece).min(bytes)
    }

    fn round(&self, at: usize) -> u64 {
        self.first + at as u64
    }

    /// How many are shown ahead.
    fn ahead(&self) -> usize {
        AHEAD.min(self.number - 1)
    }
}

impl Work<'_> {
    /// False: not an operation for boards.
    fn run(&mut self, call: &CollArgs) -> Step<bool> {
        let slot = self.board.slot_bytes();
        if self.at_trays(call)? || self.directly(call)? {
            return Ok(true);
        }
        if !self.is_small(call) {
            return self.through_pipes(call);
        }
        match call {
            CollArgs::Barrier => self.barrier()?,
            CollArgs::Bcast { buffer, root } => self.bcast(buffer, *root as usize)?,
            CollArgs::Gather {
                own,
                parts,
                root,
                equal: true,
            } => self.gather(own.as_ref(), parts.as_ref(), *root as usize)?,
            CollArgs::Scatter {
                parts,
                into,
                root,
                equal: true,
            } => self.scatter(parts.as_ref(), into.as_ref(), *root as usize)?,
            CollArgs::Allgather { own, parts } => self.allgather(own.as_ref(), parts)?,
            CollArgs::Alltoall { out, into } if into.are_equal() => {
                self.alltoall(out.as_ref(), into)?
            }
            _ if choose::reproducible() => return Ok(false),
            CollArgs::Reduce {
                own,
                into,
                with,
                root,
            } if with.datatype.size as usize <= slot => {
                self.reduce(own, into, with, *root as usize)?;
            }
            CollArgs::Allreduce { own, into, with } if with.datatype.size as usize <= slot => {
                self.allreduce(own, into, with)?;
            }
            CollArgs::ReduceScatter {
                own,
                into,
                counts,
                with,
            } if with.datatype.size as usize * self.ranks <= slot => {
                self.reduce_scatter(own, into, counts, with)?;
            }
            CollArgs::Scan {
                own,
                into,
                with,
                exclusive,
            } if with.datatype.size as usize <= slot => self.scan(own, into, with, *exclusive)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the data is not too much.
    fn is_small(&mut self, call: &CollArgs) -> bool {
        let rooted = |part: &Option<Buffer>, parts: &Option<Parts>| match (parts, part) {
            (Some(parts), _) => parts.len(self.me),
            (None, Some(part)) => part.len(),
            (None, None) => 0,
        };
        let (bytes, is_reduction_or_broadcast) = match call {
            CollArgs::Barrier => (0, false),
            CollArgs::Bcast { buffer, .. } => (buffer.len(), self.ranks > 2),
            CollArgs::Gather { own, parts, .. } => (rooted(own, parts), false),
            CollArgs::Scatter { into, parts, .. } => (rooted(into, parts), false),
            CollArgs::Allgather { parts, .. } => {
                let longest = (0..self.ranks).map(|rank| parts.len(rank)).max();
                (longest.unwrap_or(0), self.crowded)
            }
            CollArgs::Alltoall { into, .. } => (into.len(0), false),
            CollArgs::Reduce { own, .. }
            | CollArgs::Allreduce { own, .. }
            | CollArgs::ReduceScatter { own, .. }
            | CollArgs::Scan { own, .. } => (own.len(), true),
            CollArgs::Neighbors { .. } => return false,
        };
        let most = match self.has_pipes(call) {
            true => choose::MOST_BESIDE_PIPES,
            false => choose::most_at_board(self.crowded, is_reduction_or_broadcast),
        };
        if self.crowded && (STREAMED..=most).contains(&bytes) {
            self.look_around();
        }
        bytes <= most
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    /// Rounds for pieces of at most `piece` bytes of `bytes` in all.
    fn rounds(&mut self, bytes: usize, piece: usize) -> Rounds {
        let number = bytes.div_ceil(piece);
        let first = self.seat.round + 1;
        self.seat.round += number as u64;
        self.seat.others += number as u64;
        Rounds {
            first,
            number,
            piece,
        }
    }

    /// Fills and shows this rank's slot, when all have passed what it held.
    #[inline]
    fn show(
        &mut self,
        round: u64,
        bytes: usize,
        total: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Step {
        let (unit, enough) = self.seat.room(round, bytes);
        if self.seat.least < enough {
            self.await_passing(enough)?;
        }
        // SAFETY: its own slot, and all have passed what it held.
        unsafe { self.board.fill(self.me, round, (unit, bytes), fill) };
        if self.streams(bytes) {
            nontemporal::fence();
        }
        self.board.show(self.me, round, unit, total);
        Ok(())
    }

    /// Whether so many bytes of a slot are to be written past the caches.
    fn streams(&self, bytes: usize) -> bool {
        self.crowded && bytes >= STREAMED && self.is_far()
    }

    /// Whether some of the ranks share no cache with this one; the same until the operation is over.
    fn is_far(&self) -> bool {
        self.seat.distance.last() == CacheDistance::Far
    }

    /// Asks for that when it is time, for an operation on much data.
    fn look_around(&mut self) {
        let (around, ranks) = (self.around, self.ranks);
        self.seat.distance.look(|| around.farthest(ranks));
    }

    /// Unpacks a part of a result.
    fn take_in(streams: bool, into: &Buffer, at: usize, data: &[u8]) {
        match streams {
            true => into.write_past_caches(at, data),
            false => into.write(at, data),
        }
    }

    /// Lets `look` read a part of a buffer, where it lies if it has no holes.
    fn with_packed<T>(
        (own, begin): (&Buffer, usize),
        bytes: usize,
        look: impl FnOnce(&[u8]) -> T,
    ) -> T {
        if own.contiguous().is_some() {
            return own.slice(begin, bytes).with_bytes(look);
        }
        let mut packed = scratch(bytes);
        own.read(begin, &mut packed);
        look(&packed)
    }

    /// Packs a part of a buffer into a slot.
    fn lay(streams: bool, buffer: &Buffer, at: usize, data: &mut [u8]) {
        match streams {
            true => buffer.read_nontemporal(at, data),
            false => buffer.read(at, data),
        }
    }

    /// Whether rounds to which all come are counted. To be asked once of them.
    fn counts(&mut self, rounds: &Rounds) -> bool {
        let counts = self.ranks > FEW;
        if counts {
            self.seat.others -= rounds.number as u64;
        }
        counts
    }

    /// Tells the others that this rank has shown its data of a round. True for the last one to come to a counted round.
    #[inline]
    fn arrive(&mut self, round: u64, counted: bool) -> bool {
        if !counted {
            self.wake_others();
            return false;
        }
        let number = round - self.seat.others;
        let last = self.board.arrive(number) == self.board.all_arrived(number);
        if last {
            self.wake_others();
        }
        last
    }

    /// All have shown a round, so they have passed those that they were not ahead of.
    #[inline]
    fn all_have_shown(&mut self, round: u64, ahead: usize) {
        let passed = round.saturating_sub(1 + ahead as u64);
        self.seat.least = passed.max(self.seat.least);
        for seen in &mut self.seat.seen {
            *seen = passed.max(*seen);
        }
    }

    /// Shows all pieces, some ahead, and takes them round by round, when all have shown them; or if it is said for `whom` to
    /// wait, those.
    fn everybody(
        &mut self,
        rounds: Rounds,
        whom: Option<&dyn Fn(usize) -> bool>,
        show: impl FnMut(&mut Self, usize, u64) -> Step,
        take: impl FnMut(&mut Self, usize, u64) -> Step,
    ) -> Step {
        self.everybody_and_last(rounds, whom, show, |_, _, _| {}, take)
    }

    /// As [`Self::everybody`]; the last one to come to a round that is counted does what there is for it.
    fn everybody_and_last(
        &mut self,
        rounds: Rounds,
        whom: Option<&dyn Fn(usize) -> bool>,
        mut show: impl FnMut(&mut Self, usize, u64) -> Step,
        mut last: impl FnMut(&mut Self, usize, u64),
        mut take: impl FnMut(&mut Self, usize, u64) -> Step,
    ) -> Step {
        if rounds.number == 0 {
            return Ok(());
        }
        let counted = whom.is_none() && self.counts(&rounds);
        let ahead = rounds.ahead();
        for at in 0..rounds.number + ahead {
            if at < rounds.number {
                let round = rounds.round(at);
                show(self, at, round)?;
                if self.arrive(round, counted) {
                    last(self, at, round);
                }
            }
            if at >= ahead {
                let round = rounds.round(at - ahead);
                if counted {
                    self.await_arrivals(round)?;
                } else {
                    let all = |rank: &usize| *rank != self.me && whom.is_none_or(|is| is(*rank));
                    self.await_ranks((0..self.ranks).filter(all), round)?;
                }
                if whom.is_none() {
                    self.all_have_shown(round, ahead);
                }
                take(self, at - ahead, round)?;
                self.pass(round);
            }
        }
        Ok(())
    }

    /// What the ranks have for large operations, out of the seat, if they have it by now: rank 0 makes it, and tells the
    /// others in a round.
    fn earned<T>(
        &mut self,
        of: impl Fn(&mut Seat) -> &mut Earned<T>,
        make: impl FnOnce(Around<'_>, &Board),
        open: impl FnOnce(Around<'_>, &Board, usize) -> Option<T>,
    ) -> Step<Option<Box<T>>> {
        Ok(match std::mem::replace(of(self.seat), Earned::Refused) {
            Earned::Refused | Earned::Lost(_) => None,
            Earned::Given(theirs) => Some(theirs),
            Earned::Counting(count) if count + 1 < PATIENCE_OF_LARGE => {
                *of(self.seat) = Earned::Counting(count + 1);
                None
            }
            Earned::Counting(_) => {
                let round = self.rounds(1, 1).round(0);
                if self.me == 0 {
                    make(self.around, &self.board);
                    self.show(round, 0, 0, |_| {})?;
                    self.wake_others();
                } else {
                    self.await_rank(0, round)?;
                }
                self.pass(round);
                open(self.around, &self.board, self.me).map(Box::new)
            }
        })
    }

    fn barrier(&mut self) -> Step {
        if self.ranks <= FEW {
            let rounds = self.rounds(1, 1);
            let show = |work: &mut Self, _, round| work.show(round, 0, 0, |_| {});
            return self.everybody(rounds, None, show, |_, _, _| Ok(()));
        }
        self.seat.barriers += self.ranks as u64;
        let (board, all) = (self.board, self.seat.barriers);
        if board.enter_barrier() == all {
            self.wake_others();
        } else {
            self.wait(0..self.ranks, || board.entered_barrier() >= all)?;
        }
        Ok(())
    }
}
