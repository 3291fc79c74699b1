//! Sleeping and waking between processes: the protocol of [`crate::queue::eventcount`] with futex and membarrier.
//!
//! A process has an event count for each of its engines, and one futex word for all: a notification wakes the threads that
//! sleep for that engine. The sleeper makes every core see its announcement, so a waker needs no fence of its own: it stores
//! the message and checks whether a thread sleeps.

use super::layout::{ENGINES, RankPage, Segment};
use crate::os::schedule;
use crate::queue::eventcount::EventCount;
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

/// Wakes the threads of a process that sleep for one of its engines.
#[derive(Clone, Copy)]
pub struct Notifier {
    own: &'static EventCount,
    page: &'static RankPage,
    bit: u32,
}

impl Notifier {
    pub fn of(page: &'static RankPage, engine: usize) -> Self {
        Self {
            own: &page.event_counts[engine],
            page,
            bit: 1 << engine,
        }
    }

    /// Wakes the sleepers, after something was stored for them.
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

    /// As [`Self::wake`], where a lock orders what was stored and the sleeper's last check.
    #[inline(always)]
    pub fn wake_ordered(&self) {
        if self.own.has_sleepers() {
            self.notify();
        }
    }

    /// Wakes the sleepers, whether they have announced themselves or not.
    #[cold]
    pub fn notify(&self) {
        let shared = &self.page.event_counts[0];
        shared.bump();
        schedule::futex_wake(&shared.word, self.bit);
    }
}

/// Wakes all threads of a process that sleep, whichever engine they sleep for, and lets those return at once that have announced
/// themselves and do not sleep yet.
fn wake_all(page: &RankPage) {
    let shared = &page.event_counts[0];
    shared.bump();
    schedule::futex_wake(&shared.word, u32::MAX);
}

impl Segment<'_> {
    /// For mpiexec, after it has written which processes of this host or of others have died: ranks that sleep wake, and look.
    pub fn tell_of_deaths(&self) {
        self.tell_news();
    }

    /// Has all ranks look for news, which were written before.
    pub fn tell_news(&self) {
        self.header().deaths.fetch_add(1, Ordering::Release); // pairs with `deaths::told`
        self.wake_ranks();
    }

    /// For mpiexec: has all ranks that wait look again at once, and put nothing off.
    pub fn want_looks(&self) {
        self.header().wanted.fetch_add(1, Ordering::Release); // pairs with `wanted::count`
        self.wake_ranks();
    }

    fn wake_ranks(&self) {
        for rank in 0..self.ranks() {
            wake_all(self.rank(rank));
        }
    }
}

/// Wakes the threads of a process that sleep for its first engine; a pointer.
#[derive(Clone, Copy)]
pub struct FirstNotifier(&'static RankPage);

impl FirstNotifier {
    pub fn of(page: &'static RankPage) -> Self {
        Self(page)
    }

    /// As [`Notifier::wake_ordered`].
    #[inline(always)]
    pub fn wake_ordered(&self) {
        Notifier::of(self.0, 0).wake_ordered();
    }

    /// Whether a thread sleeps, or is about to.
    pub fn has_sleepers(&self) -> bool {
        Notifier::of(self.0, 0).own.has_sleepers()
    }

    /// As [`Self::wake_ordered`]. Whether a thread slept, or was about to.
    pub fn wake_sleeper(&self) -> bool {
        let first = Notifier::of(self.0, 0);
        let sleeps = first.own.has_sleepers();
        if sleeps {
            first.notify();
        }
        sleeps
    }
}

/// A thread that is about to sleep for some engines of its process.
pub struct Sleeper {
    page: &'static RankPage,
    engines: u32,
    ticket: u32,
}

impl Sleeper {
    /// `engines` is a set of bits. Check once more after this.
    pub fn announce(page: &'static RankPage, engines: u32) -> Self {
        let ticket = page.event_counts[0].ticket();
        let sleeper = Self {
            page,
            engines,
            ticket,
        };
        sleeper.each(EventCount::announce);
        if !schedule::barrier_on_all() {
            fence(Ordering::SeqCst);
        }
        sleeper
    }

    /// Sleeps until one of the engines was notified after the announcement, or `limit` is over.
    pub fn sleep(&self, limit: Option<Duration>) {
        schedule::futex_wait(
            &self.page.event_counts[0].word,
            self.ticket,
            limit,
            self.engines,
        );
    }

    /// Whether one of the process's engines was notified after the announcement.
    pub fn was_notified(&self) -> bool {
        self.page.event_counts[0].ticket() != self.ticket
    }

    fn each(&self, what: impl Fn(&EventCount)) {
        for engine in (0..ENGINES).filter(|engine| self.engines & 1 << engine != 0) {
            what(&self.page.event_counts[engine]);
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.each(EventCount::leave);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout;
    use std::os::fd::AsFd;

    #[test]
    fn a_death_wakes_ranks_that_sleep_and_is_counted() {
        let ranks = 2;
        let fd = memory::create("test", layout::segment_bytes(ranks), false).unwrap();
        layout::initialise(fd.as_fd(), ranks).unwrap();
        let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, ranks).unwrap();
        let sleep = |rank, engines| {
            let sleeper = Sleeper::announce(segment.rank(rank), engines);
            std::thread::spawn(move || {
                sleeper.sleep(None);
                assert!(sleeper.was_notified());
            })
        };
        // Without a limit: it is the death that wakes them.
        let sleepers = [sleep(0, 1), sleep(1, 1 << 5)];
        segment.tell_of_deaths();
        for sleeper in sleepers {
            sleeper.join().unwrap();
        }
        // So does a question of mpiexec's, which is no death.
        let sleepers = [sleep(0, 1), sleep(1, 1 << 5)];
        segment.want_looks();
        for sleeper in sleepers {
            sleeper.join().unwrap();
        }
        let header = segment.header();
        let counts = [&header.deaths, &header.wanted].map(|it| it.load(Ordering::Acquire));
        assert_eq!(counts, [1, 1]);
    }
}
