//! How long a thread looks for messages before it lets others have its core, where ranks with threads share cores.
//!
//! Whether a wait is short depends on whether the thread that is waited for runs now, on another core; nobody can say where
//! the threads of a process run. Each thread learns it from its own waits. Invariant: what was learned only chooses within the
//! limits that are given; now and then the longest is tried, or a thread that has given up would never learn that its partner
//! has got a core.

use std::cell::Cell;

/// Waits that were too long, for each one in which the longest is tried.
const TRIAL: u32 = 32;
/// How much longer than the last short wait the next may take.
const ROOM: u64 = 4;
/// Of what was learned, this part is forgotten with each short wait.
const FORGOTTEN: u64 = 16;

thread_local! {
    static OWN: Cell<Patience> = const { Cell::new(Patience { looks: 0, failures: 0 }) };
}

/// What one thread has learned.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Looks by which what is waited for is there, if it comes soon at all.
    looks: u64,
    /// Waits that were longer.
    failures: u32,
}

impl Patience {
    fn budget(self, least: u64, most: u64) -> u64 {
        match self.failures % TRIAL {
            0 => most,
            _ => self.looks.clamp(least, most),
        }
    }

    fn after_short(self, looks: u64) -> Self {
        let kept = self.looks - self.looks / FORGOTTEN;
        Self {
            looks: kept.max((looks + 1).saturating_mul(ROOM)),
            failures: 1,
        }
    }

    fn after_long(self, budget: u64) -> Self {
        Self {
            looks: self.looks.min(budget) / 2,
            failures: self.failures.wrapping_add(1),
        }
    }
}

/// How often to look in the wait that begins, from `least` to `most`.
#[inline]
pub(super) fn budget(least: u64, most: u64) -> u64 {
    OWN.get().budget(least, most)
}

/// It was over after so many looks.
#[inline]
pub(super) fn was_short(looks: u64) {
    OWN.set(OWN.get().after_short(looks));
}

/// It was not over after its budget of looks.
#[inline]
pub(super) fn was_long(budget: u64) {
    OWN.set(OWN.get().after_long(budget));
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: Patience = Patience {
        looks: 0,
        failures: 0,
    };

    #[test]
    fn a_thread_whose_waits_are_short_looks_as_long_as_they_take() {
        assert_eq!(FRESH.budget(2, 250), 250);
        let learned = FRESH.after_short(20);
        assert!((20..=84).contains(&learned.budget(2, 250)));
        assert_eq!(learned.budget(2, 30), 30);
        assert_eq!(learned.budget(100, 250), 100);
        // One wait that is long, as when another thread gets the core, does not make it give up.
        assert!(learned.after_long(learned.budget(2, 250)).budget(2, 250) >= 20);
        let shorter = (0..100).fold(learned, |patience, _| patience.after_short(1));
        assert!(shorter.budget(2, 250) <= 16);
    }

    #[test]
    fn a_thread_whose_waits_are_long_gives_up_but_for_trials() {
        let (mut patience, mut trials, mut looks) = (FRESH.after_short(1000), 0, 0);
        for _ in 0..10 * TRIAL {
            let budget = patience.budget(2, 250);
            trials += u32::from(budget == 250);
            looks += budget;
            patience = patience.after_long(budget);
        }
        assert_eq!(trials, 10 + 1); // the first for what it had learned
        assert!(looks < 250 * 11 + 250 + 2 * 10 * u64::from(TRIAL));
        // It has a partner on another core again.
        while patience.budget(2, 250) < 250 {
            patience = patience.after_long(2);
        }
        assert!(patience.after_short(30).budget(2, 250) >= 30);
    }
}
