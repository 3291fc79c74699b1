//! Waiting on a thread of the library's own, which enters no engine: below MPI_THREAD_MULTIPLE the engine belongs to the program's thread.
//!
//! Such a thread sleeps on the process's futex word, so that whoever wakes the process wakes it, too. Invariant: the condition is checked
//! after each announcement and each sleep.

use super::wait::{self, Looks, Reason};
use super::{WAITER, losses};
use crate::error::Result;
use crate::node;
use crate::os::schedule;
pub use crate::sync::guarded::stays_outside as is_here;
use std::time::Duration;

/// The longest sleep: a wake-up can be missed where the kernel has no fence for all cores.
const LONGEST: Duration = Duration::from_millis(10);

/// As [`wait::until_stored`], also on such a thread.
///
/// Errors: as there.
pub fn until_stored(
    reason: &Reason<'_>,
    holds: &mut dyn FnMut() -> bool,
    missing: &dyn Fn() -> Option<u32>,
) -> Result<()> {
    if !is_here() {
        return wait::until_stored(0, reason, holds, &|_| missing());
    }
    let mut looks = Looks::default();
    until(|| looks.look(false, holds, missing)).map_err(losses::explain)
}

/// Asks `done` again and again until it returns a result. Nothing makes progress in here but what other threads and processes do.
pub fn until<R>(mut done: impl FnMut() -> Option<R>) -> R {
    let mut result = None;
    let mut is_done = || {
        result = done();
        result.is_some()
    };
    let comes_soon =
        wait::soon(node::is_oversubscribed(), &mut is_done) || wait::soon(true, is_done);
    if comes_soon && let Some(result) = result {
        return result;
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
