//! What ranks count of the rounds of trays (`transport/shm/trays.rs`) that use one place, one after the other.
//!
//! A round goes so: all ranks see that there is room, fill their trays and *arrive* (or one rank fills all and *publishes* alone), the
//! round is full, whoever runs takes *shares* of the work and makes them, all is made, all ranks *pass*. Everything is counted over
//! all rounds, so that nobody sets anything back; that is what the numbers of the following round depend on. Invariant: what was
//! written before an arrival is read by whoever sees the round full, what was written for a share by whoever sees all made, and
//! nobody reads any more when there is room (models below, for loom).

use super::shape::shape;
use crate::sync::{AtomicU64, Ordering};

/// Rounds whose trays lie beside each other.
pub const DEPTH: usize = 2;
/// A round's number is above the number of shares that are taken.
const SHARE_BITS: u32 = 16;
/// Shares of a round at most.
pub const MOST_SHARES: usize = (1 << SHARE_BITS) - 1;

/// A line with one number.
#[derive(Debug)]
#[repr(C, align(64))]
struct Count(AtomicU64);

/// See the module; fresh ones are all zero.
#[derive(Debug)]
#[repr(C)]
pub struct Counts {
    /// Ranks that have filled their trays, all rounds together.
    arrivals: Count,
    /// The round whose trays are full, and how many shares of it are taken.
    work: Count,
    /// Shares that are made, all rounds together.
    made: Count,
    /// Ranks that need nothing any more, all rounds together.
    passes: Count,
    /// Bytes of the whole operation, as whoever fills the trays alone has it.
    total: Count,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape!(Counts {
    arrivals,
    work,
    made,
    passes,
    total
});

/// The last round in which a rank has filled its tray for one other; a fresh one is zero.
#[derive(Debug)]
#[repr(C)]
pub struct Filled(Count);

impl Filled {
    /// The tray is filled.
    #[inline]
    pub fn tell(&self, round: u64) {
        // Release: pairs with `is_told`.
        self.0.0.store(round, Ordering::Release);
    }

    /// Whether that was told of a round.
    #[inline]
    pub fn is_told(&self, round: u64) -> bool {
        // Acquire: pairs with `tell`.
        self.0.0.load(Ordering::Acquire) >= round
    }
}

/// The place of a round.
#[inline]
pub fn place(round: u64) -> usize {
    round as usize % DEPTH
}

/// How often the place of a round was used before it, by each of so many ranks.
#[inline]
fn before(round: u64, ranks: usize) -> u64 {
    (round - 1) / DEPTH as u64 * ranks as u64
}

impl Counts {
    /// Whether all ranks have passed what the trays of a round held before.
    #[inline]
    pub fn has_room(&self, round: u64, ranks: usize) -> bool {
        // Acquire: pairs with `pass`; the reading is over.
        self.passes.0.load(Ordering::Acquire) >= before(round, ranks)
    }

    /// This rank has filled its tray. True for the last one, after which the round is full.
    #[inline]
    pub fn arrive(&self, round: u64, ranks: usize) -> bool {
        // AcqRel: what those before have filled goes with what the last one publishes.
        let arrived = self.arrivals.0.fetch_add(1, Ordering::AcqRel) + 1;
        let last = arrived == before(round, ranks) + ranks as u64;
        if last {
            self.publish(round);
        }
        last
    }

    /// The only rank that fills trays in this round has done so.
    pub fn publish_alone(&self, round: u64, ranks: usize, total: usize) {
        self.total.0.store(total as u64, Ordering::Relaxed);
        self.count_all(ranks);
        self.publish(round);
    }

    /// By the one rank that fills or takes all, so that arrivals count the same in all rounds; before [`Counts::pass`].
    #[inline]
    pub fn count_all(&self, ranks: usize) {
        self.arrivals.0.fetch_add(ranks as u64, Ordering::Relaxed);
    }

    fn publish(&self, round: u64) {
        // Release: pairs with `is_full` and `take_share`.
        self.work.0.store(round << SHARE_BITS, Ordering::Release);
    }

    /// Whether the trays of a round are full.
    #[inline]
    pub fn is_full(&self, round: u64) -> bool {
        // Acquire: pairs with `publish`.
        self.work.0.load(Ordering::Acquire) >> SHARE_BITS == round
    }

    /// What [`Counts::publish_alone`] was told, when the round is full.
    #[inline]
    pub fn total(&self) -> usize {
        self.total.0.load(Ordering::Relaxed) as usize
    }

    /// The next share of a full round that nobody has taken.
    #[inline]
    pub fn take_share(&self, round: u64, shares: usize) -> Option<usize> {
        let work = &self.work.0;
        // Acquire, here or where the share is taken: pairs with `publish`.
        let mut seen = work.load(Ordering::Acquire);
        loop {
            let taken = seen as usize & MOST_SHARES;
            if seen >> SHARE_BITS != round || taken >= shares {
                return None;
            }
            match work.compare_exchange_weak(seen, seen + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(taken),
                Err(now) => seen = now,
            }
        }
    }

    /// A share is made. True for the last one of the round, with which `due` are made in all.
    #[inline]
    pub fn finish_share(&self, due: u64) -> bool {
        // AcqRel: pairs with itself and `is_made`; what was made can be read.
        self.made.0.fetch_add(1, Ordering::AcqRel) + 1 == due
    }

    /// Whether so many shares are made in all.
    #[inline]
    pub fn is_made(&self, due: u64) -> bool {
        // Acquire: pairs with `finish_share`.
        self.made.0.load(Ordering::Acquire) >= due
    }

    /// This rank needs nothing any more of a round. True for the last one.
    #[inline]
    pub fn pass(&self, round: u64, ranks: usize) -> bool {
        // AcqRel: pairs with `has_room`.
        let passed = self.passes.0.fetch_add(1, Ordering::AcqRel) + 1;
        passed == before(round, ranks) + ranks as u64
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    const RANKS: usize = 2;
    const SHARES: usize = 2;
    const ROUNDS: u64 = 3;
    /// What loom gets through in seconds.
    const CHANGES: usize = 2;

    /// One place: what is counted, a word for each rank's tray, and one for each share.
    struct Place {
        counts: Counts,
        trays: [UnsafeCell<u64>; RANKS],
        made: [UnsafeCell<u64>; SHARES],
    }

    /// What ranks share.
    struct Shared {
        places: [Place; DEPTH],
        filled: Filled,
    }

    // SAFETY: that nobody accesses a word while another writes it is what the models check.
    #[allow(unsafe_code)]
    unsafe impl Sync for Shared {}

    fn read(word: &UnsafeCell<u64>) -> u64 {
        #[allow(unsafe_code)]
        // SAFETY: as above; loom reports accesses at the same time.
        word.with(|word| unsafe { *word })
    }

    fn write(word: &UnsafeCell<u64>, value: u64) {
        #[allow(unsafe_code)]
        // SAFETY: as above.
        word.with_mut(|word| unsafe { *word = value });
    }

    fn wait(is_so: impl Fn() -> bool) {
        while !is_so() {
            thread::yield_now();
        }
    }

    impl Shared {
        fn new() -> Shared {
            let count = || Count(AtomicU64::new(0));
            let places = std::array::from_fn(|_| Place {
                counts: Counts {
                    arrivals: count(),
                    work: count(),
                    made: count(),
                    passes: count(),
                    total: count(),
                },
                trays: std::array::from_fn(|_| UnsafeCell::new(0)),
                made: std::array::from_fn(|_| UnsafeCell::new(0)),
            });
            let filled = Filled(count());
            Shared { places, filled }
        }

        fn at(&self, round: u64) -> &Place {
            &self.places[place(round)]
        }

        /// This rank fills its tray with a number that tells round and rank.
        fn lay_out(&self, me: usize, round: u64) {
            let place = self.at(round);
            wait(|| place.counts.has_room(round, RANKS));
            write(&place.trays[me], 10 * round + me as u64);
            place.counts.arrive(round, RANKS);
        }

        /// Makes what shares it gets of a round, without a look whether it is full.
        fn make(&self, round: u64, shares: usize, due: u64) {
            let place = self.at(round);
            while let Some(share) = place.counts.take_share(round, shares) {
                let sum: u64 = place.trays.iter().map(read).sum();
                assert_eq!(sum, 20 * round + 1);
                write(&place.made[share], sum);
                place.counts.finish_share(due);
            }
        }

        fn take(&self, round: u64, shares: usize, due: u64) {
            let place = self.at(round);
            wait(|| place.counts.is_made(due));
            for share in &place.made[..shares] {
                assert_eq!(read(share), 20 * round + 1);
            }
            place.counts.pass(round, RANKS);
        }

        /// Reads all trays of a full round.
        fn take_all(&self, round: u64) {
            let place = self.at(round);
            assert_eq!(place.trays.iter().map(read).sum::<u64>(), 20 * round + 1);
            place.counts.pass(round, RANKS);
        }

        /// A round of which one rank fills the trays for all; the other one does not look for room.
        fn fill_alone(&self, me: usize, round: u64, filler: usize) {
            let place = self.at(round);
            let total = 100 + round as usize;
            if me == filler {
                wait(|| place.counts.has_room(round, RANKS));
                write(&place.trays[0], round);
                place.counts.publish_alone(round, RANKS, total);
            } else {
                wait(|| place.counts.is_full(round));
                assert_eq!(place.counts.total(), total);
            }
            assert_eq!(read(&place.trays[0]), round);
            place.counts.pass(round, RANKS);
        }

        /// A round in which rank 0 takes what rank 1 fills.
        fn fill_for_one(&self, me: usize, round: u64) {
            let place = self.at(round);
            if me == 0 {
                wait(|| place.counts.has_room(round, RANKS) && self.filled.is_told(round));
                assert_eq!(read(&place.trays[1]), round);
                place.counts.count_all(RANKS);
            } else {
                wait(|| place.counts.has_room(round, RANKS));
                write(&place.trays[1], round);
                self.filled.tell(round);
            }
            place.counts.pass(round, RANKS);
        }
    }

    /// Runs what a rank does, for both; every interleaving with [`CHANGES`] that no wait asks for, and every old value that the
    /// orderings allow to be seen.
    fn explore(rank: fn(&Shared, usize)) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(CHANGES);
        builder.check(move || {
            let shared = Arc::new(Shared::new());
            let other = shared.clone();
            let thread = thread::spawn(move || rank(&other, 1));
            rank(&shared, 0);
            thread.join().unwrap();
        });
    }

    /// All rounds, each laid out before the one before it is taken.
    fn rounds(shared: &Shared, me: usize, take: impl Fn(u64)) {
        shared.lay_out(me, 1);
        for round in 1..=ROUNDS {
            if round < ROUNDS {
                shared.lay_out(me, round + 1);
            }
            let counts = &shared.at(round).counts;
            wait(|| counts.is_full(round));
            take(round);
        }
    }

    #[test]
    fn shares_are_made_by_one_for_all() {
        explore(|shared, me| {
            rounds(shared, me, |round| {
                let due = 1 + (round - 1) / DEPTH as u64;
                shared.make(round, 1, due);
                shared.take(round, 1, due);
            });
        });
    }

    #[test]
    fn trays_are_read_by_all_and_filled_again() {
        explore(|shared, me| {
            rounds(shared, me, |round| shared.take_all(round));
        });
    }

    /// A rank that makes shares has not looked whether the round is full.
    #[test]
    fn shares_are_taken_of_full_rounds_only() {
        explore(|shared, me| {
            shared.lay_out(me, 1);
            shared.make(1, SHARES, 2);
            shared.take(1, SHARES, 2);
        });
    }

    /// One rank fills trays alone in the first rounds, another one in the second, all in the last.
    #[test]
    fn one_after_the_other_fills_the_trays_alone() {
        explore(|shared, me| {
            shared.fill_alone(me, 1, 0);
            shared.fill_alone(me, 2, 1);
            shared.lay_out(me, 3);
            wait(|| shared.at(3).counts.is_full(3));
            shared.take_all(3);
        });
    }

    #[test]
    fn one_fills_the_trays_alone_again() {
        explore(|shared, me| {
            for round in 1..=ROUNDS {
                shared.fill_alone(me, round, 0);
            }
        });
    }

    #[test]
    fn trays_are_filled_for_one() {
        explore(|shared, me| {
            for round in 1..=ROUNDS {
                shared.fill_for_one(me, round);
            }
        });
    }

    #[test]
    fn arrivals_count_the_same_in_all_rounds() {
        explore(|shared, me| {
            shared.fill_for_one(me, 1);
            shared.fill_alone(me, 2, 1);
            shared.lay_out(me, 3);
            wait(|| shared.at(3).counts.is_full(3));
            shared.take_all(3);
        });
    }
}
