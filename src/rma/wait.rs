//! Waiting for other ranks of a window: a few looks, then a wait of the engine, in which messages make progress and the thread sleeps.
//!
//! Invariant: a rank stores what another one may wait for, and then looks whether that one sleeps (`Assembly::wake`). A full fence in
//! between is an atomic update's or the sleeper's membarrier; where the kernel has none, sleeps are short (`engine/long_wait.rs`).

use super::window::Window;
use crate::engine::Engine;
use crate::engine::wait::{self, Reason, soon, until_stored};
use crate::engine::waits::{self, Kind, Whom};
use crate::error::Result;
use crate::node;
use crate::sync::Ordering;

/// Of so many calls with which a program may poll, one looks for messages, and lets others have the core where ranks share cores.
const CALLS_BEFORE_POLL: u32 = 256;

/// A wait at a window.
pub(super) struct Wait<'a> {
    pub window: &'a Window,
    /// The MPI function.
    pub function: &'static str,
    pub kind: Kind,
    /// The rank that it is about, if any.
    pub target: Option<usize>,
    /// Which processes can end it; asked when it is no longer short.
    pub whom: &'a dyn Fn() -> Whom,
}

impl Wait<'_> {
    /// Waits until `holds`. `missing` says which process is lost, if what is waited for will never come because of that.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a process is lost.
    pub fn until(
        &self,
        holds: &mut dyn FnMut() -> bool,
        missing: &dyn Fn(&Engine) -> Option<u32>,
    ) -> Result<()> {
        match holds_soon(&mut *holds) {
            true => Ok(()),
            false => self.until_long(holds, missing),
        }
    }

    /// As [`Self::until`], without looks for nothing else at the beginning.
    #[cold]
    pub fn until_long(
        &self,
        holds: &mut dyn FnMut() -> bool,
        missing: &dyn Fn(&Engine) -> Option<u32>,
    ) -> Result<()> {
        let what = &|named: bool| {
            self.window
                .wait_at(self.target, self.kind, (self.whom)(), named)
        };
        let reason = Reason {
            function: self.function,
            what,
        };
        until_stored(0, &reason, holds, missing)
    }
}

/// A few looks. True when what is waited for is there; if not, it is to be waited for.
#[inline]
pub(super) fn holds_soon(holds: impl FnMut() -> bool) -> bool {
    soon(node::is_oversubscribed(), holds)
}

impl Window {
    /// A wait that is about a target rank, or all, with the window's name or without.
    pub(super) fn wait_at(
        &self,
        target: Option<usize>,
        kind: Kind,
        whom: Whom,
        named: bool,
    ) -> waits::Wait {
        waits::Wait {
            peer: target.map_or(-1, |rank| rank as i32),
            ..self.assembly.wait(kind, whom, named)
        }
    }

    /// To be called by what a program may poll with: peers may need this process for their messages.
    #[inline(always)]
    pub(super) fn count_poll(&self) {
        let polls = self.access.polls.load(Ordering::Relaxed).wrapping_add(1);
        self.access.polls.store(polls, Ordering::Relaxed);
        if polls.is_multiple_of(CALLS_BEFORE_POLL) {
            poll();
        }
    }

    /// The rank of a process that must be one of the window's.
    pub(super) fn rank_of(&self, process: u32) -> usize {
        let found = self.targets.iter().position(|it| it.process == process);
        found.unwrap_or_default()
    }
}

/// Looks for messages, and lets others have the core where ranks share cores.
#[cold]
pub(super) fn poll() {
    drop(wait::poll());
}
