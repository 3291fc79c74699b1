//! A thread of the library's own that enters the first engine: it makes progress there and answers what comes in, while the program computes.
//!
//! It runs no task and calls nothing of the program's, and makes and ends no communicator and no datatype. Entering an engine takes a lock
//! as long as it runs. Invariant: it polls once more after each announcement and before each sleep.
#![allow(unsafe_code)]

use super::liveness::{Asked, interval};
use super::long_wait::{BOUNDED_SLEEP, are_blocked, is_settled};
use super::published::{self, ThreadLooks};
use super::wanted::{CHECKS, Wanted};
use super::{Engine, Threads, WAITER, enter, set_threads, wake_own_threads};
use crate::os::turns::YIELDS;
use crate::os::{monotonic_nanoseconds, schedule, threads};
use crate::sync::{AtomicBool, Ordering};
use std::io::Result;
use std::sync::Arc;
use std::thread::JoinHandle;

/// See the module.
pub struct ProgressThread {
    ends: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ProgressThread {
    /// Starts it. It calls `turn` again and again, which enters the engine for itself and returns whether anything happened; with true it asks
    /// whether processes are lost, too. What `turn` does for others it does before it returns, and a turn in which nothing happens has looked
    /// at all that it may act on.
    ///
    /// Errors: there is no thread to be had.
    ///
    /// # Safety
    /// The process has no other one. Unless the program's level is MPI_THREAD_MULTIPLE, this is its only thread in the library, and has no guard.
    pub unsafe fn start(
        name: &str,
        stack: usize,
        turn: impl FnMut(bool) -> bool + Send + 'static,
    ) -> Result<ProgressThread> {
        // SAFETY: by the caller; the thread begins below.
        unsafe { set_threads(Threads::WithProgress) };
        let ends = Arc::new(AtomicBool::new(false));
        let its = ends.clone();
        // What it does may end waits of any process that has met this one.
        let looks = ThreadLooks::begin();
        let attend = move || attend(&its, &looks, turn);
        match threads::start_entering(name, stack, attend) {
            Ok(thread) => Ok(ProgressThread { ends, thread }),
            Err(error) => {
                // SAFETY: by the caller; no thread was started.
                unsafe { set_threads(Threads::One) };
                Err(error)
            }
        }
    }

    /// Ends it.
    ///
    /// # Safety
    /// Unless the program's level is MPI_THREAD_MULTIPLE, this is its only thread in the library, and has no guard.
    pub unsafe fn end(self) {
        self.ends.store(true, Ordering::Relaxed);
        wake_own_threads();
        // It does not panic: a panic ends the process.
        let _ = self.thread.join();
        // SAFETY: by the caller; there was no other one than the thread that has ended.
        unsafe { set_threads(Threads::One) };
    }
}

/// Calls `turn` until it `ends`; sleeps while there is nothing to do, at most as long as there is between two liveness checks.
fn attend(ends: &AtomicBool, looks: &ThreadLooks, mut turn: impl FnMut(bool) -> bool) {
    let ends = || ends.load(Ordering::Relaxed);
    let mut asked = Asked::NEVER;
    let mut wanted = Wanted::begin();
    let mut turn_once = |asks| {
        if asks {
            looks.begin_check();
        }
        let moved = turn(asks);
        if moved {
            published::stir();
        } else if asks {
            looks.end_check();
        }
        moved
    };
    let mut turn = || {
        let is_due = asked.is_due(monotonic_nanoseconds());
        match wanted.is_new() && wanted.is_due() {
            true => (0..CHECKS).any(|_| turn_once(true)),
            false => turn_once(is_due),
        }
    };
    let mut idle = 0;
    while !ends() {
        if turn() {
            idle = 0;
            continue;
        }
        idle += 1;
        if idle < YIELDS {
            schedule::yield_now();
            continue;
        }
        let Some(waiter) = WAITER.get() else {
            continue;
        };
        let (blocked, sure) = are_blocked();
        let sleeper = waiter.announce(1);
        looks.begin_look();
        if ends() || turn() {
            idle = 0;
            continue;
        }
        if is_settled() {
            looks.end_look();
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
            true => {
                idle = 0;
                waiter.slept(false);
            }
            // Another thread may have done what there was.
            false if waiter.is_always_ready() => {}
            false => waiter.slept(notified),
        }
    }
}

impl Engine {
    /// Looks for packets of this node and of the fabric. True if anything happened.
    pub fn look(&mut self) -> bool {
        self.transport.hurry();
        self.progress()
    }
}
