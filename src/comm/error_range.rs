//! Which deaths revoke a communicator: its hint `mpi_error_range` (`docs/failures.md`).
//!
//! Invariant: one with another range than the default is revoked in each process at the latest when that looks for revocations
//! ([`super::revocation::look`]) and knows of a death in the range. Programs that have no such communicator pay one load a look.

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

/// The processes whose deaths revoke communicators; none if no communicator wants that.
#[inline]
pub(super) fn deaths() -> Vec<u32> {
    match ANY.load(Ordering::Relaxed) {
        true => failures::known(),
        false => Vec::new(),
    }
}

impl Comm {
    /// Has deaths of a range revoke it, also those that are known, from the next look on.
    pub fn set_error_range(&self, range: ErrorRange) {
        self.error_range.store(range as u32, Ordering::Relaxed);
        if range != ErrorRange::Local {
            ANY.store(true, Ordering::Relaxed);
        }
    }

    /// Whether one of these deaths revokes it. Not before it is complete: it has no place yet where others are told.
    pub(super) fn has_in_range(&self, deaths: &[u32]) -> bool {
        let range = self.error_range.load(Ordering::Relaxed);
        let is_group = range == ErrorRange::Group as u32;
        let is_universe = range == ErrorRange::Universe as u32;
        self.context() != PENDING
            && (is_universe && !deaths.is_empty()
                || is_group && self.processes().any(|process| deaths.contains(&process)))
    }
}
