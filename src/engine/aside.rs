//! Waiting on a thread of the library's own, which enters no engine: below MPI_THREAD_MULTIPLE the engine belongs to the program's thread.
//!
//! Such a thread sleeps on the process's futex word, so that whoever wakes the process wakes it, too. Invariant: the condition is checked
//! after each announcement and each sleep.

use super::WAITER;
use crate::node;
use crate::os::schedule;
use std::time::Duration;

/// Looks before the core is given away, where every rank has a core of its own.
const LOOKS: u32 = 200;
/// Yields before it sleeps.
const YIELDS: u32 = 4;
/// The longest sleep: a wake-up can be missed where the kernel has no fence for all cores.
const LONGEST: Duration = Duration::from_millis(10);

/// Asks `done` again and again until it returns a result. Nothing makes progress in here but what other threads and processes do.
pub fn until<R>(mut done: impl FnMut() -> Option<R>) -> R {
    if !node::is_oversubscribed() {
        for _ in 0..LOOKS {
            if let Some(result) = done() {
                return result;
            }
            std::hint::spin_loop();
        }
    }
    for _ in 0..YIELDS {
        if let Some(result) = done() {
            return result;
        }
        schedule::yield_now();
    }
    loop {
        let Some(waiter) = WAITER.get() else {
            schedule::yield_now();
            if let Some(result) = done() {
                return result;
            }
            continue;
        };
        let sleeper = waiter.announce(1);
        if let Some(result) = done() {
            return result;
        }
        sleeper.sleep(Some(LONGEST));
        drop(sleeper);
        if let Some(result) = done() {
            return result;
        }
    }
}
