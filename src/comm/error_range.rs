//! Which deaths revoke a communicator: its hint `mpi_error_range` (`docs/failures.md`).
//!
//! Invariant: one with another range than the default is revoked in each process at the latest when that looks for deaths and knows of one in
//! the range. Programs that have no such communicator pay one load a look.

use super::revocation::{self, find};
use super::{Comm, PENDING};
use crate::engine::failures;
use crate::sync::{AtomicBool, Ordering};

/// See [`Comm::set_error_range`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorRange {
    /// None: a call fails if it needs the dead.
    #[default]
    Local,
    /// Those of its processes.
    Group,
    /// Those of all processes that this one is connected to.
    Universe,
}

impl ErrorRange {
    /// That of a hint's value.
    pub fn named(value: &str) -> Option<ErrorRange> {
        match value {
            "local" => Some(ErrorRange::Local),
            "group" => Some(ErrorRange::Group),
            "universe" => Some(ErrorRange::Universe),
            _ => None,
        }
    }
}

/// Some communicator has another range than the default.
static ANY: AtomicBool = AtomicBool::new(false);

impl Comm {
    /// Has deaths of a range revoke it, also those that are known.
    pub fn set_error_range(&self, range: ErrorRange) {
        self.error_range.store(range as u32, Ordering::Relaxed);
        if range != ErrorRange::Local {
            ANY.store(true, Ordering::Relaxed);
            revocation::look();
        }
    }

    /// Whether a known death revokes it.
    pub(super) fn has_death_in_range(&self, known: &[u32]) -> bool {
        match self.error_range.load(Ordering::Relaxed) {
            group if group == ErrorRange::Group as u32 => {
                self.processes().any(|process| known.contains(&process))
            }
            range => range == ErrorRange::Universe as u32 && !known.is_empty(),
        }
    }
}

/// Revokes the communicators in whose range somebody has died.
#[inline]
pub(super) fn look() {
    if ANY.load(Ordering::Relaxed) {
        look_at_deaths();
    }
}

#[cold]
fn look_at_deaths() {
    let known = failures::known();
    if known.is_empty() {
        return;
    }
    // One that is not complete has no place yet where others are told.
    let is_hit = |comm: &Comm| comm.context() != PENDING && comm.has_death_in_range(&known);
    while let Some(comm) = find(is_hit) {
        comm.set_revoked();
    }
}
