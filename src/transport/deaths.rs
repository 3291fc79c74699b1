//! How a process learns of deaths: mpiexec tells of them, and where a launcher does not, each process looks itself for those of its host.
//!
//! mpiexec writes who has died, counts in the segment that it has, and wakes all ranks that sleep. A wait compares the count with the one
//! that it has seen before it sleeps, and asks at once whether what it waits for can still come.
//!
//! Invariant: whoever asks whether a process has died, again and again, learns of it under any launcher, on any thread and without an engine.
//! A look is some files of /proc, so there is one in [`PAUSE`] at most, whoever asks.

use super::peer::{Page, Peer, Table};
use super::{Loss, State};
use crate::os::monotonic_nanoseconds;
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// Where mpiexec counts that it has told of deaths.
static TOLD: OnceLock<&'static AtomicU32> = OnceLock::new();
/// How often this process has found deaths itself.
static FOUND: AtomicU32 = AtomicU32::new(0);

/// Says where mpiexec counts.
pub fn told_by(count: &'static AtomicU32) {
    let _ = TOLD.set(count);
}

/// A number that changes whenever this process could learn of deaths, or of revoked communicators, 0 at first. What was written of these is seen.
#[inline]
pub fn count() -> u32 {
    let told = TOLD.get().map_or(0, |told| told.load(Ordering::Acquire)); // pairs with `tell_of_deaths`
    told.wrapping_add(FOUND.load(Ordering::Acquire))
}

/// To be called after a process was marked that this one has found dead.
pub fn found() {
    FOUND.fetch_add(1, Ordering::Release); // pairs with `count`
}

/// Time between two looks, nanoseconds.
const PAUSE: u64 = 400_000_000;

/// Pages of the processes that this one watches; none where the launcher tells of deaths.
static WATCHED: OnceLock<Box<[&'static Page]>> = OnceLock::new();

/// How many of these were dead at the last look.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// Says that the launcher of this job tells nobody of ranks that have ended: this process looks itself from now on.
pub fn watch(table: &Table) {
    let _ = WATCHED.set(table.others_here().collect());
}

/// Marks those that have died, if it is time for that. Whether it was.
#[inline]
pub fn look() -> bool {
    WATCHED.get().is_some_and(|pages| look_at(pages))
}

#[cold]
fn look_at(pages: &[&'static Page]) -> bool {
    static LOOKED: AtomicU64 = AtomicU64::new(0);
    let now = monotonic_nanoseconds();
    let looked = LOOKED.load(Ordering::Relaxed);
    let is_time = now - looked.min(now) > PAUSE || looked == 0;
    // One thread looks for all.
    let looks = is_time
        && LOOKED
            .compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
    if looks {
        pages.iter().for_each(|page| page.mark_if_dead());
        // Also those that another process of this host has marked.
        let dead = pages.iter().filter(|page| page.is_marked_dead()).count();
        if KNOWN.swap(dead, Ordering::Relaxed) != dead {
            found();
        }
    }
    looks
}

impl Page {
    /// Whether it has exited without MPI_Finalize. To be asked again and again: where nobody tells, not each call looks.
    pub fn has_died(&self) -> bool {
        self.is_marked_dead() || look() && self.is_marked_dead()
    }

    /// Whether it has died, or has left the job in good order.
    pub fn has_gone(&self) -> bool {
        self.state() == State::Finalized || self.has_died()
    }

    /// Marks it if its process has ended without a word.
    fn mark_if_dead(&self) {
        let may_live = |page: &Page| page.state() == State::Finalized || page.is_marked_dead();
        // A process that finalizes says so before it ends.
        if !may_live(self) && self.is_over() && !may_live(self) {
            self.set_exited();
        }
    }
}

impl Table {
    /// As [`Page::has_died`] of a process that shares memory with this one: if it cannot be reached it lives, and gives its locks back. Of
    /// others as [`Peer::has_died`].
    pub fn has_died(&self, process: u32) -> bool {
        let peer = self.of(process);
        match peer.seat {
            Some(_) => peer.page.has_died(),
            None => peer.has_died(),
        }
    }

    /// Whether a process that shares memory with this one has died and can change nothing there any more, so that its locks can be taken: one
    /// whose exit handlers run has died for those that wait for a message, but its threads still run.
    pub fn stores_no_more(&self, process: u32) -> bool {
        let peer = self.of(process);
        peer.seat.is_some() && peer.page.stores_no_more()
    }

    /// As [`Table::stores_no_more`], if somebody has found that already: no call of the kernel.
    pub fn is_known_over(&self, process: u32) -> bool {
        let peer = self.of(process);
        peer.seat.is_some() && peer.page.is_known_over()
    }

    /// Takes a process of the job for lost, because the connection to it has broken: for this process it is as if that one had died.
    pub fn lose(&self, process: u32) {
        self.mark_lost(process);
        found();
    }
}

impl Peer {
    /// As [`Page::has_died`]; of a process of another host, as far as this host has been told; or it cannot be reached.
    pub fn has_died(&self) -> bool {
        self.is_marked_dead() || look() && self.is_marked_dead()
    }

    /// As [`Page::has_gone`].
    pub fn has_gone(&self) -> bool {
        self.state() == State::Finalized || self.has_died()
    }

    /// As [`Peer::loss`], of which this process finds out itself where nobody tells.
    pub fn loss_by_look(&self) -> Option<Loss> {
        self.loss().or_else(|| look().then(|| self.loss())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::process::Birth;
    use std::process::{Child, Command};

    /// A process and the page that it would have.
    fn process() -> (Child, &'static Page) {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let page: &'static Page = Box::leak(Box::default());
        page.set_state(State::Joined);
        page.introduce_as(Birth::of(child.id() as i32));
        (child, page)
    }

    #[test]
    fn whoever_asks_learns_of_a_death_that_nobody_tells() {
        let ((mut dies, dead), (mut lives, living)) = (process(), process());
        assert!(!dead.has_died());
        WATCHED.get_or_init(|| Box::new([dead, living]));
        assert!(!dead.has_died() && !living.has_died());
        dies.kill().unwrap();
        dies.wait().unwrap();
        let before = count();
        while !dead.has_died() {
            std::thread::yield_now();
        }
        while count() == before {
            look();
        }
        assert_eq!(dead.loss(), Some(Loss::Exited));
        assert!(dead.has_gone() && !living.has_died() && !living.has_gone());
        assert!(dead.stores_no_more() && !living.stores_no_more());
        assert!(dead.stores_no_more() && !dead.was_reaped());
        living.set_exited();
        assert!(living.has_died() && !living.stores_no_more());
        living.clear_loss();
        living.set_state(State::Finalized);
        assert!(living.has_gone() && !living.has_died());
        lives.kill().unwrap();
        lives.wait().unwrap();
    }
}
