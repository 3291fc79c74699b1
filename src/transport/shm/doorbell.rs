//! Sleeping and waking between processes: the protocol of [`crate::queue::doorbell`] with futex and membarrier.
//!
//! The sleeper makes every core see its announcement, so a waker needs no fence of its own: it stores the message and
//! looks whether somebody sleeps.

use super::layout::Segment;
use crate::os::schedule;
use crate::queue::doorbell::Doorbell;
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
    if bell.somebody_sleeps() {
        ring(bell);
    }
}

/// Wakes the owner of `bell` whatever it does.
#[cold]
pub fn ring(bell: &Doorbell) {
    bell.bump();
    schedule::futex_wake(&bell.word);
}

/// Announces a sleeper; returns what [`sleep`] wants.
pub fn announce(bell: &Doorbell) -> u32 {
    bell.announce(|| {
        if !schedule::barrier_on_all() {
            fence(Ordering::SeqCst);
        }
    })
}

/// Sleeps until the bell was rung after `announce`, or `limit` is over.
pub fn sleep(bell: &Doorbell, ticket: u32, limit: Option<Duration>) {
    schedule::futex_wait(&bell.word, ticket, limit);
}
