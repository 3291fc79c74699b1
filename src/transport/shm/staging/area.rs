//! A staging area: memory of the segment in which the ranks of one communicator on one node publish data for each other.
//!
//! ```text
//! area   | head | publisher 0 | publisher 1 | ... | results |       each: acknowledgement | flag lines | small ring
//! large  | ring 0 | ring 1 | ... | results |                        made at the first use of larger data
//! ```
//!
//! Each rank is a publisher, and so is, in the name of all, the rank that made a result. Operations consist of numbered *rounds*, the
//! same on all ranks. In a round a publisher writes data, to its flag line or to a ring, and then the line. Invariant: a line, and the
//! data that it names, is written again only when every rank has *acknowledged* the round that it holds; nobody reads it after that.
#![allow(unsafe_code)]

mod reuse;

use crate::queue::ring::prefetch;
use crate::queue::shape::{self, shape};
use crate::queue::shares::Shares;
use crate::sync::{AtomicU64, Ordering, compiler_fence, fence};
use crate::transport::shm::layout::Segment;
use crate::transport::shm::pace::Stores;
pub use reuse::Told;
use reuse::{Lasting, Own, allocate};
use std::os::fd::BorrowedFd;

/// Data that lies in the flag line, bytes.
pub const INLINE: usize = 48;
/// Counters of arrivals: of counted rounds no rank is further ahead.
pub const COUNTERS: usize = 4;
/// As many nonblocking operations of a communicator with little data are under way at once; further ones wait for their turn.
pub const AREAS_FOR_LITTLE: usize = 4;
/// Rounds whose results are made in shares at the same time.
pub const SHARED_ROUNDS: usize = 2;
/// Data in rings begins at multiples of so many bytes.
pub const UNIT: usize = 1024;
/// Pieces of the greatest length that a small ring holds.
pub const SMALL_DEPTH: usize = 4;
/// Rounds that the large rings of a persistent operation hold: it overtakes itself by no more.
const ROUNDS_OF_ONE: usize = 4;
/// Rounds whose results lie beside each other in the small ring of results.
pub const RESULT_SLOTS: usize = SMALL_DEPTH;
/// Between two large rings: pieces of several ranks, read at the same time, are not to meet in the same sets of a cache.
const GAP: usize = 320;
/// Read in place of data that cannot be there: as much as a piece has at most.
static NOTHING: [u8; 2 << 20] = [0; 2 << 20];
/// Ranks of one area at most: what a line's place can name is no limit, the memory is.
pub const MOST_RANKS: usize = 1024;

/// The line that tells of a publisher's data of a round.
#[repr(C, align(64))]
struct Line {
    round: AtomicU64,
    /// Bytes of the whole operation, for readers that expect another number, and in the low bits the [`Place`].
    total: AtomicU64,
    data: [u8; INLINE],
}

/// A line with one number.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Count(pub AtomicU64);

#[repr(C)]
struct Head {
    lasting: Lasting,
    /// Ranks that have come to counted rounds, all rounds that share a counter together.
    arrivals: [Count; COUNTERS],
    /// Ranks that have come to barriers, all barriers together.
    barriers: Count,
    shares: [Shares; SHARED_ROUNDS],
    /// Ranks that may sleep until something is published here, and until something is acknowledged.
    sleepers: Count,
    sleepers_for_room: Count,
    /// A rank of MPI_COMM_WORLD that is lost, and 1: whoever waits for anything here gives up.
    lost: Count,
    /// The first operation that a rank has given up while others may have read its memory, by the round in which it told where that is. Zero: none.
    broken: Count,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Line { round, total, data }),
    reuse::SHAPE,
    shape!(Head {
        lasting,
        arrivals,
        barriers,
        shares,
        sleepers,
        sleepers_for_room,
        lost,
        broken
    }),
]);

/// The numbers of an area, alike on all its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub ranks: usize,
    /// Rounds that a rank may be ahead of the slowest; a power of two. With many, each time slice of a rank is good for many rounds in
    /// which it waits for nobody.
    pub lines: usize,
    /// The longest piece in a small ring, bytes.
    pub slot: usize,
    /// Bytes of a large ring.
    pub large: usize,
}

impl Geometry {
    /// Of a communicator with so many ranks on this node.
    pub fn of(ranks: usize) -> Geometry {
        let (slot, large) = match ranks {
            0..=4 => (16 << 10, 2 << 20),
            // With room for the last elements of uneven parts of 1 MB.
            5..=16 => (8 << 10, (1 << 20) + (32 << 10)),
            17..=64 => (4 << 10, 512 << 10),
            _ => (2 << 10, 256 << 10),
        };
        Geometry {
            ranks,
            lines: 64,
            slot,
            large,
        }
    }

    /// Of nonblocking operations with little data, one at a time: such a one is never far ahead of itself.
    pub fn of_operation(ranks: usize) -> Geometry {
        Geometry {
            lines: 8,
            slot: UNIT,
            ..Self::of(ranks)
        }
    }

    /// Of one persistent operation in which a rank publishes so many bytes at most; `None`: not all ranks know how many. The node's areas have little memory
    /// together, and a program may have many such operations.
    pub fn of_persistent(ranks: usize, bytes: Option<usize>) -> Geometry {
        let whole = Geometry {
            lines: 8,
            ..Self::of(ranks)
        };
        let Some(bytes) = bytes else {
            return whole;
        };
        // Parts for each rank begin at lines.
        let round = bytes.saturating_add(ranks * 64 + UNIT);
        let power = |bytes: usize| bytes.checked_next_power_of_two().unwrap_or(usize::MAX);
        Geometry {
            slot: power(bytes).clamp(UNIT, whole.slot),
            large: power(round.saturating_mul(ROUNDS_OF_ONE)).min(whole.large),
            ..whole
        }
    }

    pub fn small(&self) -> usize {
        SMALL_DEPTH * self.slot
    }

    fn publisher_bytes(&self) -> usize {
        64 + self.lines * 64 + self.small()
    }

    /// Of an area, without large rings.
    pub fn bytes(&self) -> usize {
        size_of::<Head>() + (self.ranks + 1) * self.publisher_bytes()
    }

    pub(super) fn large_bytes(&self) -> usize {
        (self.ranks + 1) * (self.large + GAP)
    }
}

/// Where a publisher's data of a round lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u16);

impl Place {
    pub const INLINE: Place = Place(0);
    const LARGE: u16 = 0x8000;

    /// `at` is a multiple of [`UNIT`].
    #[inline]
    pub fn in_ring(large: bool, at: usize) -> Place {
        let unit = (at / UNIT) as u16;
        match large {
            true => Place(Self::LARGE | unit),
            false => Place(unit + 1),
        }
    }

    /// Where in its ring.
    #[cfg(test)]
    pub fn offset(self) -> usize {
        match self.0 & Self::LARGE {
            0 => usize::from(self.0 - 1) * UNIT,
            _ => usize::from(self.0 & !Self::LARGE) * UNIT,
        }
    }
}

/// A rank's view of an area.
#[derive(Clone, Copy)]
pub struct Area {
    base: *mut u8,
    offset: usize,
    /// The large rings, null: not yet.
    large: *mut u8,
    pub geometry: Geometry,
}

// SAFETY: the memory is shared between processes anyway; what may be touched when is the protocol's matter.
unsafe impl Send for Area {}
// SAFETY: as for Send.
unsafe impl Sync for Area {}

impl Area {
    /// Makes the large rings, if there are none and there is memory for them; by one rank, before it publishes that.
    pub fn make_large(&self, segment: Segment<'static>, fd: BorrowedFd<'_>) {
        let large = &self.lasting().large;
        if large.load(Ordering::Relaxed) == 0 {
            let made = allocate(segment, fd, self.geometry.large_bytes(), false);
            large.store(made.unwrap_or(0) as u64, Ordering::Relaxed);
        }
    }

    /// Looks for the large rings, after a rank has published that it has tried to make them. Whether there are some.
    pub fn open_large(&mut self, segment: Segment<'static>) -> bool {
        let offset = self.lasting().large.load(Ordering::Relaxed) as usize;
        let there = segment.dynamic(offset, self.geometry.large_bytes());
        self.large = there.unwrap_or(std::ptr::null_mut());
        there.is_some()
    }

    pub fn has_large(&self) -> bool {
        !self.large.is_null()
    }

    /// Fresh memory at these addresses, for tests.
    ///
    /// # Safety
    /// The memory has the size that `geometry` asks for, is never freed, and is used by nobody else.
    #[cfg(test)]
    pub unsafe fn renewed(base: *mut u8, geometry: Geometry) -> Area {
        // SAFETY: by the caller.
        unsafe { base.write_bytes(0, geometry.bytes()) };
        Area {
            base,
            offset: 0,
            large: std::ptr::null_mut(),
            geometry,
        }
    }

    #[cfg(test)]
    pub fn set_large(&mut self, large: *mut u8) {
        self.large = large;
    }

    #[inline]
    pub fn ranks(&self) -> usize {
        self.geometry.ranks
    }

    #[inline]
    fn head(&self) -> &Head {
        // SAFETY: `open` checked that the area is mapped, for good; atomics only.
        unsafe { &*self.base.cast::<Head>() }
    }

    #[inline]
    fn lasting(&self) -> &Lasting {
        &self.head().lasting
    }

    /// The memory of a publisher; that of the results comes after those of the ranks.
    #[inline]
    fn publisher(&self, publisher: usize) -> *mut u8 {
        assert!(publisher <= self.geometry.ranks);
        self.base
            .wrapping_add(size_of::<Head>() + publisher * self.geometry.publisher_bytes())
    }

    #[inline]
    fn line(&self, publisher: usize, round: u64) -> *mut Line {
        let line = round as usize & (self.geometry.lines - 1);
        self.publisher(publisher)
            .wrapping_add(64 + line * 64)
            .cast()
    }

    /// The data at a place: inside the publisher's memory, also where ranks that disagree about the length name another place.
    #[inline]
    fn data(&self, publisher: usize, round: u64, place: Place, bytes: usize) -> *mut u8 {
        if bytes <= INLINE {
            let line = self.line(publisher, round);
            return line.cast::<u8>().wrapping_add(64 - INLINE);
        }
        if place.0 & Place::LARGE != 0 && !self.large.is_null() {
            return self.large_data(publisher, place, bytes);
        }
        let ring = self.geometry.small();
        assert!(bytes <= ring);
        let at = (usize::from(place.0 & !Place::LARGE).saturating_sub(1) * UNIT).min(ring - bytes);
        let rings = 64 + self.geometry.lines * 64;
        self.publisher(publisher).wrapping_add(rings + at)
    }

    /// As [`Self::data`], in a large ring.
    fn large_data(&self, publisher: usize, place: Place, bytes: usize) -> *mut u8 {
        let ring = self.geometry.large;
        assert!(publisher <= self.geometry.ranks && bytes <= ring && !self.large.is_null());
        let at = (usize::from(place.0 & !Place::LARGE) * UNIT).min(ring - bytes);
        self.large.wrapping_add(publisher * (ring + GAP) + at)
    }

    #[inline]
    fn round_of(&self, publisher: usize, round: u64) -> &AtomicU64 {
        // SAFETY: inside the area by `publisher`; an atomic.
        unsafe { &*std::ptr::addr_of!((*self.line(publisher, round)).round) }
    }

    #[inline]
    fn total(&self, publisher: usize, round: u64) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { &*std::ptr::addr_of!((*self.line(publisher, round)).total) }
    }

    /// Lets `fill` write data to a place.
    ///
    /// # Safety
    /// All have acknowledged the rounds whose data was there, and this rank alone writes for this publisher in this round.
    #[inline]
    pub unsafe fn fill<T>(
        &self,
        publisher: usize,
        round: u64,
        (place, bytes): (Place, usize),
        fill: impl FnOnce(&mut [u8]) -> T,
    ) -> T {
        let data = self.data(publisher, round, place, bytes);
        // SAFETY: inside the area; nobody reads or writes it now, by the caller.
        fill(unsafe { std::slice::from_raw_parts_mut(data, bytes) })
    }

    /// As [`Area::fill`], a share of results in a large ring, from `at` on.
    ///
    /// # Safety
    /// As there, of this share.
    pub unsafe fn fill_share(
        &self,
        publisher: usize,
        place: Place,
        (at, bytes): (usize, usize),
        fill: impl FnOnce(&mut [u8]),
    ) {
        let data = self
            .large_data(publisher, place, at + bytes)
            .wrapping_add(at);
        // SAFETY: inside the area; nobody reads or writes it now, by the caller.
        fill(unsafe { std::slice::from_raw_parts_mut(data, bytes) })
    }

    /// Publishes what was filled in with these stores: the one place where data becomes visible to other ranks.
    #[inline]
    pub fn publish(&self, publisher: usize, round: u64, place: Place, total: usize, with: Stores) {
        with.finish();
        #[cfg(test)]
        super::tally::published(publisher, round);
        let word = (total as u64) << 16 | u64::from(place.0);
        self.total(publisher, round).store(word, Ordering::Relaxed);
        // Release: pairs with `is_published`; the data was written before.
        self.round_of(publisher, round)
            .store(round, Ordering::Release);
    }

    /// Whether a publisher has published its data of a round.
    #[inline]
    pub fn is_published(&self, publisher: usize, round: u64) -> bool {
        let is_so = self.round_of(publisher, round).load(Ordering::Acquire) == round;
        #[cfg(test)]
        if is_so {
            super::tally::read(publisher, round);
        }
        is_so
    }

    /// The bytes of the whole operation, as the publisher has them.
    #[inline]
    pub fn total_of(&self, publisher: usize, round: u64) -> usize {
        (self.total(publisher, round).load(Ordering::Relaxed) >> 16) as usize
    }

    /// Prefetches a line that this rank will read, whether it is published yet or not.
    #[inline]
    pub fn prefetch(&self, publisher: usize, round: u64) {
        prefetch(self.line(publisher, round).cast());
    }

    /// Published data of a round, from `at` on; `whole`: the bytes that were published.
    ///
    /// # Safety
    /// It is published ([`Area::is_published`], or all have arrived), and this rank acknowledges the round only after the last use of
    /// the result.
    #[inline]
    pub unsafe fn read(
        &self,
        publisher: usize,
        round: u64,
        whole: usize,
        (at, bytes): (usize, usize),
    ) -> &[u8] {
        #[cfg(test)]
        super::tally::read(publisher, round);
        let place = match whole <= INLINE {
            true => Place::INLINE,
            false => Place(self.total(publisher, round).load(Ordering::Relaxed) as u16),
        };
        debug_assert!(at + bytes <= whole);
        // The ranks disagree about the length: the error is the reader's to find.
        let is_small = place.0 & Place::LARGE == 0 || self.large.is_null();
        if is_small && whole > self.geometry.small() {
            return &NOTHING[..bytes];
        }
        let data = self.data(publisher, round, place, whole).wrapping_add(at);
        // SAFETY: inside the area; its owner writes it again only after this rank has acknowledged the round.
        unsafe { std::slice::from_raw_parts(data, bytes) }
    }

    /// As [`Area::read`], of results that are made in shares.
    ///
    /// # Safety
    /// As there, and the shares are made.
    pub unsafe fn read_shares(
        &self,
        publisher: usize,
        place: Place,
        (at, bytes): (usize, usize),
    ) -> &[u8] {
        let data = self.large_data(publisher, place, at + bytes);
        // SAFETY: as in `read`.
        unsafe { std::slice::from_raw_parts(data.wrapping_add(at), bytes) }
    }

    /// A share of a round's results was written with these stores. True for the last one, with which `due` are made in all.
    pub fn finish_share(&self, number: u64, due: u64, with: Stores) -> bool {
        with.finish();
        self.shares(number).finish(due)
    }

    /// This rank reads nothing any more of this round and those before.
    #[inline]
    pub fn acknowledge(&self, rank: usize, round: u64) {
        // Release: pairs with `acknowledged`; the reading is over.
        self.own(rank).acknowledged.store(round, Ordering::Release);
    }

    #[inline]
    pub fn acknowledged(&self, rank: usize) -> u64 {
        self.own(rank).acknowledged.load(Ordering::Acquire)
    }

    #[inline]
    fn own(&self, rank: usize) -> &Own {
        // SAFETY: the first line of a publisher; atomics.
        unsafe { &*self.publisher(rank).cast::<Own>() }
    }

    /// Counts this rank among those that have come to a counted round. True for the last one.
    #[inline]
    pub fn arrive(&self, number: u64) -> bool {
        let arrivals = &self.head().arrivals[number as usize % COUNTERS].0;
        // AcqRel: pairs with itself and `have_arrived`; the data of all who came before can be read.
        arrivals.fetch_add(1, Ordering::AcqRel) + 1 == self.all_arrived(number)
    }

    /// Whether all have come to a counted round.
    #[inline]
    pub fn have_arrived(&self, number: u64) -> bool {
        let arrivals = &self.head().arrivals[number as usize % COUNTERS].0;
        arrivals.load(Ordering::Acquire) >= self.all_arrived(number)
    }

    /// Arrivals when all have come. Nobody comes to a round before all have to the one that had its counter before.
    #[inline]
    fn all_arrived(&self, number: u64) -> u64 {
        number.div_ceil(COUNTERS as u64) * self.geometry.ranks as u64
    }

    /// The shares of a round, of those that are made in shares the how manyth.
    #[inline]
    pub fn shares(&self, number: u64) -> &Shares {
        &self.head().shares[number as usize % SHARED_ROUNDS]
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

    /// Tells all ranks that they wait in vain. `exposed`: the operation in which this rank lets others read its memory, if it is in one, by the
    /// round in which it has told where that is.
    #[cold]
    pub fn tell_lost(&self, world: u32, exposed: Option<u64>) {
        let Head { lost, broken, .. } = self.head();
        lost.0.store(u64::from(world) + 1, Ordering::Release);
        if let Some(round) = exposed {
            // Ranks that are already in the next operation do not hide that one gave up this one.
            let first = |known: u64| (known == 0 || round < known).then_some(round);
            let (order, read) = (Ordering::Release, Ordering::Relaxed);
            let _ = broken.0.fetch_update(order, read, first);
        }
        // SeqCst: pairs with `lost_meanwhile`; memory that this rank has let others read changes afterwards.
        fence(Ordering::SeqCst);
    }

    /// As [`Area::lost`], after reading memory that others have let this rank read in an operation: nobody had changed it before, if nobody has
    /// given up that one. A loss told by a rank that had ended it says nothing of it.
    pub fn lost_meanwhile(&self, round: u64) -> Option<u32> {
        // SeqCst: pairs with `tell_lost`.
        fence(Ordering::SeqCst);
        let broken = self.head().broken.0.load(Ordering::Acquire);
        self.lost().filter(|_| (1..=round).contains(&broken))
    }

    /// The lost rank that somebody has told of.
    pub fn lost(&self) -> Option<u32> {
        let lost = self.head().lost.0.load(Ordering::Acquire);
        lost.checked_sub(1).map(|world| world as u32)
    }

    /// This rank may go to sleep, after another look at what it waits for; until [`Area::wake_up`].
    #[inline]
    pub fn announce_sleep(&self, event: Event) {
        self.sleepers(event).fetch_add(1, Ordering::SeqCst);
    }

    #[inline]
    pub fn wake_up(&self, event: Event) {
        self.sleepers(event).fetch_sub(1, Ordering::SeqCst);
    }

    fn sleepers(&self, event: Event) -> &AtomicU64 {
        match event {
            Event::Published => &self.head().sleepers.0,
            Event::Acknowledged => &self.head().sleepers_for_room.0,
        }
    }

    /// Whether any rank may sleep, to be asked after something was stored that it may wait for. A sleeper's membarrier is the
    /// other half, as for its event count: whoever announces it later looks once more.
    #[inline]
    pub fn has_sleepers(&self, event: Event) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.sleepers(event).load(Ordering::Relaxed) != 0
    }
}

/// What ranks wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Published,
    Acknowledged,
}
