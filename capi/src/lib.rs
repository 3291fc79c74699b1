//! MPICH's C ABI over the core: `libmpi.so.12`. One file a chapter of the MPI standard; every
//! exported function is made by `entry!` or `stub!` (see `entry`), which also are the source of
//! `include/mpi.h` and `include/mpi.symbols`.

#![allow(clippy::too_many_arguments)] // as many as the standard has

// A test's harness needs panics that unwind; the library must not have any, for nothing may unwind into C.
#[cfg(not(any(test, doc, panic = "abort")))]
compile_error!("libmpi has to be built with panic = \"abort\"");

#[macro_use]
mod entry;

mod constants;
mod decode;
mod describe;
mod error_return;
mod param;
mod pointers;
mod types;

mod abi;
mod attr;
mod callback;
mod coll;
mod comm;
mod data;
mod datatype;
mod deprecated;
mod dynamic;
mod env;
mod errhandler;
mod error;
mod extensions;
mod external;
mod fortran;
mod group;
mod info;
mod internal;
mod io;
mod numbers;
mod op;
mod pack;
mod partitioned;
mod process;
mod pt2pt;
mod results;
mod rma;
mod session;
mod threads;
mod tool;
mod topology;
