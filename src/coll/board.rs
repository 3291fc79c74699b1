//! Blocking operations of one node's ranks at a board (`transport/shm/board.rs`): each rank shows its data in the shared segment
//! and takes what it needs, without messages. Data larger than a slot goes in pieces, a round each, so that ranks copy at the
//! same time.
//!
//! Invariant: whether an operation goes this way, and in how many rounds, depends on what all ranks know alike.

use super::call::{Call, Operands, blocks};
use super::choose;
use super::lane::{Lane, now};
use super::packed::room;
use super::team::{Team, copy_own};
use crate::comm::Comm;
use crate::datatype::{Buffer, Parts};
use crate::engine::wait::{Reason, Watch, until_at};
use crate::engine::{enter, enter_at};
use crate::error::{Class, Error, Result, fail};
use crate::transport::shm::board::{Board, DEPTH, MOST_RANKS, Place, Seat};
use std::ops::Range;

/// Blocking operations of a communicator before it gets a board: most have few.
const PATIENCE: u32 = 4;
/// Rounds that are shown ahead of the one that is read.
const AHEAD: usize = 2;
/// Looks at a flag before the engine makes progress in between.
const LOOKS: u32 = 100;

const _: () = assert!(AHEAD < DEPTH);
/// Up to so many ranks each watches each; of more, all watch one counter.
const FEW: usize = 3;

/// Runs a blocking operation at the communicator's board. `None`: it is not for boards, and nothing was done.
pub fn run(comm: &Comm, function: &'static str, call: &Call) -> Option<Result<()>> {
    if comm.size() < 2 || comm.size() as usize > MOST_RANKS || comm.is_inter() {
        return None;
    }
    let mut place = comm.place.lock();
    let seat = match &mut *place {
        Place::Taken(seat) => seat,
        Place::Refused => return None,
        Place::Counting(count) => {
            *count += 1;
            if *count < PATIENCE {
                return None;
            }
            *place = take_place(comm, function);
            match &mut *place {
                Place::Taken(seat) => seat,
                _ => return None,
            }
        }
    };
    let mut work = Work {
        ranks: seat.ranks(),
        me: seat.me,
        board: seat.board,
        crowded: choose::crowded(seat.ranks()),
        seat,
        comm,
        reason: Reason {
            context: comm.receive_context() + crate::comm::COLLECTIVE,
            ..Reason::of(function)
        },
        failure: None,
    };
    work.run(call)
        .then(|| work.failure.take().map_or(Ok(()), Err))
}

/// Rank 0 makes a board and tells the others where.
#[cold]
fn take_place(comm: &Comm, function: &'static str) -> Place {
    let ranks = comm.size() as usize;
    let mut word = vec![0u8; 8].into_boxed_slice();
    if comm.rank() == 0 && choose::boards() && comm.nodes().is_none() {
        let offset = enter().endpoint().make_board(ranks).unwrap_or(0);
        word.copy_from_slice(&(offset as u64).to_ne_bytes());
    }
    let lane = Lane::new(comm, function);
    if now(super::bcast_on(&lane, Buffer::of_copy(&mut word), 0)).is_err() {
        return Place::Refused;
    }
    let offset = u64::from_ne_bytes(word[..].try_into().unwrap_or_default()) as usize;
    match enter().endpoint().board(offset, ranks) {
        Some(board) => Place::Taken(Box::new(Seat::new(board, comm.rank() as usize))),
        None => Place::Refused,
    }
}

/// One operation under way.
struct Work<'a> {
    seat: &'a mut Seat,
    board: Board,
    me: usize,
    ranks: usize,
    crowded: bool,
    comm: &'a Comm,
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
    fn run(&mut self, call: &Call) -> bool {
        let slot = self.board.slot_bytes();
        if !self.is_small(call) {
            return false;
        }
        match call {
            Call::Barrier => self.barrier(),
            Call::Bcast { buffer, root } => self.bcast(buffer, *root as usize),
            Call::Gather {
                own,
                parts,
                root,
                equal: true,
            } => self.gather(own.as_ref(), parts.as_ref(), *root as usize),
            Call::Scatter {
                parts,
                into,
                root,
                equal: true,
            } => self.scatter(parts.as_ref(), into.as_ref(), *root as usize),
            Call::Allgather { own, parts } => self.allgather(own.as_ref(), parts),
            Call::Alltoall { out, into } if into.are_equal() => self.alltoall(out.as_ref(), into),
            _ if choose::reproducible() => return false,
            Call::Reduce {
                own,
                into,
                with,
                root,
            } if with.datatype.size as usize <= slot => {
                self.reduce(own, into, with, *root as usize);
            }
            Call::Allreduce { own, into, with } if with.datatype.size as usize <= slot => {
                self.allreduce(own, into, with);
            }
            Call::ReduceScatter {
                own,
                into,
                counts,
                with,
            } if with.datatype.size as usize * self.ranks <= slot => {
                self.reduce_scatter(own, into, counts, with);
            }
            Call::Scan {
                own,
                into,
                with,
                exclusive,
            } if with.datatype.size as usize <= slot => self.scan(own, into, with, *exclusive),
            _ => return false,
        }
        true
    }

    /// Whether the data is not too much.
    fn is_small(&self, call: &Call) -> bool {
        let rooted = |part: &Option<Buffer>, parts: &Option<Parts>| match (parts, part) {
            (Some(parts), _) => parts.len(self.me),
            (None, Some(part)) => part.len(),
            (None, None) => 0,
        };
        let (bytes, is_reduction_or_broadcast) = match call {
            Call::Barrier => (0, false),
            Call::Bcast { buffer, .. } => (buffer.len(), self.ranks > 2),
            Call::Gather { own, parts, .. } => (rooted(own, parts), false),
            Call::Scatter { into, parts, .. } => (rooted(into, parts), false),
            Call::Allgather { parts, .. } => {
                let longest = (0..self.ranks).map(|rank| parts.len(rank)).max();
                (longest.unwrap_or(0), false)
            }
            Call::Alltoall { into, .. } => (into.len(0), false),
            Call::Reduce { own, .. }
            | Call::Allreduce { own, .. }
            | Call::ReduceScatter { own, .. }
            | Call::Scan { own, .. } => (own.len(), true),
            Call::Neighbors { .. } => return false,
        };
        bytes <= choose::most_at_board(self.crowded, is_reduction_or_broadcast)
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    /// Waits for some of the ranks.
    #[inline]
    fn wait(&self, whom: Range<usize>, holds: impl Fn() -> bool) {
        if !self.crowded {
            for _ in 0..LOOKS {
                if holds() {
                    return;
                }
                std::hint::spin_loop();
            }
        }
        let mut watch = Watch::default();
        let left = until_at(self.engine(), &self.reason, |engine| {
            if holds() {
                return Some(None);
            }
            let ranks = whom.clone().filter(|rank| *rank != self.me);
            let mut worlds = ranks.map(|rank| self.comm.world(rank as i32));
            worlds
                .find(|world| watch.is_in_vain(engine, *world))
                .map(Some)
        });
        if let Some(world) = left {
            self.end_the_job(world);
        }
    }

    /// A rank that the others need is in MPI_Finalize. They may be in different rounds of different operations, and the
    /// board cannot tell them; what they would do next is wait for each other.
    #[cold]
    fn end_the_job(&self, world: u32) -> ! {
        eprintln!(
            "oxmpi: rank {} of {}: {} failed\noxmpi:   MPI_ERR_OTHER: {}",
            self.me,
            self.comm.title(),
            self.reason.function,
            Watch::error(world)
        );
        crate::os::process::exit_now(Class::Other.value())
    }

    /// The engine whose bell the others ring.
    #[inline]
    fn engine(&self) -> u32 {
        self.comm.spread().of_library().1
    }

    #[inline]
    fn wake(&self, rank: usize) {
        enter_at(self.engine())
            .endpoint()
            .wake(self.comm.world(rank as i32) as usize);
    }

    #[inline]
    fn wake_others(&self) {
        let engine = enter_at(self.engine());
        for rank in (0..self.ranks).filter(|rank| *rank != self.me) {
            let world = self.comm.world(rank as i32) as usize;
            engine.endpoint().wake(world);
        }
    }

    /// Rounds for pieces of at most `piece` bytes of `bytes` in all.
    fn rounds(&mut self, bytes: usize, piece: usize) -> Rounds {
        let number = bytes.div_ceil(piece);
        let first = self.seat.round + 1;
        self.seat.round += number as u64;
        Rounds {
            first,
            number,
            piece,
        }
    }

    /// Fills and shows this rank's slot, when all have passed what it held.
    #[inline]
    fn show(&mut self, round: u64, bytes: usize, total: usize, fill: impl FnOnce(&mut [u8])) {
        let enough = round.saturating_sub(DEPTH as u64);
        for rank in 0..self.ranks {
            if self.seat.seen[rank] < enough && rank != self.me {
                let board = self.board;
                self.wait(rank..rank + 1, || board.passed(rank) >= enough);
                self.seat.seen[rank] = board.passed(rank);
            }
        }
        self.board.fill(self.me, round, bytes, fill);
        self.board.show(self.me, round, total);
    }

    /// Waits until a rank shows its data of a round.
    #[inline]
    fn await_rank(&mut self, rank: usize, round: u64) {
        let board = self.board;
        // The desk of results is nobody's: all have come, and one is working.
        let owner = rank..(rank + 1).min(self.ranks);
        self.wait(owner, || board.is_shown(rank, round));
    }

    /// Wakes all, because any of them may wait for a slot of its own, which it wants to write.
    #[inline]
    fn pass(&self, round: u64) {
        self.board.pass(self.me, round);
        self.wake_others();
    }

    /// Tells all that this rank has shown its data of a round in which everybody does.
    #[inline]
    fn arrive(&mut self, round: u64) -> bool {
        let expected = &mut self.seat.expected[round as usize % DEPTH];
        *expected += self.ranks as u64;
        if self.ranks <= FEW {
            self.wake_others();
            return false;
        }
        let last = self.board.arrive(round) == *expected;
        if last {
            self.wake_others();
        }
        last
    }

    /// Waits until all have arrived.
    #[inline]
    fn await_all(&mut self, round: u64, ahead: usize) {
        let (board, me) = (self.board, self.me);
        if self.ranks <= FEW {
            for rank in (0..self.ranks).filter(|rank| *rank != me) {
                self.await_rank(rank, round);
            }
        } else {
            // Nobody shows two rounds of one slot before all have passed the first, so theirs do not mix.
            let expected = self.seat.expected[round as usize % DEPTH];
            self.wait(0..self.ranks, || board.arrived(round) >= expected);
        }
        // Whoever shows a round has passed those that it was not ahead of.
        let passed = round.saturating_sub(1 + ahead as u64);
        for seen in &mut self.seat.seen {
            *seen = passed.max(*seen);
        }
    }

    /// Shows all pieces, some ahead, and takes them round by round.
    fn everybody(
        &mut self,
        rounds: Rounds,
        mut show: impl FnMut(&mut Self, usize, u64) -> bool,
        mut take: impl FnMut(&mut Self, usize, u64),
    ) {
        if rounds.number == 0 {
            return;
        }
        let ahead = rounds.ahead();
        for at in 0..rounds.number + ahead {
            if at < rounds.number {
                show(self, at, rounds.round(at));
            }
            if at >= ahead {
                let round = rounds.round(at - ahead);
                self.await_all(round, ahead);
                take(self, at - ahead, round);
                self.pass(round);
            }
        }
    }

    fn barrier(&mut self) {
        if self.ranks <= FEW {
            let rounds = self.rounds(1, 1);
            let show = |work: &mut Self, _, round| {
                work.show(round, 0, 0, |_| {});
                work.arrive(round)
            };
            return self.everybody(rounds, show, |_, _, _| {});
        }
        self.seat.barriers += self.ranks as u64;
        let (board, all) = (self.board, self.seat.barriers);
        if board.enter_barrier() == all {
            self.wake_others();
        } else {
            self.wait(0..self.ranks, || board.entered_barrier() >= all);
        }
    }

    /// Of the bytes that somebody shows for an operation in which this rank expects another number.
    fn compare(&mut self, from: usize, round: u64, bytes: usize) {
        let total = self.board.total_of(from, round);
        if total > bytes {
            self.note(fail!(
                Class::Truncate,
                "{total} bytes came from rank {from} where {bytes} fit"
            ));
        }
    }

    fn bcast(&mut self, buffer: &Buffer, root: usize) {
        let bytes = buffer.len();
        let rounds = self.rounds(bytes, self.board.slot_bytes());
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, bytes));
            if self.me == root {
                self.show(round, part.len(), bytes, |data| {
                    buffer.read(part.start, data)
                });
                self.wake_others();
            } else {
                self.await_rank(root, round);
                self.compare(root, round, bytes);
                buffer.write(part.start, self.board.read(root, round, part.len()));
            }
            self.pass(round);
        }
    }

    fn gather(&mut self, own: Option<&Buffer>, parts: Option<&Parts>, root: usize) {
        let each = own.map_or_else(|| parts.map_or(0, |parts| parts.len(root)), Buffer::len);
        let rounds = self.rounds(each, self.board.slot_bytes());
        if let (Some(own), Some(parts)) = (own, parts) {
            self.copy(own, &parts.of(root));
        }
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, each));
            if let Some(parts) = parts {
                for rank in (0..self.ranks).filter(|rank| *rank != root) {
                    self.await_rank(rank, round);
                    let shown = (part.len(), 0..part.len());
                    self.deposit((rank, round), shown, &parts.of(rank), part.start);
                }
            } else if let Some(own) = own {
                self.show(round, part.len(), each, |data| own.read(part.start, data));
                self.wake(root);
            }
            self.pass(round);
        }
    }

    /// Where in a slot that has a piece for each other rank that of one is.
    fn place(&self, from: usize, to: usize, bytes: usize) -> Range<usize> {
        let at = if to < from { to } else { to - 1 };
        at * bytes..(at + 1) * bytes
    }

    fn scatter(&mut self, parts: Option<&Parts>, into: Option<&Buffer>, root: usize) {
        let each = match (into, parts) {
            (_, Some(parts)) => parts.len(root),
            (into, None) => into.map_or(0, Buffer::len),
        };
        let rounds = self.rounds(each, self.board.slot_bytes() / (self.ranks - 1));
        if let (Some(into), Some(parts)) = (into, parts) {
            self.copy(&parts.of(root), into);
        }
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, each));
            if let Some(parts) = parts {
                let bytes = part.len() * (self.ranks - 1);
                let others = (0..self.ranks).filter(|rank| *rank != root);
                self.show(round, bytes, each, |data| {
                    for (at, rank) in others.enumerate() {
                        let place = &mut data[at * part.len()..][..part.len()];
                        parts.of(rank).read(part.start, place);
                    }
                });
                self.wake_others();
            } else if let Some(into) = into {
                self.await_rank(root, round);
                self.compare(root, round, each);
                let place = self.place(root, self.me, part.len());
                let shown = (part.len() * (self.ranks - 1), place);
                self.deposit((root, round), shown, into, part.start);
            }
            self.pass(round);
        }
    }

    /// Copies this rank's own part, which must fit.
    fn copy(&mut self, own: &Buffer, into: &Buffer) {
        let team = Team::on(Lane::new(self.comm, self.reason.function));
        copy_own(&team, own, into);
        self.note(team.result());
    }

    /// Takes a part of what a rank shows to `offset` of a buffer.
    fn deposit(
        &self,
        (from, round): (usize, u64),
        (shown, part): (usize, Range<usize>),
        into: &Buffer,
        offset: usize,
    ) {
        let data = self.board.read(from, round, shown);
        let bytes = part.len().min(into.len().saturating_sub(offset));
        into.write(offset.min(into.len()), &data[part.start..][..bytes]);
    }

    fn allgather(&mut self, own: Option<&Buffer>, parts: &Parts) {
        let (ranks, me) = (self.ranks, self.me);
        if let Some(own) = own {
            self.copy(own, &parts.of(me));
        }
        let mine = parts.of(me);
        let longest = (0..ranks).map(|rank| parts.len(rank)).max().unwrap_or(0);
        let rounds = self.rounds(longest, self.board.slot_bytes());
        let show = |work: &mut Self, at, round| {
            let part = rounds.part(at, mine.len());
            work.show(round, part.len(), mine.len(), |data| {
                mine.read(part.start, data)
            });
            work.arrive(round)
        };
        self.everybody(rounds, show, |work, at, round| {
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                let part = rounds.part(at, parts.len(rank));
                if !part.is_empty() {
                    let shown = (part.len(), 0..part.len());
                    work.deposit((rank, round), shown, &parts.of(rank), part.start);
                }
            }
        });
    }

    fn alltoall(&mut self, out: Option<&Parts>, into: &Parts) {
        let (ranks, me, each) = (self.ranks, self.me, into.len(0));
        let source = out.unwrap_or(into);
        if let Some(out) = out {
            self.copy(&out.of(me), &into.of(me));
        }
        let rounds = self.rounds(each, self.board.slot_bytes() / (ranks - 1));
        let show = |work: &mut Self, at, round| {
            let part = rounds.part(at, each.min(source.len(0)));
            let bytes = part.len();
            work.show(round, bytes * (ranks - 1), each, |data| {
                let others = (0..ranks).filter(|rank| *rank != me);
                for (at, rank) in others.enumerate() {
                    let place = &mut data[at * bytes..][..bytes];
                    source.of(rank).read(part.start, place);
                }
            });
            work.arrive(round)
        };
        self.everybody(rounds, show, |work, at, round| {
            let part = rounds.part(at, each);
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                let place = work.place(rank, me, part.len());
                let data = work.board.read(rank, round, part.len() * (ranks - 1));
                into.of(rank).write(part.start, &data[place]);
            }
        });
    }

    /// Reduces what some ranks show, in their order: a part of it, into `right`.
    fn combine(
        &mut self,
        ranks: Range<usize>,
        round: u64,
        (shown, part): (usize, Range<usize>),
        with: &Operands,
        right: &mut [u8],
    ) {
        let last = ranks.end - 1;
        right.copy_from_slice(&self.board.read(last, round, shown)[part.clone()]);
        for rank in (ranks.start..last).rev() {
            let left = &self.board.read(rank, round, shown)[part.clone()];
            let count = right.len() as u64 / with.datatype.size.max(1);
            let result = with.op.apply(left, right, count, with.datatype);
            self.note(result);
        }
    }

    /// Lets `work` make a part of a buffer in place, or beside it if it has holes.
    fn make(&mut self, into: &Buffer, part: Range<usize>, make: impl FnOnce(&mut Self, &mut [u8])) {
        if into.contiguous().is_some() {
            let whole = into.slice(part.start, part.len());
            let done: std::result::Result<(), ()> = whole.fill_from(part.len(), |bytes| {
                make(self, bytes);
                Ok(())
            });
            debug_assert!(done.is_ok());
        } else {
            let mut bytes = room(part.len());
            make(self, &mut bytes);
            into.write(part.start, &bytes);
        }
    }

    /// Whole elements that fit into so many bytes.
    fn elements(with: &Operands, bytes: usize) -> usize {
        let unit = (with.datatype.size as usize).max(1);
        bytes / unit * unit
    }

    fn allreduce(&mut self, own: &Buffer, into: &Buffer, with: &Operands) {
        let (ranks, bytes) = (self.ranks, own.len());
        let rounds = self.rounds(bytes, Self::elements(with, self.board.slot_bytes()));
        let show = |work: &mut Self, at, round| {
            let part = rounds.part(at, bytes);
            let length = part.len();
            work.show(round, length, bytes, |data| own.read(part.start, data));
            let last = work.arrive(round);
            if last {
                // The last one to come works it out for all.
                work.reduce_for_all(round, length, with);
            }
            last
        };
        self.everybody(rounds, show, |work, at, round| {
            let part = rounds.part(at, bytes);
            let length = part.len();
            if ranks <= FEW {
                work.make(into, part, |work, right| {
                    work.combine(0..ranks, round, (length, 0..length), with, right);
                });
            } else {
                work.await_rank(ranks, round);
                into.write(part.start, work.board.read(ranks, round, length));
            }
        });
    }

    fn reduce_for_all(&mut self, round: u64, bytes: usize, with: &Operands) {
        let (board, ranks) = (self.board, self.ranks);
        board.fill(ranks, round, bytes, |right| {
            self.combine(0..ranks, round, (bytes, 0..bytes), with, right);
        });
        board.show(ranks, round, bytes);
        self.wake_others();
    }

    fn reduce(&mut self, own: &Buffer, into: &Buffer, with: &Operands, root: usize) {
        let (ranks, bytes) = (self.ranks, own.len());
        let rounds = self.rounds(bytes, Self::elements(with, self.board.slot_bytes()));
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, bytes));
            let length = part.len();
            self.show(round, length, bytes, |data| own.read(part.start, data));
            if self.me == root {
                for rank in (0..ranks).filter(|rank| *rank != root) {
                    self.await_rank(rank, round);
                }
                self.make(into, part, |work, right| {
                    work.combine(0..ranks, round, (length, 0..length), with, right);
                });
            } else {
                self.wake(root);
            }
            self.pass(round);
        }
    }

    fn reduce_scatter(&mut self, own: &Buffer, into: &Buffer, counts: &[u64], with: &Operands) {
        let (ranks, me) = (self.ranks, self.me);
        let begins = blocks(counts, with.datatype);
        let size = |rank: usize| begins[rank + 1] - begins[rank];
        let longest = (0..ranks).map(size).max().unwrap_or(0);
        let piece = Self::elements(with, self.board.slot_bytes() / ranks);
        let rounds = self.rounds(longest, piece);
        // In place the result lies where parts that are not yet shown may be.
        let mut aside = (rounds.number > 1).then(|| room(into.len()));
        let target = aside.as_mut().map_or(*into, Buffer::of_copy);
        let shown = ranks * piece.min(longest);
        let show = |work: &mut Self, at, round| {
            work.show(round, shown, own.len(), |data| {
                for rank in 0..ranks {
                    let part = rounds.part(at, size(rank));
                    let place = &mut data[rank * (shown / ranks)..][..part.len()];
                    own.read(begins[rank] + part.start, place);
                }
            });
            work.arrive(round)
        };
        self.everybody(rounds, show, |work, at, round| {
            let part = rounds.part(at, size(me));
            let place = me * (shown / ranks)..me * (shown / ranks) + part.len();
            if !part.is_empty() {
                work.make(&target, part, |work, right| {
                    work.combine(0..ranks, round, (shown, place), with, right);
                });
            }
        });
        if let Some(aside) = aside {
            into.write(0, &aside);
        }
    }

    fn scan(&mut self, own: &Buffer, into: &Buffer, with: &Operands, exclusive: bool) {
        let (bytes, me) = (own.len(), self.me);
        let rounds = self.rounds(bytes, Self::elements(with, self.board.slot_bytes()));
        let end = if exclusive { me } else { me + 1 };
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, bytes));
            let length = part.len();
            self.show(round, length, bytes, |data| own.read(part.start, data));
            self.wake_others();
            for rank in 0..me {
                self.await_rank(rank, round);
            }
            if end > 0 {
                self.make(into, part, |work, right| {
                    work.combine(0..end, round, (length, 0..length), with, right);
                });
            }
            self.pass(round);
        }
    }
}
