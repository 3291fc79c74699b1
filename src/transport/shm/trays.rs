//! Trays: memory of the segment in which the ranks of one communicator that share cores lay out large data, piece by piece.
//!
//! Each rank has a tray for its part of a piece, and there is one more for what they make of all parts: any rank that runs takes
//! the next *share* of that work, so that nobody waits for a rank that does not run. Pieces are numbered rounds, the same on
//! all ranks; those of [`DEPTH`] following rounds lie beside each other. Invariant: trays are filled again only when all ranks
//! have passed the round that they held.
#![allow(unsafe_code)]

use super::layout::Segment;
use crate::queue::rounds::{Counts, DEPTH, Filled, MOST_SHARES, place};

/// The trays of one round together, about what the own caches of two cores hold. Smaller ones
/// cost more turns (benches/counts.md).
const ROUND_BYTES: usize = 2 << 20;
/// A longer tray makes fewer turns, which are few anyway.
const LONGEST_TRAY: usize = 256 << 10;
/// The longest tray of what one rank lays out for all.
const LONGEST_WHOLE: usize = 512 << 10;
/// All trays together where each has a piece for each rank: nothing in them is read twice, and turns matter more.
const EXCHANGE_BYTES: usize = 4 << 20;
/// What one rank has for another in such a round at most.
const LONGEST_PIECE: usize = 128 << 10;
/// Between two trays: their lines are not to meet in the same sets of a cache.
const GAP: usize = 320;

/// What trays are for.
#[derive(Clone, Copy)]
pub enum Service {
    /// One part of each rank, and what is made of them.
    Parts,
    /// From each rank one piece for each.
    Exchange,
}

/// All of them.
pub const SERVICES: [Service; 2] = [Service::Parts, Service::Exchange];

/// How many trays there are in a round, and how long each is.
#[derive(Clone, Copy)]
struct Size {
    trays: usize,
    tray_bytes: usize,
}

impl Size {
    fn of(service: Service, ranks: usize) -> Size {
        match service {
            Service::Parts => {
                let fair = (ROUND_BYTES / ranks).min(LONGEST_TRAY);
                Size {
                    trays: ranks + 1,
                    tray_bytes: 1 << fair.ilog2(),
                }
            }
            Service::Exchange => {
                let fair = (EXCHANGE_BYTES / (ranks * ranks)).min(LONGEST_PIECE);
                Size {
                    trays: ranks,
                    tray_bytes: ranks << fair.ilog2(),
                }
            }
        }
    }

    /// Bytes of one round.
    fn place_bytes(self) -> usize {
        self.trays * (self.tray_bytes + GAP)
    }

    /// Bytes of what is counted.
    fn counts_bytes(ranks: usize) -> usize {
        DEPTH * size_of::<Counts>() + ranks * size_of::<Filled>()
    }

    /// Bytes of all rounds and what is counted of them.
    fn bytes(self, ranks: usize) -> usize {
        Self::counts_bytes(ranks) + DEPTH * self.place_bytes()
    }
}

/// A rank's view of the trays.
pub struct Trays {
    base: *mut u8,
    ranks: usize,
    service: Service,
    size: Size,
    /// The last round that was begun.
    round: u64,
    /// What `made` comes to when all shares of the last round in each place are made.
    made: [u64; DEPTH],
}

// SAFETY: the memory is shared between processes anyway; what may be touched when is the protocol's matter.
unsafe impl Send for Trays {}

/// Bytes of the trays of so many ranks.
pub fn bytes(service: Service, ranks: usize) -> usize {
    Size::of(service, ranks).bytes(ranks)
}

impl Trays {
    /// Makes trays fresh ones again.
    ///
    /// # Safety
    /// All ranks have left them: none uses them any more, and none opens them before this returns.
    pub unsafe fn renew(segment: Segment<'static>, offset: usize, service: Service, ranks: usize) {
        if let Some(base) = segment.dynamic(offset, bytes(service, ranks)) {
            // SAFETY: mapped, and nobody uses it, by the caller; zeros are valid.
            unsafe { base.write_bytes(0, Size::counts_bytes(ranks)) };
        }
    }

    /// The trays at an offset that another rank told; `None` if none can be there.
    pub fn open(
        segment: Segment<'static>,
        offset: usize,
        service: Service,
        ranks: usize,
    ) -> Option<Trays> {
        let size = Size::of(service, ranks);
        let base = segment.dynamic(offset, size.bytes(ranks))?;
        Some(Trays {
            base,
            ranks,
            service,
            size,
            round: 0,
            made: [0; DEPTH],
        })
    }

    /// What they are for.
    pub fn service(&self) -> Service {
        self.service
    }

    /// Bytes of a rank's part of a round.
    pub fn tray_bytes(&self) -> usize {
        self.size.tray_bytes
    }

    /// The longest piece of what one rank lays out alone, in the place of all trays.
    pub fn whole_bytes(&self) -> usize {
        LONGEST_WHOLE.min(self.size.place_bytes())
    }

    #[inline]
    fn counts(&self, round: u64) -> &Counts {
        // SAFETY: `open` checked that the trays are mapped, for good; atomics only.
        unsafe { &*self.base.cast::<Counts>().add(place(round)) }
    }

    /// Of a rank that fills its tray for one other.
    #[inline]
    fn filled(&self, rank: usize) -> &Filled {
        assert!(rank < self.ranks);
        let behind = self.base.wrapping_add(DEPTH * size_of::<Counts>());
        // SAFETY: behind the counts of the rounds, as `counts_bytes` says; atomics only.
        unsafe { &*behind.cast::<Filled>().add(rank) }
    }

    /// Where a rank's tray begins, or behind those of all ranks that of what is made.
    #[inline]
    fn tray(&self, rank: usize, round: u64, bytes: usize) -> *mut u8 {
        let at = rank * (self.size.tray_bytes + GAP);
        let whole = self.size.place_bytes();
        assert!(rank < self.size.trays && bytes <= whole - at);
        self.base
            .wrapping_add(Size::counts_bytes(self.ranks) + place(round) * whole + at)
    }

    /// The number of the round that is begun next.
    pub fn next(&self) -> u64 {
        self.round + 1
    }

    /// The next round, in which so many shares are to be made. All ranks begin all rounds alike.
    pub fn begin(&mut self, shares: usize) -> u64 {
        assert!(shares <= MOST_SHARES);
        self.round += 1;
        self.made[place(self.round)] += shares as u64;
        self.round
    }

    /// Whether all ranks have passed what the trays of a round held before.
    #[inline]
    pub fn has_room(&self, round: u64) -> bool {
        self.counts(round).has_room(round, self.ranks)
    }

    /// Lets `fill` write to the tray of a rank from `at` on.
    ///
    /// # Safety
    /// There is room in this round ([`Trays::has_room`]), and nobody else writes or reads there.
    #[inline]
    pub unsafe fn fill(
        &self,
        rank: usize,
        round: u64,
        (at, bytes): (usize, usize),
        fill: impl FnOnce(&mut [u8]),
    ) {
        let data = self.tray(rank, round, at + bytes).wrapping_add(at);
        // SAFETY: inside the trays; nobody reads or writes it now, by the caller.
        fill(unsafe { std::slice::from_raw_parts_mut(data, bytes) });
    }

    /// This rank has filled its tray. True for the last one, after which the round is full.
    #[inline]
    pub fn arrive(&self, round: u64) -> bool {
        self.counts(round).arrive(round, self.ranks)
    }

    /// This rank has filled its tray in a round of which one rank takes all.
    #[inline]
    pub fn tell_filled(&self, me: usize, round: u64) {
        self.filled(me).tell(round);
    }

    /// Whether a rank has.
    #[inline]
    pub fn has_filled(&self, rank: usize, round: u64) -> bool {
        self.filled(rank).is_told(round)
    }

    /// By the one rank that fills or takes all, so that arrivals count the same in all rounds; before [`Trays::pass`].
    pub fn count_all(&self, round: u64) {
        self.counts(round).count_all(self.ranks);
    }

    /// The only rank that fills trays in this round has done so.
    pub fn publish_alone(&self, round: u64, total: usize) {
        self.counts(round).publish_alone(round, self.ranks, total);
    }

    /// Whether the trays of a round are full.
    #[inline]
    pub fn is_full(&self, round: u64) -> bool {
        self.counts(round).is_full(round)
    }

    /// What [`Trays::publish_alone`] was told.
    pub fn total(&self, round: u64) -> usize {
        self.counts(round).total()
    }

    /// What a tray holds, from `at` on, or what was made.
    ///
    /// # Safety
    /// The round is full (of what was made: it is made), and this rank says [`Trays::pass`] only after the last use of the result.
    #[inline]
    pub unsafe fn read(&self, rank: usize, round: u64, (at, bytes): (usize, usize)) -> &[u8] {
        let data = self.tray(rank, round, at + bytes).wrapping_add(at);
        // SAFETY: inside the trays; filled again only after this rank has passed the round.
        unsafe { std::slice::from_raw_parts(data, bytes) }
    }

    /// The next share of a full round that nobody has taken.
    pub fn take_share(&self, round: u64, shares: usize) -> Option<usize> {
        self.counts(round).take_share(round, shares)
    }

    /// A share is made. True for the last one of the round.
    pub fn finish_share(&self, round: u64) -> bool {
        self.counts(round).finish_share(self.made[place(round)])
    }

    /// Whether all shares of a round, one of the last [`DEPTH`], are made.
    #[inline]
    pub fn is_made(&self, round: u64) -> bool {
        self.counts(round).is_made(self.made[place(round)])
    }

    /// This rank needs nothing any more of a round. True for the last one.
    #[inline]
    pub fn pass(&self, round: u64) -> bool {
        self.counts(round).pass(round, self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout::{initialise, segment_bytes};
    use std::os::fd::AsFd;

    #[test]
    fn each_share_is_taken_once_and_trays_are_filled_again_when_all_have_passed() {
        let fd = memory::create("test", segment_bytes(3), false).unwrap();
        initialise(fd.as_fd(), 3).unwrap();
        let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, 3).unwrap();
        let offset = segment
            .allocate(fd.as_fd(), bytes(Service::Parts, 3))
            .unwrap();
        let open = |offset| Trays::open(segment, offset, Service::Parts, 3);
        let mut all: Vec<Trays> = (0..3).map(|_| open(offset).unwrap()).collect();
        for step in 0..5 * DEPTH {
            let shares = 1 + step % 3;
            let mut full = 0;
            for (me, trays) in all.iter_mut().enumerate() {
                let round = trays.begin(shares);
                assert!(trays.has_room(round) && !trays.is_full(round));
                // SAFETY: one thread; there is room, and nothing is read now.
                unsafe { trays.fill(me, round, (64, 100), |data| data.fill((step + me) as u8)) };
                full += usize::from(trays.arrive(round));
            }
            assert_eq!(full, 1);
            let round = all[0].round;
            let mut taken = Vec::new();
            while let Some(share) = all[taken.len() % 3].take_share(round, shares) {
                assert!(!all[0].is_made(round));
                assert_eq!(all[1].finish_share(round), taken.len() + 1 == shares);
                taken.push(share);
            }
            assert_eq!(taken, (0..shares).collect::<Vec<_>>());
            assert!(all[2].is_made(round));
            for (me, trays) in all.iter().enumerate() {
                let next = round + DEPTH as u64;
                assert!(!trays.has_room(next));
                // SAFETY: the round is full, and nothing is written now.
                let read = unsafe { trays.read(2, round, (64, 100)) };
                assert_eq!(read, [(step + 2) as u8; 100]);
                assert_eq!(trays.pass(round), me == 2);
            }
            assert!(all[0].has_room(round + DEPTH as u64));
        }
        for trays in &mut all {
            trays.begin(0);
        }
        let round = all[0].round;
        all[1].publish_alone(round, 77);
        assert!(all[2].is_full(round) && all[2].is_made(round) && all[0].total(round) == 77);
        // One takes all.
        let round = all[0].next();
        for trays in &mut all {
            trays.begin(0);
        }
        all[2].tell_filled(2, round);
        assert!(all[0].has_filled(2, round) && !all[0].has_filled(1, round));
        all[0].count_all(round);
        assert!(!all[1].is_full(round) && !all[1].has_filled(2, round + 1));
        let round = round + DEPTH as u64;
        assert!((1..=DEPTH).all(|_| all.iter_mut().all(|trays| trays.begin(0) <= round)));
        assert!(!all[0].arrive(round) && !all[1].arrive(round) && all[2].arrive(round));
        // SAFETY: those above are used no more.
        unsafe { Trays::renew(segment, offset, Service::Parts, 3) };
        assert!(!open(offset).unwrap().has_filled(2, 1));
        assert!(!open(offset).unwrap().is_full(round));
        assert!(open(64).is_none());
    }
}
