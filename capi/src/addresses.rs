//! Addresses that stand for something else than memory.

/// MPI_IN_PLACE.
#[cfg(not(standard_abi))]
pub const IN_PLACE: usize = usize::MAX;
#[cfg(standard_abi)]
pub const IN_PLACE: usize = 1;

/// MPI_BUFFER_AUTOMATIC.
#[cfg(not(standard_abi))]
pub const BUFFER_AUTOMATIC: usize = usize::MAX - 1;
#[cfg(standard_abi)]
pub const BUFFER_AUTOMATIC: usize = 2;
