//! A thread of the library's own that enters an engine: it makes progress there and answers what comes in, while the program computes.
//!
//! It runs no task and calls nothing of the program's. Invariant: it polls once more after each announcement and before each sleep.

use super::liveness::interval;
use super::long_wait::{BOUNDED_SLEEP, are_blocked};
use super::{Engine, WAITER, enter};
use crate::os::schedule;
use crate::os::turns::YIELDS;

/// What a turn of such a thread came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Something happened.
    Moved,
    /// There was nothing to do.
    Idle,
    /// The thread ends.
    Over,
}

/// Calls `turn`, which enters the engine for itself, again and again; sleeps while there is nothing to do, at most as long as there is
/// between two liveness checks.
pub fn attend(mut turn: impl FnMut() -> Turn) {
    let mut idle = 0;
    loop {
        match turn() {
            Turn::Over => return,
            Turn::Moved => {
                idle = 0;
                continue;
            }
            Turn::Idle => idle += 1,
        }
        if idle < YIELDS {
            schedule::yield_now();
            continue;
        }
        let Some(waiter) = WAITER.get() else {
            continue;
        };
        let (blocked, sure) = are_blocked();
        let sleeper = waiter.announce(1);
        match turn() {
            Turn::Over => return,
            Turn::Moved => {
                idle = 0;
                continue;
            }
            Turn::Idle => {}
        }
        if !enter().transport.may_sleep() {
            continue;
        }
        let limit = match blocked || !sure || waiter.is_always_ready() {
            true => BOUNDED_SLEEP,
            false => interval(),
        };
        sleeper.sleep(Some(limit));
        let notified = sleeper.was_notified();
        drop(sleeper);
        match turn() {
            Turn::Over => return,
            Turn::Moved => {
                idle = 0;
                waiter.slept(false);
            }
            // Another thread may have done what there was.
            Turn::Idle if waiter.is_always_ready() => {}
            Turn::Idle => waiter.slept(notified),
        }
    }
}

impl Engine {
    /// Looks for packets of this node and of the fabric. True if anything happened.
    pub fn look(&mut self) -> bool {
        self.transport.hurry();
        self.progress()
    }

    /// Ends sends without an owner, and receives of the library's, that a lost process keeps from completing.
    #[cold]
    pub fn give_up_lost(&mut self) {
        self.give_up_unowned();
    }
}
