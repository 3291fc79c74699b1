//! Constants that C has as enumerations.
//! Invariant: as above, none of them ever changes.

use std::ffi::c_int;

enumerations! {
    enum MPIR_Combiner_enum {
        MPI_COMBINER_NAMED = 1 => 101,
        MPI_COMBINER_DUP = 2 => 102,
        MPI_COMBINER_CONTIGUOUS = 3 => 103,
        MPI_COMBINER_VECTOR = 4 => 104,
        MPI_COMBINER_HVECTOR_INTEGER = 5,
        MPI_COMBINER_HVECTOR = 6 => 105,
        MPI_COMBINER_INDEXED = 7 => 106,
        MPI_COMBINER_HINDEXED_INTEGER = 8,
        MPI_COMBINER_HINDEXED = 9 => 107,
        MPI_COMBINER_INDEXED_BLOCK = 10 => 108,
        MPI_COMBINER_STRUCT_INTEGER = 11,
        MPI_COMBINER_STRUCT = 12 => 110,
        MPI_COMBINER_SUBARRAY = 13 => 111,
        MPI_COMBINER_DARRAY = 14 => 112,
        MPI_COMBINER_F90_REAL = 15 => 113,
        MPI_COMBINER_F90_COMPLEX = 16 => 114,
        MPI_COMBINER_F90_INTEGER = 17 => 115,
        MPI_COMBINER_RESIZED = 18 => 116,
        MPI_COMBINER_HINDEXED_BLOCK = 19 => 109,
        MPI_COMBINER_VALUE_INDEX = 20 => 117,
    }

    enum MPIX_Async_poll_result {
        MPIX_ASYNC_NOPROGRESS = 0,
        MPIX_ASYNC_DONE = 1,
    }

    enum MPIR_T_pvar_class_t {
        MPI_T_PVAR_CLASS_INVALID = 0,
        MPIR_T_PVAR_CLASS_NUMBER = 10,
        MPIR_T_PVAR_CLASS_FIRST = 240,
        MPI_T_PVAR_CLASS_STATE = 240 => 1,
        MPI_T_PVAR_CLASS_LEVEL = 241 => 2,
        MPI_T_PVAR_CLASS_SIZE = 242 => 3,
        MPI_T_PVAR_CLASS_PERCENTAGE = 243 => 4,
        MPI_T_PVAR_CLASS_HIGHWATERMARK = 244 => 5,
        MPI_T_PVAR_CLASS_LOWWATERMARK = 245 => 6,
        MPI_T_PVAR_CLASS_COUNTER = 246 => 7,
        MPI_T_PVAR_CLASS_AGGREGATE = 247 => 8,
        MPI_T_PVAR_CLASS_TIMER = 248 => 9,
        MPI_T_PVAR_CLASS_GENERIC = 249 => 10,
        MPIR_T_PVAR_CLASS_LAST = 250,
    }

    enum MPIR_Topo_type {
        MPI_GRAPH = 1 => 212,
        MPI_CART = 2 => 211,
        MPI_DIST_GRAPH = 3 => 213,
    }

    enum MPIR_T_bind_t {
        MPI_T_BIND_INVALID = 0,
        MPI_T_BIND_NO_OBJECT = 9700 => 1,
        MPI_T_BIND_MPI_COMM = 9701 => 2,
        MPI_T_BIND_MPI_DATATYPE = 9702 => 3,
        MPI_T_BIND_MPI_ERRHANDLER = 9703 => 4,
        MPI_T_BIND_MPI_FILE = 9704 => 5,
        MPI_T_BIND_MPI_GROUP = 9705 => 6,
        MPI_T_BIND_MPI_OP = 9706 => 7,
        MPI_T_BIND_MPI_REQUEST = 9707 => 8,
        MPI_T_BIND_MPI_WIN = 9708 => 9,
        MPI_T_BIND_MPI_MESSAGE = 9709 => 10,
        MPI_T_BIND_MPI_INFO = 9710 => 11,
        MPI_T_BIND_MPI_SESSION = 9711 => 12,
    }

    enum MPI_T_cb_safety {
        MPI_T_CB_REQUIRE_NONE = 0 => 0,
        MPI_T_CB_REQUIRE_MPI_RESTRICTED = 1 => 3,
        MPI_T_CB_REQUIRE_THREAD_SAFE = 2 => 15,
        MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 3 => 63,
    }

    enum MPIR_T_scope_t {
        MPI_T_SCOPE_INVALID = 0,
        MPI_T_SCOPE_CONSTANT = 60438 => 1,
        MPI_T_SCOPE_READONLY = 60439 => 2,
        MPI_T_SCOPE_LOCAL = 60440 => 3,
        MPI_T_SCOPE_GROUP = 60441 => 4,
        MPI_T_SCOPE_GROUP_EQ = 60442 => 5,
        MPI_T_SCOPE_ALL = 60443 => 6,
        MPI_T_SCOPE_ALL_EQ = 60444 => 7,
    }

    enum MPI_T_source_order {
        MPI_T_SOURCE_ORDERED = 0 => 1,
        MPI_T_SOURCE_UNORDERED = 1 => 2,
    }

    enum MPIR_T_verbosity_t {
        MPI_T_VERBOSITY_INVALID = 0,
        MPI_T_VERBOSITY_USER_BASIC = 221 => 9,
        MPI_T_VERBOSITY_USER_DETAIL = 222 => 10,
        MPI_T_VERBOSITY_USER_ALL = 223 => 12,
        MPI_T_VERBOSITY_TUNER_BASIC = 224 => 17,
        MPI_T_VERBOSITY_TUNER_DETAIL = 225 => 18,
        MPI_T_VERBOSITY_TUNER_ALL = 226 => 20,
        MPI_T_VERBOSITY_MPIDEV_BASIC = 227 => 33,
        MPI_T_VERBOSITY_MPIDEV_DETAIL = 228 => 34,
        MPI_T_VERBOSITY_MPIDEV_ALL = 229 => 36,
    }

    enum MPIR_Win_flavor_t {
        MPI_WIN_FLAVOR_CREATE = 1 => 311,
        MPI_WIN_FLAVOR_ALLOCATE = 2 => 312,
        MPI_WIN_FLAVOR_DYNAMIC = 3 => 313,
        MPI_WIN_FLAVOR_SHARED = 4 => 314,
    }

    enum MPIR_Win_model_t {
        MPI_WIN_SEPARATE = 1 => 322,
        MPI_WIN_UNIFIED = 2 => 321,
    }
}
