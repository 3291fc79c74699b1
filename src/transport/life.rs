//! Where a process is in its life, and what is known of its end.
//!
//! A process of this host says so in its page ([`super::peer::Page`]), one of another host by a word that mpiexec keeps here ([`End`]).

use crate::sync::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// Where a rank is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Has not called MPI_Init yet.
    NotJoined = 0,
    /// Between MPI_Init and MPI_Finalize.
    Joined = 1,
    /// Has finished MPI_Finalize.
    Finalized = 2,
    /// Has called MPI_Abort (or met an error that is fatal).
    Aborted = 3,
}

/// Where a rank is between MPI_Init and MPI_Finalize, sessions apart: what mpiexec thinks of its end depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum World {
    /// Has not called MPI_Init (yet).
    Before = 0,
    Initialized = 1,
    /// MPI_Finalize has returned an error.
    Failed = 2,
    Finalized = 3,
}

// Bits of `Page::lost`.
pub(super) const FINALIZING: u32 = 1;
pub(super) const RECEIVES_CLOSED: u32 = 2;
pub(super) const EXITED: u32 = 4;
/// mpiexec has waited for the process.
pub(super) const REAPED: u32 = 64;
/// Another rank has found that the process is no more.
pub(super) const OVER: u32 = 128;
// Bits of an `End` besides those.
pub(super) const FINALIZED: u32 = 8;
pub(super) const NEVER_STARTED: u32 = 16;
pub(super) const UNREACHABLE: u32 = 32;
/// The process wants to go on when others die.
pub(super) const SURVIVES: u32 = 256;
/// Its host is lost, and it may run on there: nothing that it sends is taken any more.
pub(super) const FENCED: u32 = 512;

/// Why nothing more is to be expected from a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It is in MPI_Finalize.
    Finalizing,
    /// It has exited without ever calling MPI_Init.
    NeverStarted,
    Exited,
    /// The connection to it has broken, and with it what was under way. It may live.
    Unreachable,
}

impl Loss {
    /// Whether the process takes and sends nothing more, and is not only in MPI_Finalize.
    pub fn is_end(self) -> bool {
        self != Loss::Finalizing
    }
}

/// What mpiexec has told this host of the end of a process of another host: a word in the segment. Zero: nothing.
#[repr(transparent)]
pub struct End(AtomicU32);

impl End {
    /// What others are told of a process whose host is lost.
    pub const LOST: u32 = EXITED | RECEIVES_CLOSED | FENCED;

    /// Whether the process has gone without MPI_Finalize, as far as this one can see: others may wait for it.
    pub fn is_death(known: u32) -> bool {
        known & UNREACHABLE != 0 || End::has_failed(known)
    }

    /// Whether the process has ended without MPI_Finalize, and not only the connection to it is broken.
    pub fn has_failed(known: u32) -> bool {
        known & EXITED != 0 && known & FINALIZED == 0
    }

    /// Whether the process has called one of the functions for failed processes.
    pub fn wants_to_survive(known: u32) -> bool {
        known & SURVIVES != 0
    }

    /// As [`End::wants_to_survive`], of what was told.
    pub fn survives(&self) -> bool {
        End::wants_to_survive(self.load())
    }

    /// Keeps what [`super::peer::Page::known_end`] has said of it.
    pub fn tell(&self, known: u32) {
        self.0.store(known, Ordering::Release); // pairs with `load`
    }

    pub(super) fn load(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn state(&self) -> State {
        match self.load() {
            known if known & FINALIZED != 0 => State::Finalized,
            known if known & NEVER_STARTED != 0 => State::NotJoined,
            _ => State::Joined,
        }
    }

    /// Why nothing more is to be expected from a process of which that is known.
    pub(super) fn loss_in(known: u32) -> Option<Loss> {
        match known {
            known if known & NEVER_STARTED != 0 => Some(Loss::NeverStarted),
            known if End::has_failed(known) => Some(Loss::Exited),
            known if known & UNREACHABLE != 0 => Some(Loss::Unreachable),
            known if known & EXITED != 0 => Some(Loss::Exited),
            known if known & FINALIZING != 0 => Some(Loss::Finalizing),
            _ => None,
        }
    }
}

/// A word for each process of the job, where it has several hosts and a keeper that writes them.
pub(super) static ENDS: OnceLock<&'static [End]> = OnceLock::new();

/// Says where the ends of processes of other hosts are told.
pub fn told_ends(ends: &'static [End]) {
    let _ = ENDS.set(ends);
}

pub(super) fn told() -> impl Iterator<Item = &'static End> {
    ENDS.get().into_iter().flat_map(|ends| ends.iter())
}

#[cfg(test)]
mod tests {
    use super::super::peer::Page;
    use super::*;

    #[test]
    fn a_rank_that_comes_late_is_no_loss() {
        let page = Page::default();
        assert_eq!(page.loss(), None);
        page.set_exited();
        assert_eq!(page.loss(), Some(Loss::NeverStarted));
        page.clear_loss();
        page.set_state(State::Joined);
        assert_eq!((page.loss(), page.receives_closed()), (None, false));
        page.set_finalizing(true);
        assert_eq!(
            (page.loss(), page.receives_closed()),
            (Some(Loss::Finalizing), false)
        );
        page.set_finalizing(false);
        assert!(page.receives_closed());
        page.set_exited();
        assert_eq!(page.loss(), Some(Loss::Exited));
    }

    #[test]
    fn an_end_says_what_the_page_says() {
        let (page, end) = (Page::default(), End(AtomicU32::new(0)));
        let agree = || {
            end.tell(page.known_end());
            assert_eq!(End::loss_in(end.load()), page.loss());
            assert_eq!(End::is_death(page.known_end()), page.has_died());
            assert_eq!(end.load() & RECEIVES_CLOSED != 0, page.receives_closed());
        };
        agree();
        page.set_exited();
        agree();
        assert_eq!(end.state(), State::NotJoined);
        page.clear_loss();
        page.set_state(State::Joined);
        agree();
        page.set_finalizing(true);
        agree();
        page.set_finalizing(false);
        agree();
        assert_eq!(end.state(), State::Joined);
        page.set_exited();
        agree();
        page.survives.store(1, Ordering::Relaxed);
        agree();
        assert!(end.survives());
        page.set_state(State::Finalized);
        agree();
        assert_eq!(end.state(), State::Finalized);
    }
}
