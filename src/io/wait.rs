//! Waiting for other ranks of a file, and for what goes on behind a call: on a thread of the program's, where messages make progress in
//! between, or on one of the library's ([`super::workers`]), which enters no engine.

use super::workers;
use crate::engine::wait::{Reason, until_at, yield_until};
use crate::engine::{aside, liveness};
use crate::error::{Error, Result};
use crate::node;

/// Looks in vain before it is asked who is missing.
const LOOKS: u32 = 16;
/// Looks before a wait, where every rank has a core of its own.
const SOON: u32 = 100;

/// A few looks, or yields where ranks share cores. Returns whether one has found that it `holds`.
pub fn soon(mut holds: impl FnMut() -> bool) -> bool {
    if node::is_oversubscribed() {
        return yield_until(holds);
    }
    (0..SOON).any(|_| {
        std::hint::spin_loop();
        holds()
    })
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
    let mut looks = 0u32;
    let mut look = |error: &dyn Fn(u32) -> Error| {
        if holds() {
            return Some(Ok(()));
        }
        looks = looks.wrapping_add(1);
        if !looks.is_multiple_of(LOOKS) {
            return None;
        }
        let process = missing()?;
        // Lost first, then looked at: what it had stored is there.
        match holds() {
            true => Some(Ok(())),
            false => Some(Err(error(process))),
        }
    };
    match workers::is_worker() {
        true => aside::until(|| look(&liveness::explain)),
        false => until_at(0, &reason(function, handle), |engine| {
            look(&|process| liveness::error(engine, process))
        }),
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
