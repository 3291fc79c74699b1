//! Adaptive spin limit: polls of a wait before it yields its core, where ranks with threads share cores.
//!
//! Whether a wait is short depends on whether the awaited thread runs now, on another core, which is unknown. Each thread
//! learns from its own waits. Invariant: a learned limit lies between the bounds that are given; now and then the longest is
//! tried, or a thread that has given up would never learn that its partner has got a core.

use std::cell::Cell;

/// Of so many waits that were too long, one tries the longest limit.
const TRIAL: u32 = 32;
/// Factor by which the next wait may be longer than the last short one.
const MARGIN: u64 = 4;
/// The limit shrinks by this part of itself with each short wait.
const FORGOTTEN: u64 = 16;

thread_local! {
    static OWN: Cell<SpinLimit> = const { Cell::new(SpinLimit { polls: 0, failures: 0 }) };
}

/// What one thread has learned.
#[derive(Clone, Copy, Debug)]
struct SpinLimit {
    /// Polls after which a short wait is over.
    polls: u64,
    /// Waits that were longer.
    failures: u32,
}

impl SpinLimit {
    fn budget(self, least: u64, most: u64) -> u64 {
        match self.failures % TRIAL {
            0 => most,
            _ => self.polls.clamp(least, most),
        }
    }

    fn after_short(self, polls: u64) -> Self {
        let remembered = self.polls - self.polls / FORGOTTEN;
        Self {
            polls: remembered.max((polls + 1).saturating_mul(MARGIN)),
            failures: 1,
        }
    }

    fn after_long(self, budget: u64) -> Self {
        Self {
            polls: self.polls.min(budget) / 2,
            failures: self.failures.wrapping_add(1),
        }
    }
}

/// Polls of the wait that begins, from `least` to `most`.
#[inline]
pub(super) fn budget(least: u64, most: u64) -> u64 {
    OWN.get().budget(least, most)
}

/// The wait was over after so many polls.
#[inline]
pub(super) fn was_short(polls: u64) {
    OWN.set(OWN.get().after_short(polls));
}

/// The wait was not over after so many polls.
#[inline]
pub(super) fn was_long(budget: u64) {
    OWN.set(OWN.get().after_long(budget));
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: SpinLimit = SpinLimit {
        polls: 0,
        failures: 0,
    };

    #[test]
    fn a_thread_whose_waits_are_short_polls_as_long_as_they_take() {
        assert_eq!(FRESH.budget(2, 250), 250);
        let learned = FRESH.after_short(20);
        assert!((20..=84).contains(&learned.budget(2, 250)));
        assert_eq!(learned.budget(2, 30), 30);
        assert_eq!(learned.budget(100, 250), 100);
        // One wait that is long, as when another thread gets the core, does not make it give up.
        assert!(learned.after_long(learned.budget(2, 250)).budget(2, 250) >= 20);
        let shorter = (0..100).fold(learned, |limit, _| limit.after_short(1));
        assert!(shorter.budget(2, 250) <= 16);
    }

    #[test]
    fn a_thread_whose_waits_are_long_gives_up_but_for_trials() {
        let (mut limit, mut trials, mut polls) = (FRESH.after_short(1000), 0, 0);
        for _ in 0..10 * TRIAL {
            let budget = limit.budget(2, 250);
            trials += u32::from(budget == 250);
            polls += budget;
            limit = limit.after_long(budget);
        }
        assert_eq!(trials, 10 + 1); // the first for what it had learned
        assert!(polls < 250 * 11 + 250 + 2 * 10 * u64::from(TRIAL));
        // It has a partner on another core again.
        while limit.budget(2, 250) < 250 {
            limit = limit.after_long(2);
        }
        assert!(limit.after_short(30).budget(2, 250) >= 30);
    }
}
