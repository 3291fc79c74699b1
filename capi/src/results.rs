//! Results: texts, truth values, counts and statuses to where the caller wants them, and the caller's arrays of requests.
//!
//! Invariant: MPI_ERROR of a status is written only where MPI says so.

use crate::param::*;
use crate::pointers::{Array, InOutArray, Out, OutArray};
use oxmpi::datatype::Status as StatusWords;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::pt2pt::complete::{Completion, UNDEFINED};
use std::ffi::{c_char, c_int, c_void};

/// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
const STATUS_IGNORE: usize = 1;

impl TextOut {
    /// Writes as much of `text` as fits into `capacity` bytes, the zero included, cut between two
    /// characters. Returns the length without the zero.
    pub fn write(&self, text: &str, capacity: usize) -> Result<usize> {
        if self.0.is_null() {
            return fail!(Class::Arg, "the string to be written to is NULL");
        }
        let mut length = text.len().min(capacity.saturating_sub(1));
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        if capacity > 0 {
            // SAFETY: not null, and the caller of the C function has `capacity` bytes there, as the
            // standard demands.
            unsafe {
                self.0
                    .copy_from_nonoverlapping(text.as_ptr().cast::<c_char>(), length);
                self.0.add(length).write(0);
            }
        }
        Ok(length)
    }
}

impl Out<Logical> {
    pub fn put_bool(&self, value: bool) -> Result<()> {
        self.set(Logical(value.into()))
    }
}

impl AddressOut {
    /// Fails for NULL, before anything is done.
    pub fn not_null(&self) -> Result<()> {
        if self.0.is_null() {
            return fail!(Class::Arg, "the pointer for the address is NULL");
        }
        Ok(())
    }

    /// Writes an address to where the caller wants it.
    pub fn write(&self, address: *mut c_void) -> Result<()> {
        self.not_null()?;
        // SAFETY: not null, and the caller of the C function has a pointer there.
        unsafe { self.0.cast::<*mut c_void>().write(address) };
        Ok(())
    }
}

impl Out<Count> {
    /// MPI_UNDEFINED for what is no whole number or does not fit.
    pub fn put_or_undefined(&self, count: Option<u64>) -> Result<()> {
        let undefined = Count(UNDEFINED.into());
        let count = count.and_then(|count| i64::try_from(count).ok());
        let count = count.map_or(undefined, Count);
        self.set(count).or_else(|_| self.set(undefined))
    }
}

impl Out<Status> {
    /// Writes what a call gives for no operation at all: an empty status, MPI_ERROR included.
    pub fn give_empty(&self) -> Result<()> {
        if self.address() as usize == STATUS_IGNORE {
            return Ok(());
        }
        self.set(Status(StatusWords::empty()))
    }

    /// Writes the status of an operation, also of one that failed, and gives the error.
    #[inline(always)]
    pub fn finish(&self, done: Completion) -> Result<()> {
        self.give(done.status)?;
        done.into_result()
    }

    /// Writes a status unless it is MPI_STATUS_IGNORE. MPI_ERROR stays as it is: only functions
    /// that return several statuses write it.
    #[inline(always)]
    pub fn give(&self, mut status: StatusWords) -> Result<()> {
        let target = self.address().cast::<StatusWords>();
        if target as usize == STATUS_IGNORE {
            return Ok(());
        }
        if target.is_null() {
            return Err(self.null_error());
        }
        // SAFETY: not null, and the caller of the C function has a status there.
        unsafe {
            status.error = (&raw const (*target).error).read();
            target.write(status);
        }
        Ok(())
    }
}

impl OutArray<Status> {
    /// Fails for NULL where statuses are to be written.
    pub fn check(&self, length: usize) -> Result<()> {
        if self.is_null() && length > 0 {
            return Err(self.null_error());
        }
        Ok(())
    }

    fn target(&self, index: usize) -> Option<*mut StatusWords> {
        let target = self.address().cast::<StatusWords>();
        (target as usize != STATUS_IGNORE).then(|| target.wrapping_add(index))
    }

    /// Writes a status, but not its MPI_ERROR, unless they are ignored. After `check`.
    pub fn give(&self, index: usize, mut status: StatusWords) {
        if let Some(target) = self.target(index) {
            // SAFETY: `check` saw that it is not null, and the caller of the C function has that
            // many statuses there.
            unsafe {
                status.error = (&raw const (*target).error).read();
                target.write(status);
            }
        }
    }

    /// Writes the MPI_ERROR of a status, unless they are ignored. After `check`.
    pub fn give_error(&self, index: usize, code: c_int) {
        if let Some(target) = self.target(index) {
            // SAFETY: as in `give`.
            unsafe { (&raw mut (*target).error).write(code) }
        }
    }
}

impl InOutArray<Request> {
    /// The caller's array itself.
    pub fn slice(&mut self, length: usize) -> Result<&mut [c_int]> {
        if length == 0 {
            return Ok(&mut []);
        }
        if self.is_null() {
            return Err(self.null_error());
        }
        // SAFETY: not null; the caller of the C function owns an array of that many handles, which
        // are ints, and nobody else uses it during the call.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address().cast(), length) })
    }
}

impl Array<Request> {
    /// The caller's array itself.
    pub fn slice(&self, length: usize) -> Result<&[c_int]> {
        if length == 0 {
            return Ok(&[]);
        }
        if self.is_null() {
            return Err(self.null_error());
        }
        // SAFETY: as above; it is only read.
        Ok(unsafe { std::slice::from_raw_parts(self.address().cast(), length) })
    }
}
