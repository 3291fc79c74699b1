//! A board: memory of the segment in which the ranks of one communicator show each other data, without messages.
//!
//! Each rank has a desk, which it alone writes: a ring of lines, one for each round, and room for data that is too long for the
//! line. The last desk has the results that one rank works out for all. Operations are numbered rounds, the same on all ranks.
//! A line's *stamp* is the round it holds. Invariant: a line, and the room that it names, is written again only when every rank
//! has *passed* the round that it holds; nobody reads it after that.
#![allow(unsafe_code)]

use super::layout::Segment;
use super::pipe::{PAIR_BYTES, Pipes};
use super::trays::{self, SERVICES, Service, Trays};
use crate::queue::ring::prefetch;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU64, Ordering, compiler_fence};
use parking_lot::Mutex;
use std::os::fd::BorrowedFd;

/// Rounds that a rank may be ahead of the slowest: with many, each turn of a rank is good for many rounds in which it waits for
/// nobody.
pub const LINES: usize = 64;
/// Pieces of data of the greatest length that a desk has room for, and counters of arrivals: of rounds to which all ranks come
/// nobody is further ahead.
pub const DEPTH: usize = 4;
/// Room is given out in so many bytes.
pub(super) const UNIT: usize = 1024;
/// Units of a desk that has most.
pub(super) const MOST_UNITS: usize = DEPTH * (16 << 10) / UNIT;
/// Data that takes no more than this part of a desk's room is all of an operation, or its end.
pub(super) const SHORT: usize = 8;
/// Data that lies in the line of the stamp.
pub(super) const IN_LINE: usize = 48;
/// More ranks than that send messages.
pub const MOST_RANKS: usize = 64;
/// All boards, pipes and trays of a node together, bytes.
const NODE_BYTES: u64 = 64 << 20;
/// Up to here there are pipes and trays.
const NODE_BYTES_WITH_PIPES: u64 = 48 << 20;

/// The line that a reader watches.
#[repr(C, align(64))]
struct Line {
    stamp: AtomicU64,
    /// Bytes of the whole operation, for readers that expect another number, and in the low byte the unit where data begins
    /// that is not in the line.
    total: AtomicU64,
    data: [u8; IN_LINE],
}

/// A line with one number.
#[repr(C, align(64))]
struct Count(AtomicU64);

/// The lines before the desks.
#[repr(C)]
struct Head {
    /// Ranks that have come to rounds to which all come, all that share a counter together.
    arrivals: [Count; DEPTH],
    /// Ranks that have come to barriers, all barriers together.
    barriers: Count,
    /// Ranks that use the board no more.
    left: Count,
    /// Ranks that may be sleeping at this board.
    resting: Count,
    /// A rank of MPI_COMM_WORLD that is lost, and 1: whoever waits for anything here gives up.
    lost: Count,
    /// Where the pipes are that belong to the board of two ranks; zero: nowhere.
    pipes: Count,
    /// Where the trays of ranks that share cores are, by what they are for; zero: nowhere.
    trays: [Count; SERVICES.len()],
}

const _: () = assert!(size_of::<Line>() == 64 && size_of::<Head>() == 64 * (DEPTH + 7));

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Line { stamp, total, data }),
    shape!(Head {
        arrivals,
        barriers,
        left,
        resting,
        lost,
        pipes,
        trays
    }),
]);

/// See the module.
#[derive(Clone, Copy)]
pub struct Board {
    base: *mut u8,
    offset: usize,
    ranks: usize,
    slot_bytes: usize,
}

// SAFETY: the memory is shared between processes anyway; what may be touched when is the protocol's matter.
unsafe impl Send for Board {}
// SAFETY: as for Send.
unsafe impl Sync for Board {}

/// Bytes of the longest piece of data, where a board has so many ranks.
fn slot_bytes(ranks: usize) -> usize {
    match ranks {
        0..=4 => 16 << 10,
        5..=16 => 8 << 10,
        _ => 4 << 10,
    }
}

fn desk_bytes(slot_bytes: usize) -> usize {
    64 + LINES * 64 + DEPTH * slot_bytes
}

pub(super) fn board_bytes(ranks: usize) -> usize {
    size_of::<Head>() + (ranks + 1) * desk_bytes(slot_bytes(ranks))
}

/// Fresh memory of the segment, if that keeps boards and pipes together below so many bytes.
fn allocate(
    segment: Segment<'static>,
    fd: BorrowedFd<'_>,
    bytes: usize,
    most: u64,
) -> Option<usize> {
    let boards = &segment.header().boards;
    if boards.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64 > most {
        boards.fetch_sub(bytes as u64, Ordering::Relaxed);
        return None;
    }
    segment.allocate(fd, bytes).ok()
}

/// Boards that this process has made and left, to be used again when all have left them.
static RETIRED: Mutex<Vec<Board>> = Mutex::new(Vec::new());

impl Board {
    /// A board of zeros for so many ranks: where it is, or `None` if the node has enough of them.
    pub fn make(segment: Segment<'static>, fd: BorrowedFd<'_>, ranks: usize) -> Option<usize> {
        let mut retired = RETIRED.lock();
        let again = retired.iter().position(|board| board.is_left_by(ranks));
        if let Some(at) = again {
            let board = retired.swap_remove(at);
            let pipes = board.head().pipes.0.load(Ordering::Relaxed);
            let trays = SERVICES.map(|service| board.trays_of(service).load(Ordering::Relaxed));
            // SAFETY: all have left it, so this process is alone with it until it tells where it is.
            unsafe { board.base.write_bytes(0, board_bytes(ranks)) };
            // SAFETY: who has left the board has left its pipes.
            unsafe { Pipes::renew(segment, pipes as usize) };
            board.head().pipes.0.store(pipes, Ordering::Relaxed);
            for (service, trays) in SERVICES.into_iter().zip(trays) {
                // SAFETY: as for the pipes.
                unsafe { Trays::renew(segment, trays as usize, service, ranks) };
                board.trays_of(service).store(trays, Ordering::Relaxed);
            }
            return Some(board.offset);
        }
        allocate(segment, fd, board_bytes(ranks), NODE_BYTES)
    }

    /// Gives a board of two ranks its pipes, if it has none and there are not too many; by the rank that made it.
    pub fn make_pipes(&self, segment: Segment<'static>, fd: BorrowedFd<'_>) {
        let pipes = &self.head().pipes.0;
        if pipes.load(Ordering::Relaxed) == 0 {
            let made = allocate(segment, fd, PAIR_BYTES, NODE_BYTES_WITH_PIPES);
            pipes.store(made.unwrap_or(0) as u64, Ordering::Relaxed);
        }
    }

    /// A rank's ends of them, after the board has told that they are made.
    ///
    /// # Safety
    /// This rank has no other ends of them.
    pub unsafe fn pipes(&self, segment: Segment<'static>, me: usize) -> Option<Pipes> {
        let offset = self.head().pipes.0.load(Ordering::Relaxed);
        // SAFETY: fresh, for `make` renews what it hands out again; the rest is by the caller.
        unsafe { Pipes::open(segment, offset as usize, me) }
    }

    /// As [`Self::make_pipes`], for trays.
    pub fn make_trays(&self, segment: Segment<'static>, fd: BorrowedFd<'_>, service: Service) {
        let trays = self.trays_of(service);
        if trays.load(Ordering::Relaxed) == 0 {
            let bytes = trays::bytes(service, self.ranks);
            let made = allocate(segment, fd, bytes, NODE_BYTES_WITH_PIPES);
            trays.store(made.unwrap_or(0) as u64, Ordering::Relaxed);
        }
    }

    /// A rank's view of them, after the board has told that they are made.
    pub fn trays(&self, segment: Segment<'static>, service: Service) -> Option<Trays> {
        let offset = self.trays_of(service).load(Ordering::Relaxed);
        Trays::open(segment, offset as usize, service, self.ranks)
    }

    /// Where they are; zero: nowhere.
    fn trays_of(&self, service: Service) -> &AtomicU64 {
        &self.head().trays[service as usize].0
    }

    /// The board at an offset that another rank told; `None` if none can be there.
    pub fn open(segment: Segment<'static>, offset: usize, ranks: usize) -> Option<Board> {
        let base = segment.dynamic(offset, board_bytes(ranks))?;
        Some(Board {
            base,
            offset,
            ranks,
            slot_bytes: slot_bytes(ranks),
        })
    }

    /// This rank uses the board no more; `made` says that it made it.
    pub fn leave(self, made: bool) {
        self.head().left.0.fetch_add(1, Ordering::Release);
        if made {
            RETIRED.lock().push(self);
        }
    }

    /// A fresh board of so many ranks.
    ///
    /// # Safety
    /// Nobody uses that memory any more.
    #[cfg(test)]
    pub unsafe fn renewed(segment: Segment<'static>, offset: usize, ranks: usize) -> Board {
        let Some(board) = Self::open(segment, offset, ranks) else {
            panic!("no board of {ranks} ranks fits there")
        };
        // SAFETY: inside the segment by `open`, and nobody uses it, by the caller.
        unsafe { board.base.write_bytes(0, board_bytes(ranks)) };
        board
    }

    /// A board that is not there, to ask what it would be like.
    #[cfg(test)]
    pub fn nowhere(ranks: usize) -> Board {
        Board {
            base: std::ptr::null_mut(),
            offset: 0,
            ranks,
            slot_bytes: slot_bytes(ranks),
        }
    }

    fn is_left_by(&self, ranks: usize) -> bool {
        self.ranks == ranks && self.head().left.0.load(Ordering::Acquire) == ranks as u64
    }

    #[inline]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bytes that one rank can show in a round.
    #[inline]
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    #[inline]
    fn head(&self) -> &Head {
        // SAFETY: `open` checked that the board is mapped, for good; atomics only.
        unsafe { &*self.base.cast::<Head>() }
    }

    /// The address of a desk; that of the results comes after those of the ranks.
    #[inline]
    fn desk(&self, rank: usize) -> *mut u8 {
        assert!(rank <= self.ranks);
        self.base
            .wrapping_add(size_of::<Head>() + rank * desk_bytes(self.slot_bytes))
    }

    #[inline]
    fn line(&self, rank: usize, round: u64) -> *mut Line {
        let line = round as usize % LINES;
        self.desk(rank).wrapping_add(64 + line * 64).cast()
    }

    /// Units of a desk.
    #[inline]
    pub fn units(&self) -> usize {
        DEPTH * self.slot_bytes / UNIT
    }

    /// Where the results of a round lie; nobody has passed it before all have come to it.
    #[inline]
    pub fn unit_of_result(&self, round: u64) -> usize {
        round as usize % DEPTH * (self.slot_bytes / UNIT)
    }

    #[inline]
    fn data(&self, rank: usize, round: u64, unit: usize, bytes: usize) -> *mut u8 {
        assert!(bytes <= self.slot_bytes);
        if bytes <= IN_LINE {
            let line = self.line(rank, round);
            line.cast::<u8>().wrapping_add(64 - IN_LINE)
        } else {
            // Ranks that disagree about the length find other data there, but inside the desk.
            let at = (unit * UNIT).min(DEPTH * self.slot_bytes - bytes);
            self.desk(rank).wrapping_add(64 + LINES * 64 + at)
        }
    }

    #[inline]
    fn stamp(&self, rank: usize, round: u64) -> &AtomicU64 {
        // SAFETY: inside the board by `desk`; an atomic.
        unsafe { &*std::ptr::addr_of!((*self.line(rank, round)).stamp) }
    }

    #[inline]
    fn total(&self, rank: usize, round: u64) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { &*std::ptr::addr_of!((*self.line(rank, round)).total) }
    }

    /// Lets `fill` write `bytes` bytes to a desk, at `unit` if they are too long for the line.
    ///
    /// # Safety
    /// All have passed the rounds that were there, and this rank alone writes this desk in this round.
    #[inline]
    pub unsafe fn fill(
        &self,
        rank: usize,
        round: u64,
        (unit, bytes): (usize, usize),
        fill: impl FnOnce(&mut [u8]),
    ) {
        let data = self.data(rank, round, unit, bytes);
        // SAFETY: inside the board; nobody reads or writes it now, by the caller.
        fill(unsafe { std::slice::from_raw_parts_mut(data, bytes) });
    }

    /// Shows what was filled in.
    #[inline]
    pub fn show(&self, rank: usize, round: u64, unit: usize, total: usize) {
        let length = self.total(rank, round);
        length.store((total as u64) << 8 | unit as u64, Ordering::Relaxed);
        // Release: pairs with `is_shown`; the data was written before.
        self.stamp(rank, round).store(round, Ordering::Release);
    }

    /// Whether a desk shows its data of a round.
    #[inline]
    pub fn is_shown(&self, rank: usize, round: u64) -> bool {
        self.stamp(rank, round).load(Ordering::Acquire) == round
    }

    /// The bytes of the whole operation, as whoever showed the data has it.
    #[inline]
    pub fn total_of(&self, rank: usize, round: u64) -> usize {
        (self.total(rank, round).load(Ordering::Relaxed) >> 8) as usize
    }

    /// Says that this rank will read what a desk shows in a round, whether it does so yet or not.
    #[inline]
    pub fn expect(&self, rank: usize, round: u64) {
        prefetch(self.line(rank, round).cast());
    }

    /// What a desk shows in a round.
    ///
    /// # Safety
    /// The desk shows it ([`Board::is_shown`], or all have arrived), and this rank says [`Board::pass`] only after the last use of
    /// the result.
    #[inline]
    pub unsafe fn read(&self, rank: usize, round: u64, bytes: usize) -> &[u8] {
        let unit = match bytes <= IN_LINE {
            true => 0,
            false => self.total(rank, round).load(Ordering::Relaxed) as usize % 256,
        };
        // SAFETY: inside the board; its owner writes it again only after this rank has passed the round.
        unsafe { std::slice::from_raw_parts(self.data(rank, round, unit, bytes), bytes) }
    }

    /// This rank reads nothing any more of this round and those before.
    #[inline]
    pub fn pass(&self, rank: usize, round: u64) {
        // Release: pairs with `passed`; the reading is over.
        self.passing(rank).store(round, Ordering::Release);
    }

    #[inline]
    pub fn passed(&self, rank: usize) -> u64 {
        self.passing(rank).load(Ordering::Acquire)
    }

    #[inline]
    fn passing(&self, rank: usize) -> &AtomicU64 {
        // SAFETY: the first line of a desk; an atomic.
        unsafe { &*self.desk(rank).cast::<AtomicU64>() }
    }

    /// Counts this rank among those that have come to a round to which all come, the how manyth of those it is; how many have
    /// by now, to all of them that share its counter.
    #[inline]
    pub fn arrive(&self, number: u64) -> u64 {
        let arrivals = &self.head().arrivals[number as usize % DEPTH].0;
        // AcqRel: pairs with itself and `arrived`; the data of all who came before can be read.
        arrivals.fetch_add(1, Ordering::AcqRel) + 1
    }

    #[inline]
    pub fn arrived(&self, number: u64) -> u64 {
        self.head().arrivals[number as usize % DEPTH]
            .0
            .load(Ordering::Acquire)
    }

    /// What [`Board::arrived`] comes to when all have come. Nobody comes to a round before all have to the one that had its
    /// counter before.
    #[inline]
    pub fn all_arrived(&self, number: u64) -> u64 {
        number.div_ceil(DEPTH as u64) * self.ranks as u64
    }

    /// This rank may go to sleep, after another look at what it waits for; until [`Board::rise`].
    #[inline]
    pub fn rest(&self) {
        self.head().resting.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Tells all ranks that they wait in vain.
    #[cold]
    pub fn tell_lost(&self, world: u32) {
        let lost = &self.head().lost.0;
        lost.store(u64::from(world) + 1, Ordering::Release);
    }

    /// The lost rank that somebody has told of.
    pub fn lost(&self) -> Option<u32> {
        let lost = self.head().lost.0.load(Ordering::Acquire);
        lost.checked_sub(1).map(|world| world as u32)
    }

    #[inline]
    pub fn rise(&self) {
        self.head().resting.0.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether any rank may sleep, to be asked after something was stored that it may wait for. A sleeper's membarrier is the
    /// other half, as for its event count: whoever rests later looks once more.
    #[inline]
    pub fn somebody_rests(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.head().resting.0.load(Ordering::Relaxed) != 0
    }

    /// Counts a rank that has come to a barrier. Returns how many have, over all barriers.
    #[inline]
    pub fn enter_barrier(&self) -> u64 {
        self.head().barriers.0.fetch_add(1, Ordering::AcqRel) + 1
    }

    #[inline]
    pub fn entered_barrier(&self) -> u64 {
        self.head().barriers.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout::{initialise, segment_bytes};
    use std::os::fd::AsFd;

    #[test]
    fn boards_are_used_again_when_all_have_left_and_there_are_not_too_many() {
        let fd = memory::create("test", segment_bytes(2), false).unwrap();
        initialise(fd.as_fd(), 2).unwrap();
        let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, 2).unwrap();
        let first = Board::make(segment, fd.as_fd(), 2).unwrap();
        let board = Board::open(segment, first, 2).unwrap();
        // SAFETY: one thread, and nothing else is read or written.
        unsafe { board.fill(1, 5, (3, 100), |data| data.fill(7)) };
        assert!(!board.is_shown(1, 5));
        board.show(1, 5, 3, 100);
        assert!(board.is_shown(1, 5) && !board.is_shown(0, 5));
        // SAFETY: as above.
        assert_eq!(unsafe { board.read(1, 5, 100) }, [7; 100]);
        board.leave(true);
        let second = Board::make(segment, fd.as_fd(), 2).unwrap();
        assert_ne!(first, second);
        board.leave(false);
        assert_eq!(Board::make(segment, fd.as_fd(), 2), Some(first));
        assert!(!board.is_shown(1, 5));
        let mut made = 2;
        while Board::make(segment, fd.as_fd(), 2).is_some() {
            made += 1;
        }
        assert!(made * board_bytes(2) <= NODE_BYTES as usize && made > 50);
        assert!(Board::open(segment, 64, 2).is_none());
    }
}
