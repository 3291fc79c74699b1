//! Arrays of numbers as they lie in the caller's memory, for functions that take many of them.
//!
//! Invariant: an array of no elements may be NULL; any other NULL is an error.

use crate::param::*;
use crate::pointers::{Array, LooseArray};
use oxmpi::datatype::Numbers;
use oxmpi::error::{Error, Result};
use std::ffi::c_void;

/// `length` elements of the caller's array.
fn slice<'a, C>(
    address: *mut c_void,
    length: usize,
    null: impl FnOnce() -> Error,
) -> Result<&'a [C]> {
    if length == 0 {
        return Ok(&[]);
    }
    if address.is_null() {
        return Err(null());
    }
    // SAFETY: not null; the caller of the C function owns an array of that many elements of this C type, which are numbers, and
    // does not change it during the call.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<C>(), length) })
}

/// Arrays whose element is an `int`, with the suffix `_c` an MPI_Count.
macro_rules! either {
    ($($name:ty)*) => {
        $(
            impl Array<$name> {
                pub fn numbers(&self, length: usize) -> Result<Numbers<'_>> {
                    let (address, null) = (self.address(), || self.null_error());
                    Ok(match self.is_large() {
                        true => Numbers::Large(slice(address, length, null)?),
                        false => Numbers::Small(slice(address, length, null)?),
                    })
                }
            }
        )*
    };
}

either!(Count BlockDisplacement);

impl Array<ByteDisplacement> {
    /// MPI_Aint or MPI_Count: 64 bits both.
    pub fn addresses(&self, length: usize) -> Result<&[i64]> {
        slice(self.address(), length, || self.null_error())
    }
}

impl Array<Int> {
    pub fn integers(&self, length: usize) -> Result<&[i32]> {
        slice(self.address(), length, || self.null_error())
    }
}

impl LooseArray<Int> {
    pub fn numbers(&self, length: usize) -> Result<Numbers<'_>> {
        slice(self.address(), length, || self.null_error()).map(Numbers::Small)
    }
}

impl LooseArray<Aint> {
    pub fn addresses(&self, length: usize) -> Result<&[i64]> {
        slice(self.address(), length, || self.null_error())
    }
}

/// Arrays of numbers with special values, as the core has them.
macro_rules! special {
    ($($name:ident)*) => {
        $(
            impl Array<$name> {
                pub fn integers(&self, length: usize) -> Result<Vec<i32>> {
                    let elements = self.elements(length)?;
                    Ok(elements.into_iter().map(|element| element.0).collect())
                }
            }
        )*
    };
}

special!(Distribution DistributionArgument);
