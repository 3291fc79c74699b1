//! What the entries do not know about Fortran: which functions it has, what its arguments are called,
//! and which functions are written by hand because no rule fits them.
//!
//! Invariant: every name here is a function, or an argument of one (`check` in main.rs).

/// Functions of C alone, by how their names begin or end.
pub const C_ONLY_PREFIXES: [&str; 2] = ["MPI_T_", "MPIX_"];
pub const C_ONLY_SUFFIXES: [&str; 4] = ["_c2f", "_f2c", "_toint", "_fromint"];
pub const C_ONLY: [&str; 4] = [
    "MPI_Status_c2f08",
    "MPI_Status_f082c",
    "MPI_Abi_get_fortran_booleans",
    "MPI_Abi_set_fortran_booleans",
];

/// Extensions that MPICH's Fortran library has too.
pub const EXTENSIONS: [&str; 16] = [
    "MPIX_Comm_ack_failed",
    "MPIX_Comm_agree",
    "MPIX_Comm_agree_failed",
    "MPIX_Comm_failure_ack",
    "MPIX_Comm_failure_get_acked",
    "MPIX_Comm_get_failed",
    "MPIX_Comm_iagree",
    "MPIX_Comm_iagree_failed",
    "MPIX_Comm_is_revoked",
    "MPIX_Comm_ishrink",
    "MPIX_Comm_revoke",
    "MPIX_Comm_shrink",
    "MPIX_GPU_query_support",
    "MPIX_Query_cuda_support",
    "MPIX_Query_hip_support",
    "MPIX_Query_ze_support",
];

/// Removed before there was a module mpi_f08.
pub const NOT_IN_F08: [&str; 15] = [
    "MPI_Address",
    "MPI_Attr_delete",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Errhandler_create",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_Keyval_create",
    "MPI_Keyval_free",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
];

/// Large forms that are functions of their own, because only a callback tells them apart.
pub const LARGE_NAMED: [&str; 2] = ["MPI_Op_create", "MPI_Register_datarep"];

/// Arguments that Fortran does not have. C gets a zero.
pub const ABSENT: [(&str, &str); 6] = [
    ("MPI_Init", "argc"),
    ("MPI_Init", "argv"),
    ("MPI_Init_thread", "argc"),
    ("MPI_Init_thread", "argv"),
    ("MPI_Info_create_env", "argc"),
    ("MPI_Info_create_env", "argv"),
];

/// Arguments with another name in Fortran: function (empty: any), C, Fortran.
pub const RENAMED: [(&str, &str, &str); 5] = [
    ("", "indx", "index"),
    ("MPI_Status_get_error", "error", "err"),
    ("MPI_Status_set_error", "error", "err"),
    ("MPI_Precv_init", "dest", "source"),
    ("MPI_Errhandler_create", "comm_errhandler_fn", "handler_fn"),
];

/// Results that count from one in Fortran.
pub const FROM_ONE: [(&str, &str); 6] = [
    ("MPI_Waitany", "index"),
    ("MPI_Testany", "index"),
    ("MPI_Request_get_status_any", "index"),
    ("MPI_Waitsome", "array_of_indices"),
    ("MPI_Testsome", "array_of_indices"),
    ("MPI_Request_get_status_some", "array_of_indices"),
];

/// Old functions whose addresses are default integers in Fortran.
pub const NARROW: [&str; 11] = [
    "MPI_Address",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Keyval_create",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
    "MPI_Errhandler_create",
];

/// Their C side is in `runtime/`: callbacks, lists of strings, strings with a length given.
pub const BY_HAND: [&str; 31] = [
    "MPI_Address",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Buffer_detach",
    "MPI_Comm_create_keyval",
    "MPI_Comm_detach_buffer",
    "MPI_Comm_get_attr",
    "MPI_Comm_set_attr",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_File_create_errhandler",
    "MPI_Grequest_start",
    "MPI_Info_get",
    "MPI_Info_get_string",
    "MPI_Keyval_create",
    "MPI_Pcontrol",
    "MPI_Register_datarep",
    "MPI_Session_detach_buffer",
    "MPI_Session_get_nth_pset",
    "MPI_Type_create_keyval",
    "MPI_Type_extent",
    "MPI_Type_get_attr",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_set_attr",
    "MPI_Type_struct",
    "MPI_Type_ub",
    "MPI_Win_create_keyval",
    "MPI_Win_get_attr",
    "MPI_Win_set_attr",
];

/// Choice buffers that hold one block for each rank, by the name of the collective function without
/// `MPI_`, `I`, `Neighbor_` and `_init`. No name of a buffer: both.
pub const BLOCK_FOR_EACH: [(&str, &str); 10] = [
    ("gather", "recvbuf"),
    ("gatherv", "recvbuf"),
    ("allgather", "recvbuf"),
    ("allgatherv", "recvbuf"),
    ("scatter", "sendbuf"),
    ("scatterv", "sendbuf"),
    ("alltoall", ""),
    ("alltoallv", ""),
    ("alltoallw", ""),
    ("reduce_scatter_block", "sendbuf"),
];

/// Their buffers have one element of the datatype.
pub const ONE_ELEMENT: [&str; 2] = ["MPI_Compare_and_swap", "MPI_Fetch_and_op"];
