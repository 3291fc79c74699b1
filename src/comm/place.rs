//! Where this process is: its number, and how many processes the job has.
//!
//! Invariant: said once, before there is a communicator; a process that nobody told is alone.

use std::sync::OnceLock;

/// This process's number, and how many there are in the job.
static PLACE: OnceLock<(u32, u32)> = OnceLock::new();

/// Says which process of how many this one is.
pub(super) fn set(rank: u32, size: u32) {
    let _ = PLACE.set((rank, size));
}

/// The processes of the job.
pub fn job() -> u32 {
    PLACE.get().map_or(1, |(_, size)| *size)
}

/// This process's number.
pub fn me() -> u32 {
    PLACE.get().map_or(0, |(rank, _)| *rank)
}
