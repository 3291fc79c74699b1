//! What the segment's header says of desks.

use crate::sync::{AtomicU32, AtomicU64};

/// What the segment's header says.
#[repr(C)]
pub struct Shared {
    /// Zero, or the index of the rank that has the lock, and 1.
    pub lock: AtomicU32,
    /// Not zero: there was no memory for a desk, and nobody gets one any more, so that all members of a communicator have none.
    pub refused: AtomicU32,
    /// How often a communicator was revoked.
    pub revocations: AtomicU32,
    /// The block that was made last; zero: none.
    pub first: AtomicU64,
}
