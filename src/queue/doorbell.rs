//! The announcement of a sleeper, and the waker's look at it: the part of sleeping that needs no system call.
//!
//! Invariant: if the sleeper's barrier reaches the waker, either the sleeper's last look sees what was stored before
//! [`Doorbell::somebody_sleeps`], or the waker sees the sleeper.

use super::shape::shape;
use crate::sync::{AtomicU32, Ordering};

/// A sleeping place: `word` is the futex, `sleepers` says that somebody is (or is about to be) asleep on it. A thread may
/// sleep for several bells, on the word of one of them.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Doorbell {
    pub word: AtomicU32,
    sleepers: AtomicU32,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape!(Doorbell { word, sleepers });

impl Doorbell {
    /// A bell nobody sleeps at; in shared memory zeros are one.
    #[cfg(loom)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        }
    }

    /// What `word` is before the sleeper looks for the last time.
    pub fn ticket(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    /// Announces a sleeper, who then makes it seen by wakers on all cores, looks once more, sleeps while `word` is the
    /// ticket, and says [`Doorbell::leave`].
    pub fn announce(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
    }

    /// The end of what `announce` began.
    pub fn leave(&self) {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// After something was stored for the sleeper (and the waker's half of the barrier): must the bell be rung?
    #[inline(always)]
    pub fn somebody_sleeps(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// What ringing stores; whoever sleeps on `word` is then to be woken.
    pub fn bump(&self) {
        self.word.fetch_add(1, Ordering::Release);
    }
}
