//! Work that blocks in the kernel, done by a thread of its own while the call makes progress.

use crate::engine::wait::{self, Reason};
use crate::engine::waits::{Kind, Wait, Whom};
use crate::engine::wake_own_threads;
use crate::error::{Class, Error, Result};
use crate::os::threads;
use parking_lot::Mutex;
use std::sync::Arc;

const STACK_BYTES: usize = 256 << 10;

/// Runs `work` and waits for it, in the name of an MPI function.
///
/// Errors: of the work; MPI_ERR_NO_MEM if no thread is to be had.
pub fn run<T: Send + 'static>(
    function: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let slot = Arc::new(Mutex::new(None));
    let theirs = slot.clone();
    let work = move || {
        *theirs.lock() = Some(work());
        wake_own_threads();
    };
    let thread = threads::start("oxmpi-connect", STACK_BYTES, work).map_err(|error| {
        Error::new(
            Class::NoMem,
            format!("no thread can be started to wait for a connection: {error}"),
        )
    })?;
    let what = &|_: bool| Wait::of(Kind::Connection, Whom::Outside);
    let result = wait::until(&Reason { function, what }, |_| slot.lock().take());
    // It has nothing left to do but to wake this one; then its stack is given back.
    let _ = thread.join();
    result
}
