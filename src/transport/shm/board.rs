//! A board: memory of the segment in which the ranks of one communicator show each other data, without messages.
//!
//! Each rank has a desk of [`DEPTH`] slots, which it alone writes; the last desk has the results that one rank works out for
//! all. Operations are numbered rounds, the same on all ranks. A slot's *stamp* is the round it holds. Invariant: a slot is
//! written again only when every rank has *passed* the round that it holds; nobody reads it after that.
#![allow(unsafe_code)]

use super::layout::Segment;
use super::pipe::{PAIR_BYTES, Passage, Pipes};
use crate::sync::{AtomicU64, Ordering};
use parking_lot::Mutex;
use std::os::fd::BorrowedFd;

/// Rounds that a rank may be ahead of the slowest.
pub const DEPTH: usize = 4;
/// Data that lies in the line of the stamp.
const IN_LINE: usize = 48;
/// More ranks than that send messages.
pub const MOST_RANKS: usize = 64;
/// All boards and pipes of a node together, bytes.
const NODE_BYTES: u64 = 64 << 20;
/// Up to here there are pipes.
const NODE_BYTES_WITH_PIPES: u64 = 48 << 20;

/// The line that a reader watches.
#[repr(C, align(64))]
struct Line {
    stamp: AtomicU64,
    /// Bytes of the whole operation, for readers that expect another number.
    total: AtomicU64,
    data: [u8; IN_LINE],
}

/// A line with one number.
#[repr(C, align(64))]
struct Count(AtomicU64);

/// The lines before the desks.
#[repr(C)]
struct Head {
    /// Ranks that have come to the rounds of each slot, all rounds together.
    arrivals: [Count; DEPTH],
    /// Ranks that have come to barriers, all barriers together.
    barriers: Count,
    /// Ranks that use the board no more.
    left: Count,
    /// Where the pipes are that belong to the board of two ranks; zero: nowhere.
    pipes: Count,
}

const _: () = assert!(size_of::<Line>() == 64 && size_of::<Head>() == 64 * (DEPTH + 3));

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

/// Bytes of data in a slot, where a board has so many ranks.
fn slot_bytes(ranks: usize) -> usize {
    match ranks {
        0..=4 => 16 << 10,
        5..=16 => 8 << 10,
        _ => 4 << 10,
    }
}

fn desk_bytes(slot_bytes: usize) -> usize {
    64 + DEPTH * (64 + slot_bytes)
}

fn board_bytes(ranks: usize) -> usize {
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
            // SAFETY: all have left it, so this process is alone with it until it tells where it is.
            unsafe { board.base.write_bytes(0, board_bytes(ranks)) };
            Pipes::renew(segment, pipes as usize);
            board.head().pipes.0.store(pipes, Ordering::Relaxed);
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
    pub fn pipes(&self, segment: Segment<'static>, me: usize) -> Option<Pipes> {
        let offset = self.head().pipes.0.load(Ordering::Relaxed);
        Pipes::open(segment, offset as usize, me)
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

    fn is_left_by(&self, ranks: usize) -> bool {
        self.ranks == ranks && self.head().left.0.load(Ordering::Acquire) == ranks as u64
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
        let slot = round as usize % DEPTH;
        self.desk(rank)
            .wrapping_add(64 + slot * (64 + self.slot_bytes))
            .cast()
    }

    #[inline]
    fn data(&self, rank: usize, round: u64, bytes: usize) -> *mut u8 {
        assert!(bytes <= self.slot_bytes);
        let line = self.line(rank, round);
        if bytes <= IN_LINE {
            line.cast::<u8>().wrapping_add(64 - IN_LINE)
        } else {
            line.cast::<u8>().wrapping_add(64)
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

    /// Lets `fill` write `bytes` bytes to the slot of a desk. All have passed the round that it held, and this rank alone
    /// writes this desk in this round.
    #[inline]
    pub fn fill(&self, rank: usize, round: u64, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let data = self.data(rank, round, bytes);
        // SAFETY: inside the board; nobody reads or writes it now, as the caller says.
        fill(unsafe { std::slice::from_raw_parts_mut(data, bytes) });
    }

    /// Shows what was filled in.
    #[inline]
    pub fn show(&self, rank: usize, round: u64, total: usize) {
        let length = self.total(rank, round);
        length.store(total as u64, Ordering::Relaxed);
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
        self.total(rank, round).load(Ordering::Relaxed) as usize
    }

    /// What a desk shows in a round: after [`Board::is_shown`] or an arrival of all, before [`Board::pass`].
    #[inline]
    pub fn read(&self, rank: usize, round: u64, bytes: usize) -> &[u8] {
        // SAFETY: inside the board; its owner writes it again only after this rank has passed the round.
        unsafe { std::slice::from_raw_parts(self.data(rank, round, bytes), bytes) }
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

    /// Counts this rank among those that have shown their data of a round; how many have by now, of all rounds of the slot.
    #[inline]
    pub fn arrive(&self, round: u64) -> u64 {
        let arrivals = &self.head().arrivals[round as usize % DEPTH].0;
        // AcqRel: pairs with itself and `arrived`; the data of all who came before can be read.
        arrivals.fetch_add(1, Ordering::AcqRel) + 1
    }

    #[inline]
    pub fn arrived(&self, round: u64) -> u64 {
        self.head().arrivals[round as usize % DEPTH]
            .0
            .load(Ordering::Acquire)
    }

    /// The same for barriers.
    #[inline]
    pub fn enter_barrier(&self) -> u64 {
        self.head().barriers.0.fetch_add(1, Ordering::AcqRel) + 1
    }

    #[inline]
    pub fn entered_barrier(&self) -> u64 {
        self.head().barriers.0.load(Ordering::Acquire)
    }
}

/// What a communicator has of a board: nothing yet, nothing for good, or its place at one.
pub enum Place {
    /// Blocking operations so far.
    Counting(u32),
    Refused,
    Taken(Box<Seat>),
}

/// Whether the ranks at a board may read each other's memory.
pub enum Reach {
    Unknown,
    Refused,
    /// Their process ids.
    Granted(Box<[i32]>),
}

/// A rank's place at a board.
pub struct Seat {
    pub board: Board,
    pub me: usize,
    /// The last round that was begun.
    pub round: u64,
    /// Up to which round each rank is known to have passed.
    pub seen: Box<[u64]>,
    /// What the arrivals of each slot come to when all have arrived.
    pub expected: [u64; DEPTH],
    /// The same for barriers.
    pub barriers: u64,
    /// Whether filling a slot with ordinary stores was found to be dear, and how many were filled.
    pub dear: bool,
    pub fills: u32,
    pub passage: Passage,
    pub reach: Reach,
}

impl Seat {
    pub fn new(board: Board, me: usize) -> Seat {
        Seat {
            board,
            me,
            round: 0,
            seen: vec![0; board.ranks].into(),
            expected: [0; DEPTH],
            barriers: 0,
            dear: false,
            fills: 0,
            passage: Passage::Counting(0),
            reach: Reach::Unknown,
        }
    }

    pub fn ranks(&self) -> usize {
        self.board.ranks
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
        board.fill(1, 5, 100, |data| data.fill(7));
        assert!(!board.is_shown(1, 5));
        board.show(1, 5, 100);
        assert!(board.is_shown(1, 5) && !board.is_shown(0, 5));
        assert_eq!(board.read(1, 5, 100), [7; 100]);
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
