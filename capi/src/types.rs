//! The C types of the ABI, under their C names, and the functions that programs pass to us.
//! What is written here is only the layout; the meaning of an argument is in `param`.
//!
//! Invariant: sizes and alignments are those of the ABI, MPICH's or the standard's (asserted below, and against a C
//! compiler in `tests/abi_constants.rs`).

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_double, c_int, c_long, c_longlong, c_void};

pub type MPI_Aint = c_long;
pub type MPI_Count = c_longlong;
pub type MPI_Offset = c_longlong;
pub type MPI_Fint = c_int;

/// Handles as the core has them, and as MPICH's C has them.
pub mod integers {
    use std::ffi::c_int;

    pub use super::MPI_Offset;

    pub type MPI_Comm = c_int;
    pub type MPI_Datatype = c_int;
    pub type MPI_Errhandler = c_int;
    pub type MPI_Group = c_int;
    pub type MPI_Info = c_int;
    pub type MPI_Message = c_int;
    pub type MPI_Op = c_int;
    pub type MPI_Request = c_int;
    pub type MPI_Session = c_int;
    pub type MPI_Win = c_int;
    pub type MPIX_Stream = c_int;
    pub type MPIX_Grequest_class = c_int;
}

#[cfg(not(standard_abi))]
pub use integers::*;

macro_rules! pointer_handles {
    ($($name:ident = $structure:ident;)*) => {
        $(
            #[repr(C)]
            pub struct $structure([u8; 0]);
            pub type $name = *mut $structure;
        )*
    };
}

// The standard's handles.
#[cfg(standard_abi)]
pointer_handles! {
    MPI_Comm = MPI_ABI_Comm;
    MPI_Datatype = MPI_ABI_Datatype;
    MPI_Errhandler = MPI_ABI_Errhandler;
    MPI_Group = MPI_ABI_Group;
    MPI_Info = MPI_ABI_Info;
    MPI_Message = MPI_ABI_Message;
    MPI_Op = MPI_ABI_Op;
    MPI_Request = MPI_ABI_Request;
    MPI_Session = MPI_ABI_Session;
    MPI_Win = MPI_ABI_Win;
    MPIX_Stream = MPI_ABI_Stream;
    MPIX_Grequest_class = MPI_ABI_Grequest_class;
}

pointer_handles! {
    MPI_File = ADIOI_FileD;
    MPI_T_enum = MPIR_T_enum_s;
    MPI_T_cvar_handle = MPIR_T_cvar_handle_s;
    MPI_T_pvar_handle = MPIR_T_pvar_handle_s;
    MPI_T_pvar_session = MPIR_T_pvar_session_s;
    MPI_T_event_registration = MPIR_T_event_registration_s;
    MPI_T_event_instance = MPIR_T_event_instance_s;
    MPIX_Async_thing = MPIR_Async_thing;
}

/// Enumerations in C; any int may arrive.
pub type MPI_T_cb_safety = c_int;
pub type MPI_T_source_order = c_int;

/// MPI_Status: 20 bytes. Bit 0 of the second word is the cancelled flag.
#[cfg(not(standard_abi))]
pub type MPI_Status = oxmpi::datatype::Status;

/// MPI_Status of the standard ABI: 32 bytes.
#[cfg(standard_abi)]
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct MPI_Status {
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
    /// The core's two words of the count, and three that nobody uses.
    pub internal: [c_int; 5],
}

/// MPI_Status as seen by Fortran 2008.
pub type MPI_F08_status = oxmpi::datatype::Status;

/// A piece of memory of a datatype (MPIX_Type_iov).
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct MPIX_Iov {
    pub iov_base: *mut c_void,
    pub iov_len: MPI_Aint,
}

const _: () = assert!(
    size_of::<MPI_Status>() == if cfg!(standard_abi) { 32 } else { 20 }
        && align_of::<MPI_Status>() == 4
);
const _: () = assert!(size_of::<MPI_Aint>() == 8 && size_of::<MPI_Count>() == 8);
const _: () = assert!(size_of::<MPIX_Iov>() == 16);

/// The handle of a communicator, datatype or window.
#[cfg(not(standard_abi))]
pub type AnyHandle = c_int;
#[cfg(standard_abi)]
pub type AnyHandle = *mut c_void;

type AttributeCopy = unsafe extern "C" fn(
    AnyHandle,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;
type AttributeDelete = unsafe extern "C" fn(AnyHandle, c_int, *mut c_void, *mut c_void) -> c_int;

pub type MPI_Copy_function = AttributeCopy;
pub type MPI_Delete_function = AttributeDelete;
pub type MPI_Comm_copy_attr_function = AttributeCopy;
pub type MPI_Comm_delete_attr_function = AttributeDelete;
pub type MPI_Type_copy_attr_function = AttributeCopy;
pub type MPI_Type_delete_attr_function = AttributeDelete;
pub type MPI_Win_copy_attr_function = AttributeCopy;
pub type MPI_Win_delete_attr_function = AttributeDelete;

pub type MPI_Comm_errhandler_function = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...);
pub type MPI_File_errhandler_function = unsafe extern "C" fn(*mut MPI_File, *mut c_int, ...);
pub type MPI_Win_errhandler_function = unsafe extern "C" fn(*mut MPI_Win, *mut c_int, ...);
pub type MPI_Session_errhandler_function = unsafe extern "C" fn(*mut MPI_Session, *mut c_int, ...);

pub type MPI_User_function =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype);
pub type MPI_User_function_c =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut MPI_Count, *mut MPI_Datatype);

pub type MPI_Grequest_query_function = unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int;
pub type MPI_Grequest_free_function = unsafe extern "C" fn(*mut c_void) -> c_int;
pub type MPI_Grequest_cancel_function = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
pub type MPIX_Grequest_poll_function = unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int;
pub type MPIX_Grequest_wait_function =
    unsafe extern "C" fn(c_int, *mut *mut c_void, c_double, *mut MPI_Status) -> c_int;

pub type MPI_Datarep_extent_function =
    unsafe extern "C" fn(MPI_Datatype, *mut MPI_Aint, *mut c_void) -> c_int;
pub type MPI_Datarep_conversion_function = unsafe extern "C" fn(
    *mut c_void,
    MPI_Datatype,
    c_int,
    *mut c_void,
    MPI_Offset,
    *mut c_void,
) -> c_int;
pub type MPI_Datarep_conversion_function_c = unsafe extern "C" fn(
    *mut c_void,
    MPI_Datatype,
    MPI_Count,
    *mut c_void,
    MPI_Offset,
    *mut c_void,
) -> c_int;

pub type MPI_T_event_cb_function = unsafe extern "C" fn(
    MPI_T_event_instance,
    MPI_T_event_registration,
    MPI_T_cb_safety,
    *mut c_void,
);
pub type MPI_T_event_free_cb_function =
    unsafe extern "C" fn(MPI_T_event_registration, MPI_T_cb_safety, *mut c_void);
pub type MPI_T_event_dropped_cb_function =
    unsafe extern "C" fn(MPI_Count, MPI_T_event_registration, c_int, MPI_T_cb_safety, *mut c_void);

pub type MPIX_Comm_errhandler_function_x = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void);
pub type MPIX_File_errhandler_function_x = unsafe extern "C" fn(MPI_File, c_int, *mut c_void);
pub type MPIX_Win_errhandler_function_x = unsafe extern "C" fn(MPI_Win, c_int, *mut c_void);
pub type MPIX_Session_errhandler_function_x = unsafe extern "C" fn(MPI_Session, c_int, *mut c_void);
pub type MPIX_User_function_x =
    unsafe extern "C" fn(*mut c_void, *mut c_void, MPI_Count, MPI_Datatype, *mut c_void);
pub type MPIX_Destructor_function = unsafe extern "C" fn(*mut c_void);
pub type MPIX_Async_poll_function = unsafe extern "C" fn(MPIX_Async_thing) -> c_int;

/// `char **argv`, as MPI_Comm_spawn takes it and MPI_Init gives it back.
pub type Strings = *mut *mut c_char;
