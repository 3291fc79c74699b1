//! Waiting for other ranks of a file, and for what goes on behind a call: on a thread of the program's, where messages make progress in
//! between, or on one of the library's ([`super::workers`]), which enters no engine.

use super::workers;
use crate::engine::aside;
use crate::engine::wait::{self, Reason, until_at};
use crate::error::Result;
use crate::node;

/// A few looks. Returns whether one has found that it `holds`.
pub fn soon(holds: impl FnMut() -> bool) -> bool {
    wait::soon(node::is_oversubscribed(), holds)
}

/// Waits until it `holds`, in this function, for the file of a handle. `missing` is asked now and then, and names a process because of
/// which it may never; then it is looked at once more.
///
/// Errors: MPI_ERR_OTHER, a process is missing.
pub fn until(
    function: &'static str,
    handle: i32,
    holds: &mut dyn FnMut() -> bool,
    missing: &dyn Fn() -> Option<u32>,
) -> Result<()> {
    match workers::is_worker() {
        true => aside::until_stored(holds, missing),
        false => wait::until_stored(0, &reason(function, handle), holds, &|_| missing()),
    }
}

/// Waits until it `holds`, which it will.
pub fn until_done(function: &'static str, handle: i32, mut holds: impl FnMut() -> bool) {
    until_at(0, &reason(function, handle), |_| holds().then_some(()));
}

/// A wait at the file of a handle; 0: at any.
pub(super) fn reason(function: &'static str, handle: i32) -> Reason {
    match handle {
        0 => Reason::of(function),
        handle => Reason::at_file(function, handle),
    }
}
