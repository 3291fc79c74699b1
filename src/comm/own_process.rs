//! Number of this process, and number of processes of the job.
//!
//! Invariant: set once, before there is a communicator; until then the process is a singleton.

use std::sync::OnceLock;

/// This process's number, and how many there are in the job.
static OWN: OnceLock<(u32, u32)> = OnceLock::new();

/// Sets the number of this process and the number of processes.
pub(super) fn set(rank: u32, size: u32) {
    let _ = OWN.set((rank, size));
}

/// The processes of the job.
pub fn job() -> u32 {
    OWN.get().map_or(1, |(_, size)| *size)
}

/// This process's number.
pub fn me() -> u32 {
    OWN.get().map_or(0, |(rank, _)| *rank)
}
