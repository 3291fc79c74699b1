//! What a process keeps of its epochs at a window.
//!
//! Invariant: the access epochs of different kinds exclude each other, but for locks of different targets.

use crate::rma::waiting::Waiting;
use crate::sync::{AtomicBool, AtomicU32};
use parking_lot::Mutex;
use std::sync::OnceLock;

/// Bits of [`Access::all`]: an epoch that covers every target.
pub mod all {
    /// Between two fences. Another kind of epoch may follow a fence, if nothing was accessed.
    pub const FENCE: u32 = 1;
    pub const LOCK_ALL: u32 = 2;
    /// With [`LOCK_ALL`]: begun with MPI_MODE_NOCHECK, so nothing is locked.
    pub const NOCHECK: u32 = 4;
}

/// Bits of [`Target::held`](crate::rma::window::Target::held): an epoch that covers one target.
pub mod held {
    pub const SHARED: u8 = 1;
    pub const EXCLUSIVE: u8 = 2;
    /// Locked with MPI_MODE_NOCHECK.
    pub const NOCHECK: u8 = 4;
    /// In the group of MPI_Win_start.
    pub const STARTED: u8 = 8;
    /// Its MPI_Win_post has not been seen yet.
    pub const AWAITED: u8 = 16;
}

/// Bit of [`Access::unsettled`]: ranks are on other hosts.
pub const FAR: u32 = 1;

/// The epochs of this process at a window: where it may access, and to whom it is exposed.
#[derive(Default)]
pub struct Access {
    pub all: AtomicU32,
    /// Whether this process has given private memory, or may attach some, that is shared in place when others want that.
    pub has_given: AtomicBool,
    /// Whether the locks of all targets are marked as shared, which stays so.
    pub has_shared_all: AtomicBool,
    /// Nonzero between MPI_Win_start and MPI_Win_complete.
    pub started: AtomicU32,
    /// Origins of MPI_Win_post and one more; zero: no exposure epoch.
    pub exposed: AtomicU32,
    /// Calls of MPI_Win_test in vain.
    pub tests: AtomicU32,
    /// Calls that may be a program's way to poll, see `wait.rs`.
    pub polls: AtomicU32,
    /// Work that the end of an epoch or a flush has to do: [`FAR`], plus 2 for each target with waiting puts.
    pub unsettled: AtomicU32,
    waiting: OnceLock<Box<Waiting>>,
    groups: OnceLock<Box<Groups>>,
}

/// The groups of the epochs of MPI_Win_start and MPI_Win_post, ranks of the window. Most windows have no such epochs.
#[derive(Default)]
pub struct Groups {
    pub targets: Mutex<Vec<usize>>,
    pub origins: Mutex<Vec<usize>>,
}

impl Access {
    pub fn waiting(&self, ranks: usize) -> &Waiting {
        self.waiting.get_or_init(|| Box::new(Waiting::new(ranks)))
    }

    pub fn groups(&self) -> &Groups {
        self.groups.get_or_init(Box::default)
    }
}
