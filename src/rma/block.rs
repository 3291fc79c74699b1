//! The control block of a window: flags and counters that its ranks share, in the node's heap.
//!
//! ```text
//! header      barrier, count of ranks that have left
//! per rank    TargetLine                       lock of the rank's memory, posts to it, completion counter, dynamic regions
//! per rank    bitmap, a line or more           origin line: the shared locks that the rank holds, by target
//! per rank    bitmap, of more than 192 ranks   post line: the ranks that have posted to the rank
//! ```
//!
//! A block of zeros is valid: nothing held, nobody waits. It is as short as it can be with what is changed at different times in different
//! lines, since there may be ten thousand.

use crate::assembly::Area;
use crate::queue::barrier;
use crate::queue::relocation::{Accesses, Place};
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64};
use std::mem::offset_of;

const LINE: usize = 64;
/// Tickets whose holders can be told apart; with more threads waiting than that a release wakes all of them.
pub const QUEUE: usize = 16;
/// Words of the posts to a rank that have room beside its counters.
const POSTS: usize = 3;

/// The flags and counters of one rank as a target.
#[repr(C)]
pub struct TargetLine {
    /// The next ticket of the lock. Tickets count modulo 2^32.
    pub next: AtomicU32,
    /// The ticket whose holder may proceed. `next == serving`: no exclusive lock is held or waited for.
    pub serving: AtomicU32,
    /// Number of the last barrier that the rank has come to; written by it alone.
    pub barriers: AtomicU32,
    /// Not zero when some rank has shared the lock.
    pub shared: AtomicU32,
    /// Where memory of the rank's lies that only it can address ([`Place`]).
    pub place: Place,
    /// What accesses to it by the kernel have cost so far, and at which cost it is to be shared; nanoseconds. Zero: never.
    pub cost: AtomicU64,
    pub price: AtomicU64,
    /// Of this rank, at other ranks' memory.
    pub accesses: Accesses,
    _pad: [u32; 5],
    /// For each ticket modulo [`QUEUE`]: the name of its owner.
    pub queue: [AtomicU32; QUEUE],
    /// MPI_Win_complete calls to this target that MPI_Win_wait has not consumed.
    pub completed: AtomicU64,
    /// Version of the rank's table of dynamic regions: odd while it is changed.
    pub version: AtomicU64,
    /// Where that table is in the heap, and how many entries it has.
    pub regions: AtomicU64,
    pub region_count: AtomicU64,
    /// State of the rank's helper thread, or where its mailbox is (`helper.rs`).
    pub helper: AtomicU64,
    /// A bit for each rank that has posted to this one, if the bits are enough for all ranks.
    posts: [AtomicU64; POSTS],
}

const _: () =
    assert!(size_of::<barrier::Header>() == 2 * LINE && size_of::<TargetLine>() == 3 * LINE);

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape::combine(&[
    barrier::SHAPE,
    shape!(TargetLine {
        next,
        serving,
        barriers,
        shared,
        place,
        cost,
        price,
        accesses,
        _pad,
        queue,
        completed,
        version,
        regions,
        region_count,
        helper,
        posts
    }),
    shape::number(shape::START, QUEUE),
    shape::number(shape::START, Block::bytes(1)),
    shape::number(shape::START, Block::bytes(1000)),
]);

/// A mapped block of a known number of ranks.
#[derive(Clone, Copy)]
pub struct Block {
    base: *mut u8,
    ranks: usize,
}

// SAFETY: atomics only, which stay mapped while the window lives.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// Words of a bitmap of ranks, in whole lines.
const fn words(ranks: usize) -> usize {
    ranks.div_ceil(64).next_multiple_of(LINE / 8)
}

/// Whether the posts of so many ranks have room beside a target's counters.
const fn has_room(ranks: usize) -> bool {
    ranks <= POSTS * 64
}

impl Block {
    /// Bytes of a block for so many ranks.
    pub const fn bytes(ranks: usize) -> usize {
        let bitmaps = 1 + !has_room(ranks) as usize;
        size_of::<barrier::Header>()
            + ranks * (size_of::<TargetLine>() + bitmaps * words(ranks) * 8)
    }

    /// # Safety
    /// [`Block::bytes`] bytes at `base`, aligned to a line, stay mapped as long as the block is used, and hold a block.
    pub unsafe fn at(base: *mut u8, ranks: usize) -> Block {
        Block { base, ranks }
    }

    pub fn ranks(&self) -> usize {
        self.ranks
    }

    #[inline(always)]
    pub fn header(&self) -> &barrier::Header {
        // SAFETY: by `at`; atomics are valid for any content.
        unsafe { &*self.base.cast() }
    }

    /// What all ranks wait for each other in.
    pub fn area(&self) -> Area {
        // SAFETY: by `at`, for as long as the block is used.
        unsafe {
            let first = size_of::<barrier::Header>() + offset_of!(TargetLine, barriers);
            Area::new(
                self.header(),
                self.base.add(first),
                size_of::<TargetLine>(),
                false,
            )
        }
    }

    /// The target line of a rank.
    #[inline(always)]
    pub fn target(&self, rank: usize) -> &TargetLine {
        assert!(rank < self.ranks);
        // SAFETY: by `at`, inside the block.
        unsafe {
            let first = self
                .base
                .add(size_of::<barrier::Header>())
                .cast::<TargetLine>();
            &*first.add(rank)
        }
    }

    #[inline(always)]
    fn bitmap(&self, number: usize) -> &[AtomicU64] {
        let words = words(self.ranks);
        let offset = size_of::<barrier::Header>()
            + self.ranks * size_of::<TargetLine>()
            + number * words * size_of::<u64>();
        // SAFETY: by `at`, inside the block: there are as many bitmaps for each rank as `bytes` says.
        unsafe { std::slice::from_raw_parts(self.base.add(offset).cast(), words) }
    }

    /// The shared locks that a rank holds, a bit for each target; only that rank writes it.
    #[inline(always)]
    pub fn shared_locks(&self, rank: usize) -> &[AtomicU64] {
        assert!(rank < self.ranks);
        self.bitmap(rank)
    }

    /// The ranks that have posted to a rank, a bit for each.
    #[inline(always)]
    pub fn posts(&self, rank: usize) -> &[AtomicU64] {
        match has_room(self.ranks) {
            true => &self.target(rank).posts,
            false => {
                assert!(rank < self.ranks);
                self.bitmap(self.ranks + rank)
            }
        }
    }
}
