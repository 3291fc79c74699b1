//! The core of oxmpi: an MPI library, safe to call from Rust, which knows no C.
//!
//! Modules stand on floors and import only from the floors below (see `docs/architecture.md`;
//! `tests/floors/` holds it to that).

// floor 0
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
pub mod handle;
pub mod sync;
#[cfg(not(loom))]
pub mod variables;
// floor 1
#[cfg(not(loom))]
pub mod os;
pub mod queue;
#[cfg(not(loom))]
pub mod references;
// floor 2
#[cfg(not(loom))]
pub mod attr;
#[cfg(not(loom))]
pub mod datatype;
#[cfg(not(loom))]
pub mod errhandler;
#[cfg(not(loom))]
pub mod group;
#[cfg(not(loom))]
pub mod info;
#[cfg(not(loom))]
pub mod op;
#[cfg(not(loom))]
pub mod topology;
// floor 3
#[cfg(not(loom))]
pub mod events;
#[cfg(not(loom))]
pub mod launch;
#[cfg(not(loom))]
pub mod node;
#[cfg(not(loom))]
pub mod transport;
// floor 4
#[cfg(not(loom))]
pub mod engine;
// floor 5
#[cfg(not(loom))]
pub mod connections;
// floor 6
#[cfg(not(loom))]
pub mod comm;
// floor 7
#[cfg(not(loom))]
pub mod coll;
#[cfg(not(loom))]
pub mod pt2pt;
// floor 8
#[cfg(not(loom))]
pub mod agree;
#[cfg(not(loom))]
pub mod context_id;
// floor 9
#[cfg(not(loom))]
pub mod lifetime;
// floor 10
#[cfg(not(loom))]
pub mod assembly;
#[cfg(not(loom))]
pub mod constructors;
// floor 11
#[cfg(not(loom))]
pub mod io;
#[cfg(not(loom))]
pub mod rma;
// floor 12
#[cfg(not(loom))]
pub mod dynamic;
// floor 13
#[cfg(not(loom))]
pub mod process;
// floor 14
#[cfg(not(loom))]
pub mod tool;

/// The version of MPICH whose ABI and header this is; `mpi.h` says the same (MPICH_VERSION, MPICH_NUMVERSION).
pub const MPICH_VERSION: &str = "5.0.0";

/// What MPI_Get_library_version says. Programs look for their vendor in it: by default they find MPICH's first line, which is
/// what a library in the place of MPICH's has to be taken for.
#[cfg(not(loom))]
pub fn library_version() -> String {
    use process::settings::{LIBRARY_VERSION, LibraryVersion};
    let version = env!("CARGO_PKG_VERSION");
    let compiler = env!("BUILT_BY_RUSTC");
    match LIBRARY_VERSION.get() {
        LibraryVersion::Mpich => format!(
            "MPICH Version:      {MPICH_VERSION}\n\
             oxmpi Version:      {version}\n\
             oxmpi:              a library of its own with the ABI of MPICH (libmpi.so.12)\n\
             oxmpi compiler:     {compiler}\n"
        ),
        LibraryVersion::Plain => format!(
            "oxmpi {version}, an MPI library with the ABI of MPICH (libmpi.so.12), built by {compiler}"
        ),
    }
}
