//! How the arguments of a failed call are written into its message. Only on the way to an error.

use crate::addresses::IN_PLACE;
use crate::constants::of_program::{
    MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_KEYVAL_INVALID, MPI_PROC_NULL, MPI_ROOT,
};
use crate::constants::{MPI_COMM_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL};
use crate::types::MPIX_Iov;
use oxmpi::comm::Comm;
use oxmpi::datatype::{Datatype, Status};
use std::ffi::{CStr, c_char, c_int, c_long};
use std::fmt::{Result, Write};

pub fn integer(value: c_int, text: &mut dyn Write) -> Result {
    write!(text, "{value}")
}

pub fn long(value: impl Into<i64>, text: &mut dyn Write) -> Result {
    write!(text, "{}", value.into())
}

pub fn double(value: f64, text: &mut dyn Write) -> Result {
    write!(text, "{value}")
}

/// A handle as the program has it.
pub fn handle(value: c_int, text: &mut dyn Write) -> Result {
    #[cfg(not(standard_abi))]
    return write!(text, "{value:#010x}");
    #[cfg(standard_abi)]
    return write!(text, "{:#010x}", crate::standard::handles::any(value));
}

/// A handle as the program has it, in the text of an error.
#[cfg(not(standard_abi))]
pub fn spelled(handle: c_int) -> String {
    format!("{handle:#010x}")
}
#[cfg(standard_abi)]
pub use crate::standard::handles::spelled;

/// By its name, if it has one.
fn named(value: c_int, name: Option<String>, text: &mut dyn Write) -> Result {
    match name {
        Some(name) if !name.is_empty() => text.write_str(&name),
        _ => handle(value, text),
    }
}

pub fn comm(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_COMM_NULL => text.write_str("MPI_COMM_NULL"),
        _ => named(
            value,
            oxmpi::comm::find(value).map(Comm::title_of_argument),
            text,
        ),
    }
}

pub fn datatype(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_DATATYPE_NULL => text.write_str("MPI_DATATYPE_NULL"),
        _ => named(value, oxmpi::datatype::get(value).map(Datatype::name), text),
    }
}

pub fn op(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_OP_NULL => text.write_str("MPI_OP_NULL"),
        _ => handle(value, text),
    }
}

pub fn rank(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_PROC_NULL => text.write_str("MPI_PROC_NULL"),
        MPI_ANY_SOURCE => text.write_str("MPI_ANY_SOURCE"),
        _ => integer(value, text),
    }
}

pub fn root(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_PROC_NULL => text.write_str("MPI_PROC_NULL"),
        MPI_ROOT => text.write_str("MPI_ROOT"),
        _ => integer(value, text),
    }
}

pub fn tag(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_ANY_TAG => text.write_str("MPI_ANY_TAG"),
        _ => integer(value, text),
    }
}

pub fn keyval(value: c_int, text: &mut dyn Write) -> Result {
    match value {
        MPI_KEYVAL_INVALID => text.write_str("MPI_KEYVAL_INVALID"),
        _ => handle(value, text),
    }
}

pub fn pointer<T>(value: *const T, text: &mut dyn Write) -> Result {
    address(value.cast(), text)
}

pub fn address(value: *const std::ffi::c_void, text: &mut dyn Write) -> Result {
    match value as usize {
        0 => text.write_str("NULL"),
        IN_PLACE => text.write_str("MPI_IN_PLACE"),
        // MPICH's MPI_STATUS_IGNORE, and what others write for it.
        number @ 1..10 => write!(text, "(void *){number}"),
        _ => write!(text, "{value:p}"),
    }
}

pub fn text(value: *const c_char, text: &mut dyn Write) -> Result {
    if value.is_null() {
        return text.write_str("NULL");
    }
    // SAFETY: the caller of the C function passes a zero-terminated string that lives as long as
    // the call.
    let string = unsafe { CStr::from_ptr(value) }.to_string_lossy();
    match string.char_indices().nth(60) {
        Some((end, _)) => write!(text, "{:?}...", &string[..end]),
        None => write!(text, "{string:?}"),
    }
}

/// Its numbers are the program's.
pub fn status(value: Status, text: &mut dyn Write) -> Result {
    let Status { source, tag, .. } = value;
    write!(text, "status of source {source}, tag {tag}")
}

pub fn iov(value: MPIX_Iov, text: &mut dyn Write) -> Result {
    write!(text, "{:p}+{}", value.iov_base, value.iov_len as c_long)
}

pub fn range(value: [c_int; 3], text: &mut dyn Write) -> Result {
    write!(text, "{value:?}")
}
