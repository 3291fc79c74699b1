//! The standard ABI (MPI 5.0, chapter 20): between the handles, numbers and statuses of its programs and those of the core, which
//! are MPICH's. Compiled only into `libmpi_abi.so.1` (`cfg(standard_abi)`); `param` calls it for every argument and result.
//!
//! Invariant: each conversion is one to one, so that what comes back from the core, or is written into a text, is what the
//! program gave; and no value of MPICH's means anything here.

pub mod attributes;
pub mod errors;
pub mod handles;
pub mod numbers;
pub mod status;
