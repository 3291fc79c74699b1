//! Where the threads of this process sleep: on the futex word of its event counts, and by way of that on descriptors.
//!
//! A peer on this node wakes through the futex, a network through a descriptor, and a thread can sleep on one of both only. So
//! descriptors are watched by a thread of their own ([`Descriptors`]) that notifies the engine concerned. It is there only
//! once a transport has a descriptor; shared memory alone pays nothing for it.

use super::shm::layout::RankPage;
use super::shm::notifier::{Notifier, Sleeper};
use crate::os::descriptors::Descriptors;
use crate::sync::{AtomicU32, Ordering};
use std::io::Result;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

/// See the module.
pub struct Waiter {
    page: &'static RankPage,
    descriptors: OnceLock<Descriptors>,
    /// Wake-ups without work, one after the other.
    in_vain: AtomicU32,
}

/// Wake-ups without work, one after the other, after which the descriptor counts as always ready.
const MOST_IN_VAIN: u32 = 32;

impl Waiter {
    /// Of the process with this page.
    pub(super) fn new(page: &'static RankPage) -> Self {
        Self {
            page,
            descriptors: OnceLock::new(),
            in_vain: AtomicU32::new(0),
        }
    }

    /// Wakes the threads that sleep for one of this process's engines.
    pub fn notifier(&self, engine: u32) -> Notifier {
        Notifier::of(self.page, engine as usize)
    }

    /// From now on a thread that sleeps for this engine is woken when the descriptor can be read.
    ///
    /// Errors: no further descriptor or no thread is to be had.
    pub fn watch(&self, descriptor: BorrowedFd<'_>, engine: u32) -> Result<()> {
        if self.descriptors.get().is_none() {
            let page = self.page;
            let new = Descriptors::new(move |engine| Notifier::of(page, engine as usize).notify())?;
            // Another thread's will do.
            let _ = self.descriptors.set(new);
        }
        match self.descriptors.get() {
            Some(descriptors) => descriptors.add(descriptor, engine),
            None => Ok(()),
        }
    }

    /// Announces a thread that is about to sleep for engines, a set of bits. Check once more after this.
    pub fn announce(&self, engines: u32) -> Sleeper {
        let sleeper = Sleeper::announce(self.page, engines);
        if let Some(descriptors) = self.descriptors.get()
            && !self.is_always_ready()
        {
            descriptors.arm();
        }
        sleeper
    }

    /// Counts the end of a sleep; `in_vain`: a wake-up without work.
    pub fn slept(&self, in_vain: bool) {
        let before = self.in_vain.load(Ordering::Relaxed);
        let now = if in_vain { before.saturating_add(1) } else { 0 };
        if now != before {
            self.in_vain.store(now, Ordering::Relaxed);
        }
    }

    /// Whether a descriptor counts as always ready, because its owner does not take a signal back. It is not watched, so sleeps must be short.
    pub fn is_always_ready(&self) -> bool {
        self.descriptors.get().is_some() && self.in_vain.load(Ordering::Relaxed) >= MOST_IN_VAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory;
    use crate::transport::shm::endpoint::Endpoint;
    use crate::transport::shm::layout::{initialise, segment_bytes};
    use std::os::fd::AsFd;
    use std::time::Duration;

    /// Sleeps until an engine was notified; false if that never comes.
    fn is_woken(sleeper: &Sleeper) -> bool {
        (0..1000).any(|_| {
            sleeper.sleep(Some(Duration::from_millis(100)));
            sleeper.was_notified()
        })
    }

    #[test]
    fn descriptors_and_peers_wake_the_same_sleeper() {
        let fd = memory::create("test", segment_bytes(1), false).unwrap();
        initialise(fd.as_fd(), 1).unwrap();
        let shm = Endpoint::join(fd, 0, &[0]).unwrap();
        let waiter = Waiter::new(shm.own_page());
        let pipes = [rustix::pipe::pipe().unwrap(), rustix::pipe::pipe().unwrap()];
        for (number, (reading, _)) in pipes.iter().enumerate() {
            waiter.watch(reading.as_fd(), number as u32).unwrap();
        }
        for (number, (reading, writing)) in pipes.iter().chain(&pipes).enumerate() {
            let sleeper = waiter.announce(1 << (number % 2));
            assert!(!sleeper.was_notified());
            rustix::io::write(writing, b"x").unwrap();
            assert!(is_woken(&sleeper));
            drop(sleeper);
            // A descriptor that is ready when a thread goes to sleep wakes it, too.
            let sleeper = waiter.announce(3);
            assert!(is_woken(&sleeper));
            drop(sleeper);
            rustix::io::read(reading, &mut [0u8; 1]).unwrap();
        }
        let sleeper = waiter.announce(1);
        waiter.notifier(0).wake(true);
        assert!(is_woken(&sleeper));
        drop(sleeper);
        // A descriptor that wakes for nothing is watched no more, until there was something.
        rustix::io::write(&pipes[0].1, b"x").unwrap();
        for _ in 0..MOST_IN_VAIN {
            assert!(!waiter.is_always_ready());
            assert!(is_woken(&waiter.announce(1)));
            waiter.slept(true);
        }
        assert!(waiter.is_always_ready());
        let sleeper = waiter.announce(1);
        sleeper.sleep(Some(Duration::from_millis(50)));
        assert!(!sleeper.was_notified());
        drop(sleeper);
        waiter.slept(false);
        assert!(is_woken(&waiter.announce(1)));
    }
}
