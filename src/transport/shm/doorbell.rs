//! Sleeping and waking. The sleeper announces itself, makes every core see it, looks once more, and sleeps; so a waker
//! needs no fence of its own: it stores the message and looks whether somebody sleeps.
//!
//! Invariant: between `announce` and `leave`, a message committed after the last look finds `sleepers` not zero.

use super::layout::{Doorbell, Segment};
use crate::os::schedule;
use crate::sync::{Ordering, compiler_fence, fence};
use std::time::Duration;

/// Joins the asymmetric fences of the node. False: the kernel refuses; then this rank fences when it sends, and no
/// rank of the node trusts in being woken (it sleeps for short times only).
pub fn join(segment: Segment<'_>) -> bool {
    let joined = schedule::register_for_barriers() && schedule::barrier_on_all();
    if !joined {
        segment.header().fences.fetch_add(1, Ordering::SeqCst);
    }
    joined
}

/// Wakes the owner of `bell` if it sleeps, after something was stored for it.
#[inline(always)]
pub fn wake(bell: &Doorbell, fences: bool) {
    if fences {
        fence(Ordering::SeqCst);
    } else {
        // The sleeper's membarrier is the other half.
        compiler_fence(Ordering::SeqCst);
    }
    if bell.sleepers.load(Ordering::Relaxed) != 0 {
        schedule::ring(&bell.word);
    }
}

/// Announces a sleeper; returns what [`sleep`] wants.
pub fn announce(bell: &Doorbell) -> u32 {
    let ticket = bell.word.load(Ordering::Acquire);
    bell.sleepers.fetch_add(1, Ordering::SeqCst);
    if !schedule::barrier_on_all() {
        fence(Ordering::SeqCst);
    }
    ticket
}

/// Sleeps until the bell was rung after `announce`, or `limit` is over.
pub fn sleep(bell: &Doorbell, ticket: u32, limit: Option<Duration>) {
    schedule::futex_wait(&bell.word, ticket, limit);
}

/// The end of what `announce` began.
pub fn leave(bell: &Doorbell) {
    bell.sleepers.fetch_sub(1, Ordering::Relaxed);
}
