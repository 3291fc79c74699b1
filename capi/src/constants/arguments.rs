//! Constants that are arguments or their limits: ranks, tags, keys, lengths, flags.
//! Invariant: as above, none of them ever changes.

use crate::types::integers::*;
use std::ffi::c_int;

// Ranks.
constants! {
    in ranks;
    MPI_ANY_SOURCE: c_int = -2 => -1;
    MPI_PROC_NULL: c_int = -1 => -3;
    MPI_ROOT: c_int = -3 => -4;
}

// Tags.
constants! {
    in tags;
    MPI_ANY_TAG: c_int = -1 => -2;
}

// Counts.
constants! {
    in counts;
    MPI_BSEND_OVERHEAD: c_int = 96 => 512;
    MPI_UNDEFINED: c_int = -32766 => -32766;
}

// Attribute keys.
constants! {
    in keyvals;
    MPI_APPNUM: c_int = 0x6440_000d => 505;
    MPI_HOST: c_int = 0x6440_0003 => 503;
    MPI_IO: c_int = 0x6440_0005 => 502;
    MPI_KEYVAL_INVALID: c_int = 0x2400_0000 => 0;
    MPI_LASTUSEDCODE: c_int = 0x6440_000b => 506;
    MPI_TAG_UB: c_int = 0x6440_0001 => 501;
    MPI_UNIVERSE_SIZE: c_int = 0x6440_0009 => 507;
    MPI_WIN_BASE: c_int = 0x6600_0001 => 601;
    MPI_WIN_CREATE_FLAVOR: c_int = 0x6600_0007 => 604;
    MPI_WIN_DISP_UNIT: c_int = 0x6600_0005 => 602;
    MPI_WIN_MODEL: c_int = 0x6600_0009 => 605;
    MPI_WIN_SIZE: c_int = 0x6600_0003 => 603;
    MPI_WTIME_IS_GLOBAL: c_int = 0x6440_0007 => 504;
}

// Lengths of strings in C, with the terminating zero.
constants! {
    in lengths;
    MPI_MAX_DATAREP_STRING: c_int = 128 => 128;
    MPI_MAX_ERROR_STRING: c_int = 512 => 512;
    MPI_MAX_INFO_KEY: c_int = 255 => 256;
    MPI_MAX_INFO_VAL: c_int = 1024 => 1024;
    MPI_MAX_LIBRARY_VERSION_STRING: c_int = 8192 => 8192;
    MPI_MAX_OBJECT_NAME: c_int = 128 => 128;
    MPI_MAX_PORT_NAME: c_int = 256 => 1024;
    MPI_MAX_PROCESSOR_NAME: c_int = 128 => 256;
    MPI_MAX_PSET_NAME_LEN: c_int = 256 => 1024;
    MPI_MAX_STRINGTAG_LEN: c_int = 256 => 1024;
}

// Threads.
constants! {
    in thread_levels;
    MPI_THREAD_FUNNELED: c_int = 1 => 1024;
    MPI_THREAD_MULTIPLE: c_int = 3 => 4096;
    MPI_THREAD_SERIALIZED: c_int = 2 => 2048;
    MPI_THREAD_SINGLE: c_int = 0 => 0;
}

// Distributed arrays.
constants! {
    in distributions;
    MPI_DISTRIBUTE_BLOCK: c_int = 121 => 17;
    MPI_DISTRIBUTE_CYCLIC: c_int = 122 => 18;
    MPI_DISTRIBUTE_NONE: c_int = 123 => 16;
}

// Their arguments.
constants! {
    in distribution_arguments;
    MPI_DISTRIBUTE_DFLT_DARG: c_int = -49767 => 19;
}

// Order of dimensions.
constants! {
    in orders;
    MPI_ORDER_C: c_int = 56 => 12;
    MPI_ORDER_FORTRAN: c_int = 57 => 15;
}

// Classes of Fortran types.
constants! {
    in typeclasses;
    MPI_TYPECLASS_COMPLEX: c_int = 3 => 194;
    MPI_TYPECLASS_INTEGER: c_int = 2 => 192;
    MPI_TYPECLASS_REAL: c_int = 1 => 193;
}

// What old programs ask about datatype constructors.
constants! {
    in old_marks;
    MPIIMPL_HAVE_MPI_COMBINER_DARRAY: c_int = 1;
    MPIIMPL_HAVE_MPI_COMBINER_DUP: c_int = 1;
    MPIIMPL_HAVE_MPI_COMBINER_SUBARRAY: c_int = 1;
}

// Statuses seen as Fortran arrays.
constants! {
    in status_words;
    MPI_F_ERROR: c_int = 4 => 2;
    MPI_F_SOURCE: c_int = 2 => 0;
    MPI_F_STATUS_SIZE: c_int = 5 => 8;
    MPI_F_TAG: c_int = 3 => 1;
}

// Locks of windows.
constants! {
    in locks;
    MPI_LOCK_EXCLUSIVE: c_int = 234 => 301;
    MPI_LOCK_SHARED: c_int = 235 => 302;
}

// Assertions about windows.
constants! {
    in assertions;
    MPI_MODE_NOCHECK: c_int = 1024 => 1024;
    MPI_MODE_NOPRECEDE: c_int = 8192 => 2048;
    MPI_MODE_NOPUT: c_int = 4096 => 4096;
    MPI_MODE_NOSTORE: c_int = 2048 => 8192;
    MPI_MODE_NOSUCCEED: c_int = 16384 => 16384;
}

// Modes of files.
constants! {
    in access_modes;
    MPI_MODE_APPEND: c_int = 128 => 1;
    MPI_MODE_CREATE: c_int = 1 => 2;
    MPI_MODE_DELETE_ON_CLOSE: c_int = 16 => 4;
    MPI_MODE_EXCL: c_int = 64 => 8;
    MPI_MODE_RDONLY: c_int = 2 => 16;
    MPI_MODE_RDWR: c_int = 8 => 32;
    MPI_MODE_SEQUENTIAL: c_int = 256 => 64;
    MPI_MODE_UNIQUE_OPEN: c_int = 32 => 128;
    MPI_MODE_WRONLY: c_int = 4 => 256;
}

// Places in files.
constants! {
    in whence;
    MPI_SEEK_CUR: c_int = 602 => 401;
    MPI_SEEK_END: c_int = 604 => 402;
    MPI_SEEK_SET: c_int = 600 => 403;
}

// The place of a view.
constants! {
    in displacements;
    MPI_DISPLACEMENT_CURRENT: MPI_Offset = -54278278 => -1;
}

// Extensions.
constants! {
    in extensions;
    MPIX_BFLOAT16: MPI_Datatype = 0x4c00_024c;
    MPIX_COMM_TYPE_NEIGHBORHOOD: c_int = 5;
    MPIX_C_FLOAT16: MPI_Datatype = 0x4c00_0246;
    MPIX_EQUAL: MPI_Op = 0x5800_000f;
    MPIX_FT: c_int = 0x6440_000f;
    MPIX_GPU_SUPPORT_CUDA: c_int = 0;
    MPIX_GPU_SUPPORT_HIP: c_int = 2;
    MPIX_GPU_SUPPORT_ZE: c_int = 1;
    MPIX_STREAM_NULL: MPIX_Stream = 0x3c00_0000;
}
