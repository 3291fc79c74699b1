//! The constants of the ABI, said once: the header gets them from here, as `#define` or `enum`.
//! Strings, pointers and function addresses are in `capi/header/`.
//!
//! Invariant: programs compiled long ago carry these values; none ever changes.

#![allow(dead_code, non_camel_case_types)]

use crate::types::*;
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

// Versions and marks of MPICH.
constants! {
    MPI_SUBVERSION: c_int = 0;
    MPI_VERSION: c_int = 5;
    MPICH: c_int = 1;
    MPICH_HAS_C2F: c_int = 1;
    MPICH_NAME: c_int = 5;
    MPICH_NUMVERSION: c_int = 50002300;
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

// Communicators, groups and their comparison.
constants! {
    MPI_COMM_NULL: MPI_Comm = 0x0400_0000;
    MPI_COMM_SELF: MPI_Comm = 0x4400_0001;
    MPI_COMM_WORLD: MPI_Comm = 0x4400_0000;
    MPI_COMM_TYPE_HW_GUIDED: c_int = 2;
    MPI_COMM_TYPE_HW_UNGUIDED: c_int = 3;
    MPI_COMM_TYPE_RESOURCE_GUIDED: c_int = 4;
    MPI_COMM_TYPE_SHARED: c_int = 1;
    MPI_GROUP_EMPTY: MPI_Group = 0x4800_0000;
    MPI_GROUP_NULL: MPI_Group = 0x0800_0000;
    MPI_CONGRUENT: c_int = 1;
    MPI_IDENT: c_int = 0;
    MPI_SIMILAR: c_int = 2;
    MPI_UNEQUAL: c_int = 3;
}

// Other handles.
constants! {
    MPI_REQUEST_NULL: MPI_Request = 0x2c00_0000;
    MPI_SESSION_NULL: MPI_Session = 0x3800_0000;
    MPI_WIN_NULL: MPI_Win = 0x2000_0000;
    MPI_INFO_ENV: MPI_Info = 0x5c00_0001;
    MPI_INFO_NULL: MPI_Info = 0x1c00_0000;
    MPI_MESSAGE_NO_PROC: MPI_Message = 0x6c00_0000;
    MPI_MESSAGE_NULL: MPI_Message = 0x2c00_0000;
    MPI_ERRHANDLER_NULL: MPI_Errhandler = 0x1400_0000;
    MPI_ERRORS_ABORT: MPI_Errhandler = 0x5400_0003;
    MPI_ERRORS_ARE_FATAL: MPI_Errhandler = 0x5400_0000;
    MPI_ERRORS_RETURN: MPI_Errhandler = 0x5400_0001;
    MPIR_ERRORS_THROW_EXCEPTIONS: MPI_Errhandler = 0x5400_0002;
}

// Datatypes of C, C++ and both.
constants! {
    MPI_DATATYPE_NULL: MPI_Datatype = 0x0c00_0000;
    MPI_LB: MPI_Datatype = 0x4c00_0010;
    MPI_UB: MPI_Datatype = 0x4c00_0011;
    MPI_CHAR: MPI_Datatype = 0x4c00_0101;
    MPI_UNSIGNED_CHAR: MPI_Datatype = 0x4c00_0102;
    MPI_BYTE: MPI_Datatype = 0x4c00_010d;
    MPI_PACKED: MPI_Datatype = 0x4c00_010f;
    MPI_SIGNED_CHAR: MPI_Datatype = 0x4c00_0118;
    MPI_CHARACTER: MPI_Datatype = 0x4c00_011a;
    MPI_CXX_BOOL: MPI_Datatype = 0x4c00_0133;
    MPI_INT8_T: MPI_Datatype = 0x4c00_0137;
    MPI_UINT8_T: MPI_Datatype = 0x4c00_013b;
    MPI_C_BOOL: MPI_Datatype = 0x4c00_013f;
    MPI_SHORT: MPI_Datatype = 0x4c00_0203;
    MPI_UNSIGNED_SHORT: MPI_Datatype = 0x4c00_0204;
    MPI_INT16_T: MPI_Datatype = 0x4c00_0238;
    MPI_UINT16_T: MPI_Datatype = 0x4c00_023c;
    MPI_INT: MPI_Datatype = 0x4c00_0405;
    MPI_UNSIGNED: MPI_Datatype = 0x4c00_0406;
    MPI_FLOAT: MPI_Datatype = 0x4c00_040a;
    MPI_WCHAR: MPI_Datatype = 0x4c00_040e;
    MPI_INTEGER: MPI_Datatype = 0x4c00_041b;
    MPI_REAL: MPI_Datatype = 0x4c00_041c;
    MPI_LOGICAL: MPI_Datatype = 0x4c00_041d;
    MPI_INT32_T: MPI_Datatype = 0x4c00_0439;
    MPI_UINT32_T: MPI_Datatype = 0x4c00_043d;
    MPI_LONG: MPI_Datatype = 0x4c00_0807;
    MPI_UNSIGNED_LONG: MPI_Datatype = 0x4c00_0808;
    MPI_LONG_LONG: MPI_Datatype = 0x4c00_0809;
    MPI_LONG_LONG_INT: MPI_Datatype = 0x4c00_0809;
    MPI_DOUBLE: MPI_Datatype = 0x4c00_080b;
    MPI_UNSIGNED_LONG_LONG: MPI_Datatype = 0x4c00_0819;
    MPI_COMPLEX: MPI_Datatype = 0x4c00_081e;
    MPI_DOUBLE_PRECISION: MPI_Datatype = 0x4c00_081f;
    MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = 0x4c00_0834;
    MPI_INT64_T: MPI_Datatype = 0x4c00_083a;
    MPI_UINT64_T: MPI_Datatype = 0x4c00_083e;
    MPI_C_COMPLEX: MPI_Datatype = 0x4c00_0840;
    MPI_C_FLOAT_COMPLEX: MPI_Datatype = 0x4c00_0840;
    MPI_AINT: MPI_Datatype = 0x4c00_0843;
    MPI_OFFSET: MPI_Datatype = 0x4c00_0844;
    MPI_COUNT: MPI_Datatype = 0x4c00_0845;
    MPI_LONG_DOUBLE: MPI_Datatype = 0x4c00_100c;
    MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_1035;
    MPI_C_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_1041;
    MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_2036;
    MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_2042;
}

// Pair types.
constants! {
    MPI_FLOAT_INT: MPI_Datatype = 0x8c00_0000;
    MPI_DOUBLE_INT: MPI_Datatype = 0x8c00_0001;
    MPI_LONG_INT: MPI_Datatype = 0x8c00_0002;
    MPI_SHORT_INT: MPI_Datatype = 0x8c00_0003;
    MPI_LONG_DOUBLE_INT: MPI_Datatype = 0x8c00_0004;
    MPI_2INT: MPI_Datatype = 0x4c00_0816;
    MPI_2INTEGER: MPI_Datatype = 0x4c00_0820;
    MPI_2REAL: MPI_Datatype = 0x4c00_0821;
    MPI_2DOUBLE_PRECISION: MPI_Datatype = 0x4c00_1023;
}

// Fortran types of a size.
constants! {
    MPI_INTEGER1: MPI_Datatype = 0x4c00_012d;
    MPI_LOGICAL1: MPI_Datatype = 0x4c00_0147;
    MPI_REAL2: MPI_Datatype = 0x4c00_0226;
    MPI_INTEGER2: MPI_Datatype = 0x4c00_022f;
    MPI_LOGICAL2: MPI_Datatype = 0x4c00_0248;
    MPI_REAL4: MPI_Datatype = 0x4c00_0427;
    MPI_COMPLEX4: MPI_Datatype = 0x4c00_042e;
    MPI_INTEGER4: MPI_Datatype = 0x4c00_0430;
    MPI_LOGICAL4: MPI_Datatype = 0x4c00_0449;
    MPI_COMPLEX8: MPI_Datatype = 0x4c00_0828;
    MPI_REAL8: MPI_Datatype = 0x4c00_0829;
    MPI_INTEGER8: MPI_Datatype = 0x4c00_0831;
    MPI_LOGICAL8: MPI_Datatype = 0x4c00_084a;
    MPI_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_1022;
    MPI_COMPLEX16: MPI_Datatype = 0x4c00_102a;
    MPI_REAL16: MPI_Datatype = 0x4c00_102b;
    MPI_INTEGER16: MPI_Datatype = 0x4c00_1032;
    MPI_LOGICAL16: MPI_Datatype = 0x4c00_104b;
    MPI_COMPLEX32: MPI_Datatype = 0x4c00_202c;
}

// Reduction operations.
constants! {
    MPI_OP_NULL: MPI_Op = 0x1800_0000;
    MPI_MAX: MPI_Op = 0x5800_0001;
    MPI_MIN: MPI_Op = 0x5800_0002;
    MPI_SUM: MPI_Op = 0x5800_0003;
    MPI_PROD: MPI_Op = 0x5800_0004;
    MPI_LAND: MPI_Op = 0x5800_0005;
    MPI_BAND: MPI_Op = 0x5800_0006;
    MPI_LOR: MPI_Op = 0x5800_0007;
    MPI_BOR: MPI_Op = 0x5800_0008;
    MPI_LXOR: MPI_Op = 0x5800_0009;
    MPI_BXOR: MPI_Op = 0x5800_000a;
    MPI_MINLOC: MPI_Op = 0x5800_000b;
    MPI_MAXLOC: MPI_Op = 0x5800_000c;
    MPI_REPLACE: MPI_Op = 0x5800_000d;
    MPI_NO_OP: MPI_Op = 0x5800_000e;
}

// Ranks, tags, counts.
constants! {
    MPI_ANY_SOURCE: c_int = -2;
    MPI_ANY_TAG: c_int = -1;
    MPI_BSEND_OVERHEAD: c_int = 96;
    MPI_PROC_NULL: c_int = -1;
    MPI_ROOT: c_int = -3;
    MPI_UNDEFINED: c_int = -32766;
}

// Attribute keys.
constants! {
    MPI_APPNUM: c_int = 0x6440_000d;
    MPI_HOST: c_int = 0x6440_0003;
    MPI_IO: c_int = 0x6440_0005;
    MPI_KEYVAL_INVALID: c_int = 0x2400_0000;
    MPI_LASTUSEDCODE: c_int = 0x6440_000b;
    MPI_TAG_UB: c_int = 0x6440_0001;
    MPI_UNIVERSE_SIZE: c_int = 0x6440_0009;
    MPI_WIN_BASE: c_int = 0x6600_0001;
    MPI_WIN_CREATE_FLAVOR: c_int = 0x6600_0007;
    MPI_WIN_DISP_UNIT: c_int = 0x6600_0005;
    MPI_WIN_MODEL: c_int = 0x6600_0009;
    MPI_WIN_SIZE: c_int = 0x6600_0003;
    MPI_WTIME_IS_GLOBAL: c_int = 0x6440_0007;
}

// Lengths of strings in C, with the terminating zero.
constants! {
    MPI_MAX_DATAREP_STRING: c_int = 128;
    MPI_MAX_ERROR_STRING: c_int = 512;
    MPI_MAX_INFO_KEY: c_int = 255;
    MPI_MAX_INFO_VAL: c_int = 1024;
    MPI_MAX_LIBRARY_VERSION_STRING: c_int = 8192;
    MPI_MAX_OBJECT_NAME: c_int = 128;
    MPI_MAX_PORT_NAME: c_int = 256;
    MPI_MAX_PROCESSOR_NAME: c_int = 128;
    MPI_MAX_PSET_NAME_LEN: c_int = 256;
    MPI_MAX_STRINGTAG_LEN: c_int = 256;
}

// Threads.
constants! {
    MPI_THREAD_FUNNELED: c_int = 1;
    MPI_THREAD_MULTIPLE: c_int = 3;
    MPI_THREAD_SERIALIZED: c_int = 2;
    MPI_THREAD_SINGLE: c_int = 0;
}

// Datatype constructors.
constants! {
    MPI_DISTRIBUTE_BLOCK: c_int = 121;
    MPI_DISTRIBUTE_CYCLIC: c_int = 122;
    MPI_DISTRIBUTE_DFLT_DARG: c_int = -49767;
    MPI_DISTRIBUTE_NONE: c_int = 123;
    MPI_ORDER_C: c_int = 56;
    MPI_ORDER_FORTRAN: c_int = 57;
    MPI_TYPECLASS_COMPLEX: c_int = 3;
    MPI_TYPECLASS_INTEGER: c_int = 2;
    MPI_TYPECLASS_REAL: c_int = 1;
    MPIIMPL_HAVE_MPI_COMBINER_DARRAY: c_int = 1;
    MPIIMPL_HAVE_MPI_COMBINER_DUP: c_int = 1;
    MPIIMPL_HAVE_MPI_COMBINER_SUBARRAY: c_int = 1;
}

// Statuses seen as Fortran arrays.
constants! {
    MPI_F_ERROR: c_int = 4;
    MPI_F_SOURCE: c_int = 2;
    MPI_F_STATUS_SIZE: c_int = 5;
    MPI_F_TAG: c_int = 3;
}

// Windows and files.
constants! {
    MPI_LOCK_EXCLUSIVE: c_int = 234;
    MPI_LOCK_SHARED: c_int = 235;
    MPI_MODE_APPEND: c_int = 128;
    MPI_MODE_CREATE: c_int = 1;
    MPI_MODE_DELETE_ON_CLOSE: c_int = 16;
    MPI_MODE_EXCL: c_int = 64;
    MPI_MODE_NOCHECK: c_int = 1024;
    MPI_MODE_NOPRECEDE: c_int = 8192;
    MPI_MODE_NOPUT: c_int = 4096;
    MPI_MODE_NOSTORE: c_int = 2048;
    MPI_MODE_NOSUCCEED: c_int = 16384;
    MPI_MODE_RDONLY: c_int = 2;
    MPI_MODE_RDWR: c_int = 8;
    MPI_MODE_SEQUENTIAL: c_int = 256;
    MPI_MODE_UNIQUE_OPEN: c_int = 32;
    MPI_MODE_WRONLY: c_int = 4;
    MPI_SEEK_CUR: c_int = 602;
    MPI_SEEK_END: c_int = 604;
    MPI_SEEK_SET: c_int = 600;
    MPI_DISPLACEMENT_CURRENT: MPI_Offset = -54278278;
}

// Extensions.
constants! {
    MPIX_BFLOAT16: MPI_Datatype = 0x4c00_024c;
    MPIX_COMM_TYPE_NEIGHBORHOOD: c_int = 5;
    MPIX_C_FLOAT16: MPI_Datatype = 0x4c00_0246;
    MPIX_EQUAL: MPI_Op = 0x5800_000f;
    MPIX_GPU_SUPPORT_CUDA: c_int = 0;
    MPIX_GPU_SUPPORT_HIP: c_int = 2;
    MPIX_GPU_SUPPORT_ZE: c_int = 1;
    MPIX_STREAM_NULL: MPIX_Stream = 0x3c00_0000;
}

enumerations! {
    enum MPIR_Combiner_enum {
        MPI_COMBINER_NAMED = 1,
        MPI_COMBINER_DUP = 2,
        MPI_COMBINER_CONTIGUOUS = 3,
        MPI_COMBINER_VECTOR = 4,
        MPI_COMBINER_HVECTOR_INTEGER = 5,
        MPI_COMBINER_HVECTOR = 6,
        MPI_COMBINER_INDEXED = 7,
        MPI_COMBINER_HINDEXED_INTEGER = 8,
        MPI_COMBINER_HINDEXED = 9,
        MPI_COMBINER_INDEXED_BLOCK = 10,
        MPI_COMBINER_STRUCT_INTEGER = 11,
        MPI_COMBINER_STRUCT = 12,
        MPI_COMBINER_SUBARRAY = 13,
        MPI_COMBINER_DARRAY = 14,
        MPI_COMBINER_F90_REAL = 15,
        MPI_COMBINER_F90_COMPLEX = 16,
        MPI_COMBINER_F90_INTEGER = 17,
        MPI_COMBINER_RESIZED = 18,
        MPI_COMBINER_HINDEXED_BLOCK = 19,
        MPI_COMBINER_VALUE_INDEX = 20,
    }

    enum MPIX_Async_poll_result {
        MPIX_ASYNC_NOPROGRESS = 0,
        MPIX_ASYNC_DONE = 1,
    }

    enum MPIR_T_pvar_class_t {
        MPI_T_PVAR_CLASS_INVALID = 0,
        MPIR_T_PVAR_CLASS_NUMBER = 10,
        MPIR_T_PVAR_CLASS_FIRST = 240,
        MPI_T_PVAR_CLASS_STATE = 240,
        MPI_T_PVAR_CLASS_LEVEL = 241,
        MPI_T_PVAR_CLASS_SIZE = 242,
        MPI_T_PVAR_CLASS_PERCENTAGE = 243,
        MPI_T_PVAR_CLASS_HIGHWATERMARK = 244,
        MPI_T_PVAR_CLASS_LOWWATERMARK = 245,
        MPI_T_PVAR_CLASS_COUNTER = 246,
        MPI_T_PVAR_CLASS_AGGREGATE = 247,
        MPI_T_PVAR_CLASS_TIMER = 248,
        MPI_T_PVAR_CLASS_GENERIC = 249,
        MPIR_T_PVAR_CLASS_LAST = 250,
    }

    enum MPIR_Topo_type {
        MPI_GRAPH = 1,
        MPI_CART = 2,
        MPI_DIST_GRAPH = 3,
    }

    enum MPIR_T_bind_t {
        MPI_T_BIND_INVALID = 0,
        MPI_T_BIND_NO_OBJECT = 9700,
        MPI_T_BIND_MPI_COMM = 9701,
        MPI_T_BIND_MPI_DATATYPE = 9702,
        MPI_T_BIND_MPI_ERRHANDLER = 9703,
        MPI_T_BIND_MPI_FILE = 9704,
        MPI_T_BIND_MPI_GROUP = 9705,
        MPI_T_BIND_MPI_OP = 9706,
        MPI_T_BIND_MPI_REQUEST = 9707,
        MPI_T_BIND_MPI_WIN = 9708,
        MPI_T_BIND_MPI_MESSAGE = 9709,
        MPI_T_BIND_MPI_INFO = 9710,
        MPI_T_BIND_MPI_SESSION = 9711,
    }

    enum MPI_T_cb_safety {
        MPI_T_CB_REQUIRE_NONE = 0,
        MPI_T_CB_REQUIRE_MPI_RESTRICTED = 1,
        MPI_T_CB_REQUIRE_THREAD_SAFE = 2,
        MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 3,
    }

    enum MPIR_T_scope_t {
        MPI_T_SCOPE_INVALID = 0,
        MPI_T_SCOPE_CONSTANT = 60438,
        MPI_T_SCOPE_READONLY = 60439,
        MPI_T_SCOPE_LOCAL = 60440,
        MPI_T_SCOPE_GROUP = 60441,
        MPI_T_SCOPE_GROUP_EQ = 60442,
        MPI_T_SCOPE_ALL = 60443,
        MPI_T_SCOPE_ALL_EQ = 60444,
    }

    enum MPI_T_source_order {
        MPI_T_SOURCE_ORDERED = 0,
        MPI_T_SOURCE_UNORDERED = 1,
    }

    enum MPIR_T_verbosity_t {
        MPI_T_VERBOSITY_INVALID = 0,
        MPI_T_VERBOSITY_USER_BASIC = 221,
        MPI_T_VERBOSITY_USER_DETAIL = 222,
        MPI_T_VERBOSITY_USER_ALL = 223,
        MPI_T_VERBOSITY_TUNER_BASIC = 224,
        MPI_T_VERBOSITY_TUNER_DETAIL = 225,
        MPI_T_VERBOSITY_TUNER_ALL = 226,
        MPI_T_VERBOSITY_MPIDEV_BASIC = 227,
        MPI_T_VERBOSITY_MPIDEV_DETAIL = 228,
        MPI_T_VERBOSITY_MPIDEV_ALL = 229,
    }

    enum MPIR_Win_flavor_t {
        MPI_WIN_FLAVOR_CREATE = 1,
        MPI_WIN_FLAVOR_ALLOCATE = 2,
        MPI_WIN_FLAVOR_DYNAMIC = 3,
        MPI_WIN_FLAVOR_SHARED = 4,
    }

    enum MPIR_Win_model_t {
        MPI_WIN_SEPARATE = 1,
        MPI_WIN_UNIFIED = 2,
    }
}
