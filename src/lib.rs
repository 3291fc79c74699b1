//! The core of oxmpi: an MPI library, safe to call from Rust, which knows no C.
//!
//! Modules stand on floors and import only from the floors below (see `docs/architecture.md`;
//! `tests/floors.rs` reads the `use crate::` lines).

// floor 0
pub mod error;
pub mod handle;
pub mod sync;
pub mod variables;
// floor 1
pub mod os;
pub mod queue;
// floor 2
pub mod attr;
pub mod datatype;
pub mod errhandler;
pub mod group;
pub mod info;
pub mod op;
// floor 3
pub mod launch;
pub mod transport;
// floor 4
pub mod engine;
// floor 5
pub mod coll;
pub mod comm;
pub mod constructors;
pub mod pt2pt;
// floor 7
pub mod process;
