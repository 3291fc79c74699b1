//! Looks that mpiexec wants: it has found twice that all ranks wait and nothing has moved, and has each of them look again at once, and put nothing off
//! (`docs/verdict.md`). Else it would have to wait for liveness checks, which come twice a second.
//!
//! mpiexec counts in the segment how often it has asked, and wakes all ranks that sleep.

use crate::sync::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// Where mpiexec counts.
static WANTED: OnceLock<&'static AtomicU32> = OnceLock::new();

/// Says where mpiexec counts.
pub fn wanted_by(count: &'static AtomicU32) {
    let _ = WANTED.set(count);
}

/// A number that changes with each question.
#[inline]
pub fn count() -> u32 {
    WANTED
        .get()
        .map_or(0, |wanted| wanted.load(Ordering::Acquire)) // pairs with `want_looks`
}
