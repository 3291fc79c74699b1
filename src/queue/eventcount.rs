//! Event count: a word to sleep on and a count of sleepers. The part of sleeping and waking that needs no system call.
//!
//! Invariant: if the sleeper's barrier reaches the waker, either the sleeper's last check sees what was stored before
//! [`EventCount::has_sleepers`], or the waker sees the sleeper.

use super::shape::shape;
use crate::sync::{AtomicU32, Ordering};

/// `word` is the futex, `sleepers` counts the threads that sleep or are about to. A thread may sleep for several event counts,
/// on the word of one of them.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct EventCount {
    pub word: AtomicU32,
    sleepers: AtomicU32,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape!(EventCount { word, sleepers });

impl EventCount {
    /// Without sleepers; in shared memory zeros are one.
    #[cfg(loom)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        }
    }

    /// Value of `word` before the sleeper's last check.
    pub fn ticket(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    /// Announces a sleeper. It then executes a barrier on all cores, checks once more, sleeps while `word` is the ticket, and
    /// calls [`EventCount::leave`].
    pub fn announce(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
    }

    /// The end of what `announce` began.
    pub fn leave(&self) {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there are sleepers to wake. Called after something was stored for them, and after the waker's half of the barrier.
    #[inline(always)]
    pub fn has_sleepers(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Changes `word`; the threads that sleep on it are to be woken next.
    pub fn bump(&self) {
        self.word.fetch_add(1, Ordering::Release);
    }
}
