//! Constants that are handles of objects: communicators, datatypes, operations and the like.
//! Invariant: as above, none of them ever changes.

use crate::types::*;
use std::ffi::c_int;

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
