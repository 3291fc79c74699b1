//! Constants that are arguments or their limits: ranks, tags, keys, lengths, flags.
//! Invariant: as above, none of them ever changes.

use crate::types::*;
use std::ffi::c_int;

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
