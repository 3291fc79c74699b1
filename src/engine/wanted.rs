//! Looks that mpiexec wants of a wait, to prove that it will never end (`docs/verdict.md`): one at all engines, and two liveness checks that put
//! nothing off.
//!
//! Invariant: what is owed once is tried some times and not for ever, for a process that always has something under way never has a whole look.

use crate::transport::wanted;
use std::time::Duration;

/// How often a wait tries to look everywhere: other threads may be in the way.
const TRIES: u32 = 20;
/// Between two tries.
pub(super) const BETWEEN_TRIES: Duration = Duration::from_millis(10);
/// Liveness checks in a row; see the rules of the proof.
pub(super) const CHECKS: u32 = 2;

/// What a wait owes.
pub(super) struct Wanted {
    /// What [`wanted::count`] was.
    seen: u32,
    tries: u32,
    has_checked: bool,
}

impl Wanted {
    /// Of a wait that begins; before it is published, for only those that are published are asked.
    pub(super) fn begin() -> Wanted {
        Wanted {
            seen: wanted::count(),
            tries: 0,
            has_checked: false,
        }
    }

    /// Whether mpiexec has asked since the last call of [`Wanted::is_due`].
    pub(super) fn is_new(&self) -> bool {
        wanted::count() != self.seen
    }

    /// Whether checks are to be made now that put nothing off; counts as a try.
    pub(super) fn is_due(&mut self) -> bool {
        let now = wanted::count();
        if now != self.seen {
            *self = Wanted {
                seen: now,
                tries: TRIES,
                has_checked: false,
            };
        }
        let is_due = self.tries > 0;
        self.tries = self.tries.saturating_sub(1);
        is_due
    }

    /// They were made, and whether all of them count.
    pub(super) fn checked(&mut self, count: bool) {
        self.has_checked |= count;
    }

    /// A look was made, after the checks, that counts.
    pub(super) fn looked(&mut self) {
        if self.has_checked {
            self.tries = 0;
        }
    }

    /// Whether the wait is to try again soon.
    pub(super) fn is_owed(&self) -> bool {
        self.tries > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicU32, Ordering};

    #[test]
    fn what_is_wanted_is_tried_until_it_was_done_but_not_for_ever() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        wanted::wanted_by(&COUNT);
        let mut wanted = Wanted::begin();
        assert!(!wanted.is_new() && !wanted.is_due() && !wanted.is_owed());
        COUNT.fetch_add(1, Ordering::Relaxed);
        assert!(wanted.is_new() && wanted.is_due() && !wanted.is_new());
        // Somebody was in the way of a check.
        wanted.checked(false);
        wanted.looked();
        assert!(wanted.is_owed() && wanted.is_due());
        wanted.checked(true);
        assert!(wanted.is_owed());
        wanted.looked();
        assert!(!wanted.is_owed() && !wanted.is_due());
        // One that begins later was not asked.
        assert!(!Wanted::begin().is_due());
        COUNT.fetch_add(1, Ordering::Relaxed);
        let tries = (0..2 * TRIES).filter(|_| wanted.is_due()).count();
        assert_eq!(tries, TRIES as usize);
    }
}
