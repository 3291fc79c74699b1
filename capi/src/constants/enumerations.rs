//! Constants that C has as enumerations.
//! Invariant: as above, none of them ever changes.

use std::ffi::c_int;

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
