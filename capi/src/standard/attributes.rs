//! Attributes: the copy function that is a constant, and predefined ones whose value is one of the standard's constants. The
//! program reads that through a pointer, here to a copy with the program's value.

use super::numbers;
use crate::constants::*;
use crate::types::{AnyHandle, MPI_Comm_copy_attr_function};
use std::ffi::{c_int, c_void};

/// MPI_COMM_DUP_FN and its like.
const DUP_FN: usize = 1;

/// The function that a program means.
pub fn copy_function(given: MPI_Comm_copy_attr_function) -> MPI_Comm_copy_attr_function {
    match given as usize {
        DUP_FN => dup_fn,
        _ => given,
    }
}

/// Copies the value.
///
/// # Safety
/// `value_out` and `flag` point to a pointer and an int, as MPI says of copy callbacks.
unsafe extern "C" fn dup_fn(
    _object: AnyHandle,
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

/// The value that stands at `address` for an attribute of the core; the address for the program.
///
/// # Safety
/// For one of these keys, `address` is that of an int that lives as long as the library.
pub unsafe fn seen(key: c_int, address: usize) -> usize {
    let of_program = match key {
        MPI_HOST | MPI_IO => numbers::rank::of_program,
        MPI_WIN_CREATE_FLAVOR => numbers::flavor::of_program,
        MPI_WIN_MODEL => numbers::model::of_program,
        _ => return address,
    };
    // SAFETY: the contract above.
    let value = of_program(unsafe { (address as *const c_int).read() });
    static VALUES: [c_int; 8] = [
        ranks::MPI_PROC_NULL,
        ranks::MPI_ANY_SOURCE,
        MPIR_Win_flavor_t::MPI_WIN_FLAVOR_CREATE,
        MPIR_Win_flavor_t::MPI_WIN_FLAVOR_ALLOCATE,
        MPIR_Win_flavor_t::MPI_WIN_FLAVOR_DYNAMIC,
        MPIR_Win_flavor_t::MPI_WIN_FLAVOR_SHARED,
        MPIR_Win_model_t::MPI_WIN_SEPARATE,
        MPIR_Win_model_t::MPI_WIN_UNIFIED,
    ];
    // A rank is the same in both ABIs.
    let place = VALUES.iter().find(|known| **known == value);
    place.map_or(address, |place| std::ptr::from_ref(place) as usize)
}
