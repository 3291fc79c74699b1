//! Epochs: which targets this process may access now, and the synchronisation that opens and closes them.

use super::window::Window;
use crate::error::{Class, Result, fail};
use crate::sync::{AtomicU8, AtomicU32, Ordering};

/// Bits of [`Access::all`]: an epoch that covers every target.
pub mod all {
    /// Between two fences. Another kind of epoch may follow a fence, if nothing was accessed.
    pub const FENCE: u32 = 1;
    pub const LOCK_ALL: u32 = 2;
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

/// The access epochs of this process at a window.
pub struct Access {
    pub all: AtomicU32,
    /// By target rank.
    pub held: Box<[AtomicU8]>,
}

impl Access {
    pub fn new(ranks: usize) -> Access {
        Access {
            all: AtomicU32::new(0),
            held: (0..ranks).map(|_| AtomicU8::new(0)).collect(),
        }
    }
}

impl Window {
    /// Whether an operation to `target`, a rank of the window, is allowed now. Waits for the target's MPI_Win_post if that is not there yet.
    ///
    /// Errors: MPI_ERR_RMA_SYNC.
    #[inline(always)]
    pub fn enter_epoch(&self, target: usize) -> Result<()> {
        if self.access.all.load(Ordering::Relaxed) != 0 {
            return Ok(());
        }
        match self.access.held[target].load(Ordering::Relaxed) {
            0 => self.no_epoch(target),
            bits if bits & held::AWAITED != 0 => self.await_post(target),
            _ => Ok(()),
        }
    }

    #[cold]
    fn no_epoch(&self, target: usize) -> Result<()> {
        fail!(
            Class::RmaSync,
            "no access epoch for target rank {target} is open at {}: call MPI_Win_fence, MPI_Win_start or MPI_Win_lock first",
            self.title()
        )
    }

    #[cold]
    fn await_post(&self, _target: usize) -> Result<()> {
        Ok(()) // epoch/pscw.rs
    }
}
