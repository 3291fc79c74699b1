//! C over the core: `libmpi.so.12` with MPICH's ABI and, compiled with `cfg(standard_abi)`, `libmpi_abi.so.1` with that of the
//! standard. One file a chapter of the MPI standard; every
//! exported function is made by `entry!`, `entries!`, `forms!` or `stub!` (see `entry`), which also are the source of
//! `include/mpi.h` and `include/mpi.symbols`.

#![allow(clippy::too_many_arguments)] // as many as the standard has
// What only MPICH's ABI has.
#![cfg_attr(standard_abi, allow(dead_code, unused_imports))]

// A test's harness needs panics that unwind; the library must not have any, for nothing may unwind into C.
#[cfg(not(any(test, doc, panic = "abort")))]
compile_error!("libmpi has to be built with panic = \"abort\"");

#[macro_use]
mod entry;
#[macro_use]
mod tables;

mod constants;
mod decode;
mod describe;
mod error_return;
mod param;
mod pointers;
#[cfg(standard_abi)]
mod standard;
mod types;

mod abi;
mod addresses;
mod attr;
mod callback;
mod checked;
mod coll;
mod comm;
#[cfg(not(standard_abi))]
mod data;
#[cfg(standard_abi)]
#[path = "standard/data.rs"]
mod data;
mod datatype;
mod deprecated;
#[cfg(not(standard_abi))]
mod duplicating;
mod dynamic;
mod env;
mod errhandler;
mod error;
#[cfg(not(standard_abi))]
mod extensions;
mod external;
#[cfg(not(standard_abi))]
mod fortran;
mod group;
mod info;
#[cfg(not(standard_abi))]
mod internal;
mod io;
mod numbers;
mod op;
mod other_library;
mod pack;
mod partitioned;
mod process;
mod pt2pt;
#[cfg(not(standard_abi))]
mod removed;
mod results;
mod rma;
mod session;
mod threads;
mod timeline;
mod tool;
mod topology;
