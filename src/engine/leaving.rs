//! Peers of the fabric that are in MPI_Finalize: when their last messages have come.
//!
//! A rank says that it is in MPI_Finalize after its sends are complete, so ranks that share its memory find all of them with one more look. Over
//! the fabric that word can be faster than a message, and a poll that finds nothing may have moved a message on within the provider.

use crate::os::monotonic_nanoseconds;
use std::cell::RefCell;

/// Nanoseconds for which messages of such a rank are still waited for.
const ON_THEIR_WAY: u64 = 1_000_000_000;
/// After so many nanoseconds without a look a wait is a new one.
const ANOTHER_WAIT: u64 = 2_000_000_000;

struct Seen {
    process: u32,
    /// When a wait saw first and last that it is in MPI_Finalize.
    first: u64,
    last: u64,
}

/// The peers that waits have seen in MPI_Finalize.
#[derive(Default)]
pub(super) struct Leaving(RefCell<Vec<Seen>>);

impl Leaving {
    /// Whether messages of a process that is in MPI_Finalize may still be on their way.
    pub fn may_still_send(&self, process: u32) -> bool {
        self.may_send_at(process, monotonic_nanoseconds())
    }

    fn may_send_at(&self, process: u32, now: u64) -> bool {
        let mut all = self.0.borrow_mut();
        all.retain(|seen| now - seen.last < ANOTHER_WAIT);
        match all.iter_mut().find(|seen| seen.process == process) {
            Some(seen) => {
                seen.last = now;
                now - seen.first < ON_THEIR_WAY
            }
            None => {
                all.push(Seen {
                    process,
                    first: now,
                    last: now,
                });
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_waited_for_for_a_while_in_each_wait() {
        let leaving = Leaving::default();
        let half = ON_THEIR_WAY / 2;
        assert!(leaving.may_send_at(3, 0) && leaving.may_send_at(3, half));
        // Another process has a time of its own.
        assert!(leaving.may_send_at(4, half));
        assert!(!leaving.may_send_at(3, 2 * half) && leaving.may_send_at(4, 2 * half));
        assert!(!leaving.may_send_at(3, 3 * half));
        // A later wait, perhaps for what a session does after MPI_Finalize.
        assert!(leaving.may_send_at(3, 3 * half + ANOTHER_WAIT));
    }
}
