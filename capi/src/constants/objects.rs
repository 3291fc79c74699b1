//! Constants that are handles of objects: communicators, datatypes, operations and the like.
//! Invariant: as above, none of them ever changes.

use crate::types::integers::*;
use std::ffi::c_int;

// Communicators.
constants! {
    in comms;
    MPI_COMM_NULL: MPI_Comm = 0x0400_0000 => 0x100;
    MPI_COMM_SELF: MPI_Comm = 0x4400_0001 => 0x102;
    MPI_COMM_WORLD: MPI_Comm = 0x4400_0000 => 0x101;
}

// Kinds of parts that communicators are split into.
constants! {
    in split_types;
    MPI_COMM_TYPE_HW_GUIDED: c_int = 2 => 223;
    MPI_COMM_TYPE_HW_UNGUIDED: c_int = 3 => 222;
    MPI_COMM_TYPE_RESOURCE_GUIDED: c_int = 4 => 224;
    MPI_COMM_TYPE_SHARED: c_int = 1 => 221;
}

// Groups.
constants! {
    in groups;
    MPI_GROUP_EMPTY: MPI_Group = 0x4800_0000 => 0x109;
    MPI_GROUP_NULL: MPI_Group = 0x0800_0000 => 0x108;
}

// Comparison of communicators and groups.
constants! {
    in comparisons;
    MPI_CONGRUENT: c_int = 1 => 202;
    MPI_IDENT: c_int = 0 => 201;
    MPI_SIMILAR: c_int = 2 => 203;
    MPI_UNEQUAL: c_int = 3 => 204;
}

// Requests.
constants! {
    in requests;
    MPI_REQUEST_NULL: MPI_Request = 0x2c00_0000 => 0x180;
}

// Sessions.
constants! {
    in sessions;
    MPI_SESSION_NULL: MPI_Session = 0x3800_0000 => 0x120;
}

// Windows.
constants! {
    in windows;
    MPI_WIN_NULL: MPI_Win = 0x2000_0000 => 0x110;
}

// Info objects.
constants! {
    in infos;
    MPI_INFO_ENV: MPI_Info = 0x5c00_0001 => 0x131;
    MPI_INFO_NULL: MPI_Info = 0x1c00_0000 => 0x130;
}

// Messages.
constants! {
    in messages;
    MPI_MESSAGE_NO_PROC: MPI_Message = 0x6c00_0000 => 0x129;
    MPI_MESSAGE_NULL: MPI_Message = 0x2c00_0000 => 0x128;
}

// Error handlers.
constants! {
    in errhandlers;
    MPI_ERRHANDLER_NULL: MPI_Errhandler = 0x1400_0000 => 0x140;
    MPI_ERRORS_ABORT: MPI_Errhandler = 0x5400_0003 => 0x142;
    MPI_ERRORS_ARE_FATAL: MPI_Errhandler = 0x5400_0000 => 0x141;
    MPI_ERRORS_RETURN: MPI_Errhandler = 0x5400_0001 => 0x143;
    MPIR_ERRORS_THROW_EXCEPTIONS: MPI_Errhandler = 0x5400_0002;
}

// Datatypes of C, C++ and both.
constants! {
    in datatypes;
    MPI_DATATYPE_NULL: MPI_Datatype = 0x0c00_0000 => 0x200;
    MPI_LB: MPI_Datatype = 0x4c00_0010;
    MPI_UB: MPI_Datatype = 0x4c00_0011;
    MPI_CHAR: MPI_Datatype = 0x4c00_0101 => 0x243;
    MPI_UNSIGNED_CHAR: MPI_Datatype = 0x4c00_0102 => 0x245;
    MPI_BYTE: MPI_Datatype = 0x4c00_010d => 0x247;
    MPI_PACKED: MPI_Datatype = 0x4c00_010f => 0x207;
    MPI_SIGNED_CHAR: MPI_Datatype = 0x4c00_0118 => 0x244;
    MPI_CHARACTER: MPI_Datatype = 0x4c00_011a => 0x21e;
    MPI_CXX_BOOL: MPI_Datatype = 0x4c00_0133 => 0x239;
    MPI_INT8_T: MPI_Datatype = 0x4c00_0137 => 0x240;
    MPI_UINT8_T: MPI_Datatype = 0x4c00_013b => 0x241;
    MPI_C_BOOL: MPI_Datatype = 0x4c00_013f => 0x238;
    MPI_SHORT: MPI_Datatype = 0x4c00_0203 => 0x208;
    MPI_UNSIGNED_SHORT: MPI_Datatype = 0x4c00_0204 => 0x20c;
    MPI_INT16_T: MPI_Datatype = 0x4c00_0238 => 0x248;
    MPI_UINT16_T: MPI_Datatype = 0x4c00_023c => 0x249;
    MPI_INT: MPI_Datatype = 0x4c00_0405 => 0x209;
    MPI_UNSIGNED: MPI_Datatype = 0x4c00_0406 => 0x20d;
    MPI_FLOAT: MPI_Datatype = 0x4c00_040a => 0x210;
    MPI_WCHAR: MPI_Datatype = 0x4c00_040e => 0x23c;
    MPI_INTEGER: MPI_Datatype = 0x4c00_041b => 0x219;
    MPI_REAL: MPI_Datatype = 0x4c00_041c => 0x21a;
    MPI_LOGICAL: MPI_Datatype = 0x4c00_041d => 0x218;
    MPI_INT32_T: MPI_Datatype = 0x4c00_0439 => 0x250;
    MPI_UINT32_T: MPI_Datatype = 0x4c00_043d => 0x251;
    MPI_LONG: MPI_Datatype = 0x4c00_0807 => 0x20a;
    MPI_UNSIGNED_LONG: MPI_Datatype = 0x4c00_0808 => 0x20e;
    MPI_LONG_LONG: MPI_Datatype = 0x4c00_0809 => 0x20b;
    MPI_LONG_LONG_INT: MPI_Datatype = 0x4c00_0809 => 0x20b;
    MPI_DOUBLE: MPI_Datatype = 0x4c00_080b => 0x214;
    MPI_UNSIGNED_LONG_LONG: MPI_Datatype = 0x4c00_0819 => 0x20f;
    MPI_COMPLEX: MPI_Datatype = 0x4c00_081e => 0x21b;
    MPI_DOUBLE_PRECISION: MPI_Datatype = 0x4c00_081f => 0x21c;
    MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = 0x4c00_0834 => 0x213;
    MPI_INT64_T: MPI_Datatype = 0x4c00_083a => 0x258;
    MPI_UINT64_T: MPI_Datatype = 0x4c00_083e => 0x259;
    MPI_C_COMPLEX: MPI_Datatype = 0x4c00_0840 => 0x212;
    MPI_C_FLOAT_COMPLEX: MPI_Datatype = 0x4c00_0840 => 0x212;
    MPI_AINT: MPI_Datatype = 0x4c00_0843 => 0x201;
    MPI_OFFSET: MPI_Datatype = 0x4c00_0844 => 0x203;
    MPI_COUNT: MPI_Datatype = 0x4c00_0845 => 0x202;
    MPI_LONG_DOUBLE: MPI_Datatype = 0x4c00_100c => 0x220;
    MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_1035 => 0x217;
    MPI_C_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_1041 => 0x216;
    MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_2036 => 0x225;
    MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_2042 => 0x224;
}

// Pair types.
constants! {
    in pair_types;
    MPI_FLOAT_INT: MPI_Datatype = 0x8c00_0000 => 0x228;
    MPI_DOUBLE_INT: MPI_Datatype = 0x8c00_0001 => 0x229;
    MPI_LONG_INT: MPI_Datatype = 0x8c00_0002 => 0x22a;
    MPI_SHORT_INT: MPI_Datatype = 0x8c00_0003 => 0x22c;
    MPI_LONG_DOUBLE_INT: MPI_Datatype = 0x8c00_0004 => 0x22d;
    MPI_2INT: MPI_Datatype = 0x4c00_0816 => 0x22b;
    MPI_2INTEGER: MPI_Datatype = 0x4c00_0820 => 0x232;
    MPI_2REAL: MPI_Datatype = 0x4c00_0821 => 0x230;
    MPI_2DOUBLE_PRECISION: MPI_Datatype = 0x4c00_1023 => 0x231;
}

// Fortran types of a size.
constants! {
    in sized_types;
    MPI_INTEGER1: MPI_Datatype = 0x4c00_012d => 0x2c1;
    MPI_LOGICAL1: MPI_Datatype = 0x4c00_0147 => 0x2c0;
    MPI_REAL2: MPI_Datatype = 0x4c00_0226 => 0x2ca;
    MPI_INTEGER2: MPI_Datatype = 0x4c00_022f => 0x2c9;
    MPI_LOGICAL2: MPI_Datatype = 0x4c00_0248 => 0x2c8;
    MPI_REAL4: MPI_Datatype = 0x4c00_0427 => 0x2d2;
    MPI_COMPLEX4: MPI_Datatype = 0x4c00_042e => 0x2d3;
    MPI_INTEGER4: MPI_Datatype = 0x4c00_0430 => 0x2d1;
    MPI_LOGICAL4: MPI_Datatype = 0x4c00_0449 => 0x2d0;
    MPI_COMPLEX8: MPI_Datatype = 0x4c00_0828 => 0x2db;
    MPI_REAL8: MPI_Datatype = 0x4c00_0829 => 0x2da;
    MPI_INTEGER8: MPI_Datatype = 0x4c00_0831 => 0x2d9;
    MPI_LOGICAL8: MPI_Datatype = 0x4c00_084a => 0x2d8;
    MPI_DOUBLE_COMPLEX: MPI_Datatype = 0x4c00_1022 => 0x21d;
    MPI_COMPLEX16: MPI_Datatype = 0x4c00_102a => 0x2e3;
    MPI_REAL16: MPI_Datatype = 0x4c00_102b => 0x2e2;
    MPI_INTEGER16: MPI_Datatype = 0x4c00_1032 => 0x2e1;
    MPI_LOGICAL16: MPI_Datatype = 0x4c00_104b => 0x2e0;
    MPI_COMPLEX32: MPI_Datatype = 0x4c00_202c => 0x2eb;
}

// Reduction operations.
constants! {
    in ops;
    MPI_OP_NULL: MPI_Op = 0x1800_0000 => 0x20;
    MPI_MAX: MPI_Op = 0x5800_0001 => 0x23;
    MPI_MIN: MPI_Op = 0x5800_0002 => 0x22;
    MPI_SUM: MPI_Op = 0x5800_0003 => 0x21;
    MPI_PROD: MPI_Op = 0x5800_0004 => 0x24;
    MPI_LAND: MPI_Op = 0x5800_0005 => 0x30;
    MPI_BAND: MPI_Op = 0x5800_0006 => 0x28;
    MPI_LOR: MPI_Op = 0x5800_0007 => 0x31;
    MPI_BOR: MPI_Op = 0x5800_0008 => 0x29;
    MPI_LXOR: MPI_Op = 0x5800_0009 => 0x32;
    MPI_BXOR: MPI_Op = 0x5800_000a => 0x2a;
    MPI_MINLOC: MPI_Op = 0x5800_000b => 0x38;
    MPI_MAXLOC: MPI_Op = 0x5800_000c => 0x39;
    MPI_REPLACE: MPI_Op = 0x5800_000d => 0x3c;
    MPI_NO_OP: MPI_Op = 0x5800_000e => 0x3d;
}
