//! The constants of the ABI, said once: the header gets them from here and from the files below, as `#define` or `enum`.
//! Strings, pointers and function addresses are in `capi/header/`.
//!
//! Invariant: programs compiled long ago carry these values; none ever changes.

#![allow(dead_code, unused_imports, non_camel_case_types)]

use std::ffi::c_int;

/// `NAME: C type = value;`
macro_rules! constants {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(pub const $name: $type = ($value as i64) as $type;)*
    };
}

/// `enum C name { NAME = value, ... }`
macro_rules! enumerations {
    ($(enum $type:ident { $($name:ident = $value:expr,)* })*) => {
        $($(pub const $name: c_int = $value;)*)*
    };
}

mod arguments;
mod enumerations;
mod objects;

pub use arguments::*;
pub use enumerations::*;
pub use objects::*;

// Versions and marks of MPICH.
constants! {
    MPI_SUBVERSION: c_int = 0;
    MPI_VERSION: c_int = 5;
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
    MPI_SUCCESS: c_int = 0;
    MPI_ERR_BUFFER: c_int = 1;
    MPI_ERR_COUNT: c_int = 2;
    MPI_ERR_TYPE: c_int = 3;
    MPI_ERR_TAG: c_int = 4;
    MPI_ERR_COMM: c_int = 5;
    MPI_ERR_RANK: c_int = 6;
    MPI_ERR_ROOT: c_int = 7;
    MPI_ERR_GROUP: c_int = 8;
    MPI_ERR_OP: c_int = 9;
    MPI_ERR_TOPOLOGY: c_int = 10;
    MPI_ERR_DIMS: c_int = 11;
    MPI_ERR_ARG: c_int = 12;
    MPI_ERR_UNKNOWN: c_int = 13;
    MPI_ERR_TRUNCATE: c_int = 14;
    MPI_ERR_OTHER: c_int = 15;
    MPI_ERR_INTERN: c_int = 16;
    MPI_ERR_IN_STATUS: c_int = 17;
    MPI_ERR_PENDING: c_int = 18;
    MPI_ERR_REQUEST: c_int = 19;
    MPI_ERR_ACCESS: c_int = 20;
    MPI_ERR_AMODE: c_int = 21;
    MPI_ERR_BAD_FILE: c_int = 22;
    MPI_ERR_CONVERSION: c_int = 23;
    MPI_ERR_DUP_DATAREP: c_int = 24;
    MPI_ERR_FILE_EXISTS: c_int = 25;
    MPI_ERR_FILE_IN_USE: c_int = 26;
    MPI_ERR_FILE: c_int = 27;
    MPI_ERR_INFO: c_int = 28;
    MPI_ERR_INFO_KEY: c_int = 29;
    MPI_ERR_INFO_VALUE: c_int = 30;
    MPI_ERR_INFO_NOKEY: c_int = 31;
    MPI_ERR_IO: c_int = 32;
    MPI_ERR_NAME: c_int = 33;
    MPI_ERR_NO_MEM: c_int = 34;
    MPI_ERR_NOT_SAME: c_int = 35;
    MPI_ERR_NO_SPACE: c_int = 36;
    MPI_ERR_NO_SUCH_FILE: c_int = 37;
    MPI_ERR_PORT: c_int = 38;
    MPI_ERR_QUOTA: c_int = 39;
    MPI_ERR_READ_ONLY: c_int = 40;
    MPI_ERR_SERVICE: c_int = 41;
    MPI_ERR_SPAWN: c_int = 42;
    MPI_ERR_UNSUPPORTED_DATAREP: c_int = 43;
    MPI_ERR_UNSUPPORTED_OPERATION: c_int = 44;
    MPI_ERR_WIN: c_int = 45;
    MPI_ERR_BASE: c_int = 46;
    MPI_ERR_LOCKTYPE: c_int = 47;
    MPI_ERR_KEYVAL: c_int = 48;
    MPI_ERR_RMA_CONFLICT: c_int = 49;
    MPI_ERR_RMA_SYNC: c_int = 50;
    MPI_ERR_SIZE: c_int = 51;
    MPI_ERR_DISP: c_int = 52;
    MPI_ERR_ASSERT: c_int = 53;
    MPI_ERR_RMA_RANGE: c_int = 55;
    MPI_ERR_RMA_ATTACH: c_int = 56;
    MPI_ERR_RMA_SHARED: c_int = 57;
    MPI_ERR_RMA_FLAVOR: c_int = 58;
    MPI_T_ERR_MEMORY: c_int = 59;
    MPI_T_ERR_NOT_INITIALIZED: c_int = 60;
    MPI_T_ERR_CANNOT_INIT: c_int = 61;
    MPI_T_ERR_INVALID_INDEX: c_int = 62;
    MPI_T_ERR_INVALID_ITEM: c_int = 63;
    MPI_T_ERR_INVALID_HANDLE: c_int = 64;
    MPI_T_ERR_OUT_OF_HANDLES: c_int = 65;
    MPI_T_ERR_OUT_OF_SESSIONS: c_int = 66;
    MPI_T_ERR_INVALID_SESSION: c_int = 67;
    MPI_T_ERR_CVAR_SET_NOT_NOW: c_int = 68;
    MPI_T_ERR_CVAR_SET_NEVER: c_int = 69;
    MPI_T_ERR_PVAR_NO_STARTSTOP: c_int = 70;
    MPI_T_ERR_PVAR_NO_WRITE: c_int = 71;
    MPI_T_ERR_PVAR_NO_ATOMIC: c_int = 72;
    MPI_T_ERR_INVALID_NAME: c_int = 73;
    MPI_T_ERR_INVALID: c_int = 74;
    MPI_ERR_SESSION: c_int = 75;
    MPI_ERR_PROC_ABORTED: c_int = 76;
    MPI_ERR_VALUE_TOO_LARGE: c_int = 77;
    MPI_T_ERR_NOT_SUPPORTED: c_int = 78;
    MPI_T_ERR_NOT_ACCESSIBLE: c_int = 79;
    MPI_ERR_ERRHANDLER: c_int = 80;
    MPI_ERR_ABI: c_int = 81;
    MPIX_ERR_PROC_FAILED: c_int = 101;
    MPIX_ERR_PROC_FAILED_PENDING: c_int = 102;
    MPIX_ERR_REVOKED: c_int = 103;
    MPIX_ERR_EAGAIN: c_int = 104;
    MPIX_ERR_NOREQ: c_int = 105;
    MPIX_ERR_STREAM: c_int = 106;
    MPIX_ERR_TIMEOUT: c_int = 107;
    MPI_ERR_LASTCODE: c_int = 0x3fff_ffff;
    MPICH_ERR_LAST_CLASS: c_int = 81;
    MPICH_ERR_FIRST_MPIX: c_int = 100;
    MPICH_ERR_LAST_MPIX: c_int = 107;
}
