//! Completion within a passive target epoch. Operations within a host are complete when their calls return, but small puts to private memory,
//! which are done here; those to other hosts are waited for.

use crate::error::{Class, Result, fail};
use crate::rma::window::Window;
use crate::sync::{Ordering, compiler_fence, full_fence};

/// MPI_Win_flush; no `target`: MPI_PROC_NULL.
///
/// Errors: MPI_ERR_RMA_SYNC.
#[inline]
pub fn flush(window: &Window, target: Option<usize>) -> Result<()> {
    check_target(window, target)?;
    if let Some(target) = target {
        window.settle(target, "MPI_Win_flush")?;
    }
    full_fence();
    window.count_poll();
    Ok(())
}

/// MPI_Win_flush_local; no `target`: MPI_PROC_NULL.
///
/// Errors: MPI_ERR_RMA_SYNC.
#[inline]
pub fn flush_local(window: &Window, target: Option<usize>) -> Result<()> {
    check_target(window, target)?;
    if let Some(target) = target {
        window.settle_here(Some(target), "MPI_Win_flush_local")?;
    }
    compiler_fence(Ordering::SeqCst);
    window.count_poll();
    Ok(())
}

/// MPI_Win_flush_all.
///
/// Errors: MPI_ERR_RMA_SYNC.
#[inline]
pub fn flush_all(window: &Window) -> Result<()> {
    check_any(window)?;
    window.settle_all("MPI_Win_flush_all")?;
    full_fence();
    window.count_poll();
    Ok(())
}

/// MPI_Win_flush_local_all.
///
/// Errors: MPI_ERR_RMA_SYNC.
#[inline]
pub fn flush_local_all(window: &Window) -> Result<()> {
    check_any(window)?;
    window.settle_here(None, "MPI_Win_flush_local_all")?;
    compiler_fence(Ordering::SeqCst);
    window.count_poll();
    Ok(())
}

/// MPI_Win_sync: public and private copy of the own memory are one, so this orders accesses. It needs no epoch.
#[inline]
pub fn sync(window: &Window) {
    full_fence();
    window.count_poll();
}

#[inline(always)]
fn check_target(window: &Window, target: Option<usize>) -> Result<()> {
    match target {
        Some(target) if !window.is_locked(target) => window.is_not_locked(target),
        _ => Ok(()),
    }
}

#[inline(always)]
fn check_any(window: &Window) -> Result<()> {
    match window.is_any_locked() {
        true => Ok(()),
        false => nothing_is_locked(window),
    }
}

#[cold]
fn nothing_is_locked(window: &Window) -> Result<()> {
    fail!(
        Class::RmaSync,
        "no target of {} is locked by this process: call MPI_Win_lock or MPI_Win_lock_all first",
        window.title()
    )
}
