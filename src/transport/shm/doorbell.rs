//! Sleeping and waking between processes: the protocol of [`crate::queue::doorbell`] with futex and membarrier.
//!
//! A process has a bell for each of its engines, and one futex word for all: who rings a bell wakes those threads that
//! sleep for it. The sleeper makes every core see its announcement, so a waker needs no fence of its own: it stores the
//! message and looks whether somebody sleeps.

use super::layout::{ENGINES, RankPage, Segment};
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

/// The bell of one engine of a process.
#[derive(Clone, Copy)]
pub struct Bell {
    own: &'static Doorbell,
    page: &'static RankPage,
    bit: u32,
}

impl Bell {
    pub fn of(page: &'static RankPage, engine: usize) -> Self {
        Self {
            own: &page.bells[engine],
            page,
            bit: 1 << engine,
        }
    }

    /// Wakes who sleeps for this bell, after something was stored for it.
    #[inline(always)]
    pub fn wake(&self, fences: bool) {
        if fences {
            fence(Ordering::SeqCst);
        } else {
            // The sleeper's membarrier is the other half.
            compiler_fence(Ordering::SeqCst);
        }
        self.wake_ordered();
    }

    /// As [`Self::wake`], where a lock orders what was stored and the sleeper's last look.
    #[inline(always)]
    pub fn wake_ordered(&self) {
        if self.own.somebody_sleeps() {
            self.ring();
        }
    }

    /// Wakes who sleeps for this bell, whether it has announced itself or not.
    #[cold]
    pub fn ring(&self) {
        let shared = &self.page.bells[0];
        shared.bump();
        schedule::futex_wake(&shared.word, self.bit);
    }
}

/// A thread that is about to sleep for some bells of its process.
pub struct Sleeper {
    page: &'static RankPage,
    bells: u32,
    ticket: u32,
}

impl Sleeper {
    /// `bells` is a set of bits, of engines. Look once more after this.
    pub fn announce(page: &'static RankPage, bells: u32) -> Self {
        let ticket = page.bells[0].ticket();
        let sleeper = Self {
            page,
            bells,
            ticket,
        };
        sleeper.each(Doorbell::announce);
        if !schedule::barrier_on_all() {
            fence(Ordering::SeqCst);
        }
        sleeper
    }

    /// Sleeps until one of the bells was rung after the announcement, or `limit` is over.
    pub fn sleep(&self, limit: Option<Duration>) {
        schedule::futex_wait(&self.page.bells[0].word, self.ticket, limit, self.bells);
    }

    /// Whether one of the process's bells was rung after the announcement.
    pub fn was_rung(&self) -> bool {
        self.page.bells[0].ticket() != self.ticket
    }

    fn each(&self, what: impl Fn(&Doorbell)) {
        for engine in (0..ENGINES).filter(|engine| self.bells & 1 << engine != 0) {
            what(&self.page.bells[engine]);
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.each(Doorbell::leave);
    }
}
