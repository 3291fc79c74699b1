//! The tool interface, chapter 15: what its functions share.
//!
//! Invariant: a result that the caller gives no pointer for is left out; handles are the numbers of `oxmpi::tool`, as
//! pointers that nobody follows.

mod category;
mod control;
mod event;
mod performance;
mod registration;

use crate::constants::{MPI_DOUBLE, MPI_INT, MPI_UNSIGNED_LONG};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use crate::types::integers::MPI_Datatype;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::variables::Kind;
use std::ffi::c_void;

/// A result that may have no pointer.
fn offer<T: Value>(out: Out<T>, value: T) -> Result<()> {
    if out.is_null() {
        return Ok(());
    }
    out.set(value)
}

/// A text, as far as there is room for it; the length is what is needed for all of it and the zero (MPI 5.0, 15.3.3).
fn offer_text(out: TextOut, length: InOut<Int>, text: &str) -> Result<()> {
    if length.is_null() {
        return Ok(());
    }
    let room = length.read()?.0;
    if !out.0.is_null() && room > 0 {
        out.write(text, room as usize)?;
    }
    length.set(Int(text.len() as i32 + 1))
}

/// The first `room` indices.
fn offer_indices(out: OutArray<Int>, room: Int, indices: &[i32]) -> Result<()> {
    let room = decode::length("len", room)?;
    if room > 0 {
        out.not_null()?;
    }
    let mut some = indices.iter().take(room).enumerate();
    some.try_for_each(|(at, index)| out.put(at, Int(*index)))
}

/// The datatype of a control variable.
fn type_of(kind: Kind) -> MPI_Datatype {
    match kind {
        Kind::Number => MPI_UNSIGNED_LONG,
        Kind::Real => MPI_DOUBLE,
        Kind::Word(_) => MPI_INT,
    }
}

fn check_out(out: *const c_void) -> Result<()> {
    if out.is_null() {
        return fail!(Class::TInvalid, "buf is NULL");
    }
    Ok(())
}

/// Writes elements to where a tool wants a variable's value.
fn put<T: Copy>(out: TBuffer, values: &[T]) -> Result<()> {
    check_out(out.0)?;
    // SAFETY: not null, and the tool has as many elements of the variable's type there as it was told.
    unsafe {
        out.0
            .cast::<T>()
            .copy_from_nonoverlapping(values.as_ptr(), values.len());
    }
    Ok(())
}

/// Reads one element of a variable's new value.
fn get<T: Copy>(out: SendBuffer) -> Result<T> {
    check_out(out.0)?;
    // SAFETY: not null, and the tool has an element of the variable's type there.
    Ok(unsafe { out.0.cast::<T>().read() })
}
