//! Shares of the work of a round, taken by whichever rank runs.
//!
//! The rank that comes last to a round opens its shares, running ranks take and make them, and a share that is made can be read by all.
//! Everything is counted over all rounds, so that nobody sets anything back. Invariants: what was written before the shares were opened
//! is read by whoever takes one, what was made for a share by whoever sees all made (models below, for loom).

use crate::queue::shape::shape;
use crate::sync::{AtomicU64, Ordering};

/// A round's number is above the number of shares that are taken.
const SHARE_BITS: u32 = 16;
/// Shares of a round at most.
pub const MOST_SHARES: usize = (1 << SHARE_BITS) - 1;

/// A line with one number.
#[derive(Debug)]
#[repr(C, align(64))]
struct Count(AtomicU64);

/// See the module; fresh ones are zero.
#[derive(Debug)]
#[repr(C)]
pub struct Shares {
    /// The round whose shares are open, and how many are taken.
    work: Count,
    /// Shares that are made, all rounds together.
    made: Count,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape!(Shares { work, made });

impl Shares {
    /// Opens those of a round, which all have come to.
    #[inline]
    pub fn open(&self, round: u64) {
        // Release: pairs with `take`.
        self.work.0.store(round << SHARE_BITS, Ordering::Release);
    }

    /// The next share of an open round that nobody has taken.
    #[inline]
    pub fn take(&self, round: u64, shares: usize) -> Option<usize> {
        let work = &self.work.0;
        // Acquire, here or where the share is taken: pairs with `open`.
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

    /// A share is made. True for the last one, with which `due` are made in all.
    #[inline]
    pub fn finish(&self, due: u64) -> bool {
        // AcqRel: pairs with itself and `are_made`; what was made can be read.
        self.made.0.fetch_add(1, Ordering::AcqRel) + 1 == due
    }

    /// Whether so many shares are made in all.
    #[inline]
    pub fn are_made(&self, due: u64) -> bool {
        // Acquire: pairs with `finish`.
        self.made.0.load(Ordering::Acquire) >= due
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    const RANKS: u64 = 2;
    const SHARES: usize = 2;
    const ROUNDS: u64 = 3;
    /// What loom gets through in seconds.
    const CHANGES: usize = 2;

    /// Two ranks, what each gives, and what is made of it.
    struct Shared {
        shares: Shares,
        arrivals: AtomicU64,
        acknowledgements: AtomicU64,
        given: [UnsafeCell<u64>; RANKS as usize],
        made: [UnsafeCell<u64>; SHARES],
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

    /// Every interleaving with [`CHANGES`] that no wait asks for, and every old value that the orderings allow to be seen.
    #[test]
    fn shares_are_made_once_of_what_all_gave_and_read_by_all() {
        let rank = |shared: &Shared, me: u64| {
            for round in 1..=ROUNDS {
                write(&shared.given[me as usize], 10 * round + me);
                if shared.arrivals.fetch_add(1, Ordering::AcqRel) + 1 == round * RANKS {
                    shared.shares.open(round);
                }
                let due = round * SHARES as u64;
                while !shared.shares.are_made(due) {
                    match shared.shares.take(round, SHARES) {
                        Some(share) => {
                            let sum: u64 = shared.given.iter().map(read).sum();
                            assert_eq!(sum, 20 * round + 1);
                            write(&shared.made[share], sum + share as u64);
                            shared.shares.finish(due);
                        }
                        None => thread::yield_now(),
                    }
                }
                for (share, made) in shared.made.iter().enumerate() {
                    assert_eq!(read(made), 20 * round + 1 + share as u64);
                }
                shared.acknowledgements.fetch_add(1, Ordering::AcqRel);
                wait(|| shared.acknowledgements.load(Ordering::Acquire) >= round * RANKS);
            }
        };
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(CHANGES);
        builder.check(move || {
            let count = || Count(AtomicU64::new(0));
            let shared = Arc::new(Shared {
                shares: Shares {
                    work: count(),
                    made: count(),
                },
                arrivals: AtomicU64::new(0),
                acknowledgements: AtomicU64::new(0),
                given: std::array::from_fn(|_| UnsafeCell::new(0)),
                made: std::array::from_fn(|_| UnsafeCell::new(0)),
            });
            let other = shared.clone();
            let thread = thread::spawn(move || rank(&other, 1));
            rank(&shared, 0);
            thread.join().unwrap();
        });
    }
}
