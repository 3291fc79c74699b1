//! The constants of both ABIs, said once: the headers get them from here and from the files below, as `#define` or `enum`.
//! The names stand for MPICH's values, which the core works with.
//! Strings, pointers and function addresses are in `capi/header/`.
//!
//! Invariant: programs compiled long ago carry these values; none ever changes.

#![allow(dead_code, unused_imports, non_camel_case_types)]

use std::ffi::c_int;

/// `NAME: C type = value => value in the standard ABI;`, without the second where that has no such constant. `in NAME` names the
/// group: a module with the standard's values, and pairs of both (`standard`).
macro_rules! constants {
    (in $group:ident; $($name:ident: $type:ty = $value:expr $(=> $standard:expr)?;)*) => {
        $(pub const $name: $type = ($value as i64) as $type;)*

        pub mod $group {
            $($(pub const $name: i32 = $standard;)?)*
            pub const PAIRS: &[(i32, i32)] = &[$($((super::$name as i32, $standard),)?)*];
        }
    };
}

/// `enum C name { NAME = value => value in the standard ABI, ... }`
macro_rules! enumerations {
    ($(enum $type:ident { $($name:ident = $value:expr $(=> $standard:expr)?,)* })*) => {
        $(
            $(pub const $name: c_int = $value;)*

            #[allow(non_snake_case)]
            pub mod $type {
                $($(pub const $name: i32 = $standard;)?)*
                pub const PAIRS: &[(i32, i32)] = &[$($((super::$name, $standard),)?)*];
            }
        )*
    };
}

mod arguments;
mod enumerations;
mod objects;

pub use arguments::*;
pub use enumerations::*;
pub use objects::*;

/// The values that a program of this library's ABI has.
pub mod of_program {
    #[cfg(not(standard_abi))]
    pub use super::{
        MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_KEYVAL_INVALID, MPI_MAX_PORT_NAME, MPI_MAX_PROCESSOR_NAME,
        MPI_MAX_PSET_NAME_LEN, MPI_MAX_STRINGTAG_LEN, MPI_PROC_NULL, MPI_ROOT, MPI_THREAD_MULTIPLE,
        MPI_THREAD_SINGLE,
    };
    #[cfg(standard_abi)]
    pub use super::{
        keyvals::MPI_KEYVAL_INVALID,
        lengths::{
            MPI_MAX_PORT_NAME, MPI_MAX_PROCESSOR_NAME, MPI_MAX_PSET_NAME_LEN, MPI_MAX_STRINGTAG_LEN,
        },
        ranks::{MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT},
        tags::MPI_ANY_TAG,
        thread_levels::{MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE},
    };
}

// Version of the MPI standard.
constants! {
    in versions;
    MPI_SUBVERSION: c_int = 0 => 0;
    MPI_VERSION: c_int = 5 => 5;
}

// Versions and marks of MPICH.
constants! {
    in marks;
    MPICH: c_int = 1;
    MPICH_HAS_C2F: c_int = 1;
    MPICH_NAME: c_int = 5;
    MPICH_NUMVERSION: c_int = 50000300;
    MPICH_RELEASE_TYPE_ALPHA: c_int = 0;
    MPICH_RELEASE_TYPE_BETA: c_int = 1;
    MPICH_RELEASE_TYPE_PATCH: c_int = 3;
    MPICH_RELEASE_TYPE_RC: c_int = 2;
    MPIIMPL_ADVERTISES_FEATURES: c_int = 1;
    MPIIMPL_HAVE_MPI_GREQUEST: c_int = 1;
    MPIIMPL_HAVE_MPI_INFO: c_int = 1;
    MPIIMPL_HAVE_MPI_TYPE_CREATE_DARRAY: c_int = 1;
    MPIIMPL_HAVE_STATUS_SET_BYTES: c_int = 1;
    MPIIMPL_HAVE_STATUS_SET_INFO: c_int = 1;
    ROMIO_VERSION: c_int = 126;
}

// Error classes.
constants! {
    in error_classes;
    MPI_SUCCESS: c_int = 0 => 0;
    MPI_ERR_BUFFER: c_int = 1 => 1;
    MPI_ERR_COUNT: c_int = 2 => 2;
    MPI_ERR_TYPE: c_int = 3 => 3;
    MPI_ERR_TAG: c_int = 4 => 4;
    MPI_ERR_COMM: c_int = 5 => 5;
    MPI_ERR_RANK: c_int = 6 => 6;
    MPI_ERR_ROOT: c_int = 7 => 8;
    MPI_ERR_GROUP: c_int = 8 => 9;
    MPI_ERR_OP: c_int = 9 => 10;
    MPI_ERR_TOPOLOGY: c_int = 10 => 11;
    MPI_ERR_DIMS: c_int = 11 => 12;
    MPI_ERR_ARG: c_int = 12 => 13;
    MPI_ERR_UNKNOWN: c_int = 13 => 14;
    MPI_ERR_TRUNCATE: c_int = 14 => 15;
    MPI_ERR_OTHER: c_int = 15 => 16;
    MPI_ERR_INTERN: c_int = 16 => 17;
    MPI_ERR_IN_STATUS: c_int = 17 => 19;
    MPI_ERR_PENDING: c_int = 18 => 18;
    MPI_ERR_REQUEST: c_int = 19 => 7;
    MPI_ERR_ACCESS: c_int = 20 => 20;
    MPI_ERR_AMODE: c_int = 21 => 21;
    MPI_ERR_BAD_FILE: c_int = 22 => 23;
    MPI_ERR_CONVERSION: c_int = 23 => 25;
    MPI_ERR_DUP_DATAREP: c_int = 24 => 27;
    MPI_ERR_FILE_EXISTS: c_int = 25 => 28;
    MPI_ERR_FILE_IN_USE: c_int = 26 => 29;
    MPI_ERR_FILE: c_int = 27 => 30;
    MPI_ERR_INFO: c_int = 28 => 34;
    MPI_ERR_INFO_KEY: c_int = 29 => 31;
    MPI_ERR_INFO_VALUE: c_int = 30 => 33;
    MPI_ERR_INFO_NOKEY: c_int = 31 => 32;
    MPI_ERR_IO: c_int = 32 => 35;
    MPI_ERR_NAME: c_int = 33 => 38;
    MPI_ERR_NO_MEM: c_int = 34 => 39;
    MPI_ERR_NOT_SAME: c_int = 35 => 40;
    MPI_ERR_NO_SPACE: c_int = 36 => 41;
    MPI_ERR_NO_SUCH_FILE: c_int = 37 => 42;
    MPI_ERR_PORT: c_int = 38 => 43;
    MPI_ERR_QUOTA: c_int = 39 => 44;
    MPI_ERR_READ_ONLY: c_int = 40 => 45;
    MPI_ERR_SERVICE: c_int = 41 => 51;
    MPI_ERR_SPAWN: c_int = 42 => 53;
    MPI_ERR_UNSUPPORTED_DATAREP: c_int = 43 => 54;
    MPI_ERR_UNSUPPORTED_OPERATION: c_int = 44 => 55;
    MPI_ERR_WIN: c_int = 45 => 56;
    MPI_ERR_BASE: c_int = 46 => 24;
    MPI_ERR_LOCKTYPE: c_int = 47 => 37;
    MPI_ERR_KEYVAL: c_int = 48 => 36;
    MPI_ERR_RMA_CONFLICT: c_int = 49 => 47;
    MPI_ERR_RMA_SYNC: c_int = 50 => 50;
    MPI_ERR_SIZE: c_int = 51 => 52;
    MPI_ERR_DISP: c_int = 52 => 26;
    MPI_ERR_ASSERT: c_int = 53 => 22;
    MPI_ERR_RMA_RANGE: c_int = 55 => 48;
    MPI_ERR_RMA_ATTACH: c_int = 56 => 46;
    MPI_ERR_RMA_SHARED: c_int = 57 => 49;
    MPI_ERR_RMA_FLAVOR: c_int = 58 => 57;
    MPI_ERR_SESSION: c_int = 75 => 60;
    MPI_ERR_PROC_ABORTED: c_int = 76 => 58;
    MPI_ERR_VALUE_TOO_LARGE: c_int = 77 => 59;
    MPI_ERR_ERRHANDLER: c_int = 80 => 61;
    MPI_ERR_ABI: c_int = 81 => 62;
    MPIX_ERR_PROC_FAILED: c_int = 101;
    MPIX_ERR_PROC_FAILED_PENDING: c_int = 102;
    MPIX_ERR_REVOKED: c_int = 103;
    MPIX_ERR_EAGAIN: c_int = 104;
    MPIX_ERR_NOREQ: c_int = 105;
    MPIX_ERR_STREAM: c_int = 106;
    MPIX_ERR_TIMEOUT: c_int = 107;
    MPI_ERR_LASTCODE: c_int = 0x3fff_ffff => 16383;
    MPICH_ERR_LAST_CLASS: c_int = 81;
    MPICH_ERR_FIRST_MPIX: c_int = 100;
    MPICH_ERR_LAST_MPIX: c_int = 107;
}

// Error classes of the tool interface.
constants! {
    in tool_errors;
    MPI_T_ERR_MEMORY: c_int = 59 => 1005;
    MPI_T_ERR_NOT_INITIALIZED: c_int = 60 => 1003;
    MPI_T_ERR_CANNOT_INIT: c_int = 61 => 1001;
    MPI_T_ERR_INVALID_INDEX: c_int = 62 => 1007;
    MPI_T_ERR_INVALID_ITEM: c_int = 63 => 1008;
    MPI_T_ERR_INVALID_HANDLE: c_int = 64 => 1010;
    MPI_T_ERR_OUT_OF_HANDLES: c_int = 65 => 1012;
    MPI_T_ERR_OUT_OF_SESSIONS: c_int = 66 => 1013;
    MPI_T_ERR_INVALID_SESSION: c_int = 67 => 1009;
    MPI_T_ERR_CVAR_SET_NOT_NOW: c_int = 68 => 1014;
    MPI_T_ERR_CVAR_SET_NEVER: c_int = 69 => 1015;
    MPI_T_ERR_PVAR_NO_STARTSTOP: c_int = 70 => 1017;
    MPI_T_ERR_PVAR_NO_WRITE: c_int = 71 => 1016;
    MPI_T_ERR_PVAR_NO_ATOMIC: c_int = 72 => 1018;
    MPI_T_ERR_INVALID_NAME: c_int = 73 => 1011;
    MPI_T_ERR_INVALID: c_int = 74 => 1006;
    MPI_T_ERR_NOT_SUPPORTED: c_int = 78 => 1004;
    MPI_T_ERR_NOT_ACCESSIBLE: c_int = 79 => 1002;
}
