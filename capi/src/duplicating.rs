//! The copy function of attributes that MPI predefines: MPI_DUP_FN.

use crate::types::MPI_Comm_copy_attr_function;
use std::ffi::{c_int, c_void};

/// MPI_DUP_FN, MPI_COMM_DUP_FN and their like: copies the value.
///
/// # Safety
/// `value_out` and `flag` point to a pointer and an int, as MPI says of copy callbacks.
#[unsafe(export_name = "MPIR_Dup_fn")]
unsafe extern "C" fn dup_fn(
    _object: c_int,
    _keyval: c_int,
    _extra_state: *mut c_void,
    value_in: *mut c_void,
    value_out: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the contract above.
    unsafe {
        value_out.cast::<*mut c_void>().write(value_in);
        flag.write(1);
    }
    0
}

/// Whether a program's copy function is the one above.
pub fn is_dup_function(function: MPI_Comm_copy_attr_function) -> bool {
    function as usize == dup_fn as *const () as usize
}
