//! What a process keeps of its epochs at a window.
//!
//! Invariant: the access epochs of different kinds exclude each other, but for locks of different targets.

use crate::sync::{AtomicBool, AtomicU8, AtomicU32};
use parking_lot::Mutex;

/// Bits of [`Access::all`]: an epoch that covers every target.
pub mod all {
    /// Between two fences. Another kind of epoch may follow a fence, if nothing was accessed.
    pub const FENCE: u32 = 1;
    pub const LOCK_ALL: u32 = 2;
    /// With [`LOCK_ALL`]: begun with MPI_MODE_NOCHECK, so nothing is locked.
    pub const NOCHECK: u32 = 4;
}

/// Bits of [`Access::held`]: an epoch that covers one target.
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

/// The epochs of this process at a window: where it may access, and to whom it is exposed.
pub struct Access {
    pub all: AtomicU32,
    /// Whether the locks of all targets are marked as shared, which stays so.
    pub has_shared_all: AtomicBool,
    /// By target rank.
    pub held: Box<[AtomicU8]>,
    /// Nonzero between MPI_Win_start and MPI_Win_complete.
    pub started: AtomicU32,
    /// The targets of MPI_Win_start, ranks of the window.
    pub targets: Mutex<Vec<usize>>,
    /// Origins of MPI_Win_post and one more; zero: no exposure epoch.
    pub exposed: AtomicU32,
    /// These origins, ranks of the window.
    pub origins: Mutex<Vec<usize>>,
    /// Calls of MPI_Win_test in vain.
    pub tests: AtomicU32,
    /// Calls that may be a program's way to poll, see `wait.rs`.
    pub polls: AtomicU32,
}

impl Access {
    pub fn new(ranks: usize) -> Access {
        Access {
            all: AtomicU32::new(0),
            has_shared_all: AtomicBool::new(false),
            held: (0..ranks).map(|_| AtomicU8::new(0)).collect(),
            started: AtomicU32::new(0),
            targets: Mutex::new(Vec::new()),
            exposed: AtomicU32::new(0),
            origins: Mutex::new(Vec::new()),
            tests: AtomicU32::new(0),
            polls: AtomicU32::new(0),
        }
    }
}
