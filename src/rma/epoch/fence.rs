//! MPI_Win_fence: a barrier of the window's assembly.

use super::{all, assert, check_assertion};
use crate::error::Result;
use crate::rma::window::Window;
use crate::sync::Ordering;

const ALLOWED: i32 = assert::NOSTORE | assert::NOPUT | assert::NOPRECEDE | assert::NOSUCCEED;
/// Neither before nor after it is anything to be ordered.
const IDLE: i32 = assert::NOPRECEDE | assert::NOSUCCEED;

/// MPI_Win_fence.
///
/// Errors: MPI_ERR_ASSERT, MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, a rank is lost.
pub fn fence(window: &Window, assertion: i32) -> Result<()> {
    check_assertion(assertion, ALLOWED)?;
    if let Some(function) = window.open_epoch() {
        return window.epoch_is_open(function);
    }
    window.access.all.store(0, Ordering::Relaxed);
    if assertion & IDLE != IDLE {
        window.barrier("MPI_Win_fence")?;
    }
    if assertion & assert::NOSUCCEED == 0 {
        window.access.all.store(all::FENCE, Ordering::Relaxed);
    }
    Ok(())
}

impl Window {
    /// Waits until all ranks have come here. What they have stored before is seen after it.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost; those of operations to other hosts.
    pub fn barrier(&self, function: &'static str) -> Result<()> {
        self.share_if_wanted();
        let settled = self.settle_all(function);
        let done = self.assembly.barrier(function);
        done.map_err(|error| error.context(self.title()))?;
        settled
    }
}
