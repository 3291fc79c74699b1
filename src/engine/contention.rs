//! Whether programs outside the job want this process's cores, on a node with a core for each rank.
//!
//! A thread that spins uses up its time slice. Where another program competes for the core, the kernel then lets that
//! program run for milliseconds while the awaited message is already there. A thread that sleeps keeps its claim and runs as
//! soon as it is woken. A yield that takes long shows that another program had the core. Invariant: this changes only how a
//! wait spends its time, never what it waits for. Without effect where `OXMPI_SLEEP_AFTER` is set.

use crate::os::turns::CONTENDED_POLLS;
use crate::sync::{AtomicU32, Ordering};

/// Nanoseconds. A yield to nobody takes less than a microsecond; one to a program that computes takes its time slice.
const LONG_YIELD: u64 = 500_000;
/// Long waits for which one long yield counts. Afterwards a wait spins again: one time slice is lost if the others are still
/// there.
const WAITS: u32 = 1_000;

/// Long waits left for which the cores count as contended.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Polls of a wait before it becomes a long one, at most `most`.
#[inline]
pub(super) fn limit(most: u64) -> u64 {
    match LEFT.load(Ordering::Relaxed) {
        0 => most,
        _ => most.min(CONTENDED_POLLS),
    }
}

/// A long wait begins. Returns whether it is to sleep at once.
pub(super) fn count() -> bool {
    let left = LEFT.load(Ordering::Relaxed);
    // Threads that count at the same time may count one wait for two.
    LEFT.store(left.saturating_sub(1), Ordering::Relaxed);
    left > 0
}

/// A yield took so many nanoseconds. Returns whether another program had the core.
pub(super) fn note_yield(nanoseconds: u64) -> bool {
    let long = nanoseconds > LONG_YIELD;
    if long {
        LEFT.store(WAITS, Ordering::Relaxed);
    }
    long
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_yield_counts_for_some_waits() {
        assert_eq!(limit(20_000), 20_000);
        assert!(!note_yield(LONG_YIELD) && !count());
        assert_eq!(limit(20_000), 20_000);
        assert!(note_yield(LONG_YIELD + 1));
        assert_eq!((limit(20_000), limit(2)), (CONTENDED_POLLS, 2));
        for _ in 0..WAITS {
            assert!(count());
        }
        assert!(!count());
        assert_eq!(limit(20_000), 20_000);
    }
}
