//! Results: texts, truth values, counts and statuses to where the caller wants them, and the caller's arrays of requests.
//!
//! Invariant: MPI_ERROR of a status is written only where MPI says so.

#![allow(clippy::needless_borrow)] // arrays of requests are slices in one ABI only

use crate::param::*;
use crate::pointers::{Array, InOutArray, Out, OutArray};
use crate::types::{MPI_Request, MPI_Status};
use oxmpi::datatype::Status as StatusWords;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::pt2pt::complete::{Completion, UNDEFINED};
use std::ffi::{c_char, c_int, c_void};

/// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
#[cfg(not(standard_abi))]
pub const STATUS_IGNORE: usize = 1;
#[cfg(standard_abi)]
pub const STATUS_IGNORE: usize = 0;

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

/// Writes a status but for its MPI_ERROR, unless it is that of an inactive request.
///
/// # Safety
/// There is a status at `target`.
#[inline(always)]
unsafe fn write_status(target: *mut MPI_Status, status: StatusWords) {
    let is_of_inactive = status.is_of_inactive();
    let mut status = Status(status).to_c();
    // SAFETY: the contract above.
    unsafe {
        status.error = match is_of_inactive {
            true => ErrorCode(0).to_c(),
            false => (&raw const (*target).error).read(),
        };
        target.write(status);
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
    pub fn give(&self, status: StatusWords) -> Result<()> {
        let target = self.address().cast::<MPI_Status>();
        if target as usize == STATUS_IGNORE {
            return Ok(());
        }
        if target.is_null() {
            return Err(self.null_error());
        }
        // SAFETY: not null, and the caller of the C function has a status there.
        unsafe { write_status(target, status) }
        Ok(())
    }
}

impl OutArray<Status> {
    /// Fails for NULL where statuses are to be written.
    pub fn check(&self, length: usize) -> Result<()> {
        if self.is_null() && length > 0 && STATUS_IGNORE != 0 {
            return Err(self.null_error());
        }
        Ok(())
    }

    fn target(&self, index: usize) -> Option<*mut MPI_Status> {
        let target = self.address().cast::<MPI_Status>();
        (target as usize != STATUS_IGNORE).then(|| target.wrapping_add(index))
    }

    /// Writes a status, but not its MPI_ERROR, unless they are ignored. After `check`.
    pub fn give(&self, index: usize, status: StatusWords) {
        if let Some(target) = self.target(index) {
            // SAFETY: `check` saw that it is not null, and the caller of the C function has that
            // many statuses there.
            unsafe { write_status(target, status) }
        }
    }

    /// Writes the MPI_ERROR of a status, unless they are ignored. After `check`.
    pub fn give_error(&self, index: usize, code: c_int) {
        if let Some(target) = self.target(index) {
            // SAFETY: as in `give`.
            unsafe { (&raw mut (*target).error).write(ErrorCode(code).to_c()) }
        }
    }
}

/// The caller's array of requests for as long as a call works on it: the array itself where handles are the core's, else a copy,
/// which is written back.
pub struct Requests<'a> {
    #[cfg(not(standard_abi))]
    handles: &'a mut [c_int],
    #[cfg(standard_abi)]
    handles: Copied,
    #[cfg(standard_abi)]
    of_program: &'a mut [MPI_Request],
}

/// The core's handles of an array; a few without an allocation.
#[cfg(standard_abi)]
pub struct Copied {
    few: [c_int; Copied::FEW],
    many: Vec<c_int>,
    length: usize,
}

#[cfg(standard_abi)]
impl Copied {
    const FEW: usize = 8;

    fn of(of_program: &[MPI_Request]) -> Copied {
        let mut copied = Copied {
            few: [0; Copied::FEW],
            many: Vec::new(),
            length: of_program.len(),
        };
        if of_program.len() > Copied::FEW {
            copied.many.resize(of_program.len(), 0);
        }
        for (to, handle) in copied.iter_mut().zip(of_program) {
            *to = Request::of_c(*handle).0;
        }
        copied
    }
}

#[cfg(standard_abi)]
impl std::ops::Deref for Copied {
    type Target = [c_int];

    #[inline]
    fn deref(&self) -> &[c_int] {
        match self.length > Copied::FEW {
            true => &self.many,
            false => &self.few[..self.length],
        }
    }
}

#[cfg(standard_abi)]
impl std::ops::DerefMut for Copied {
    #[inline]
    fn deref_mut(&mut self) -> &mut [c_int] {
        match self.length > Copied::FEW {
            true => &mut self.many,
            false => &mut self.few[..self.length],
        }
    }
}

impl InOutArray<Request> {
    pub fn slice(&mut self, length: usize) -> Result<Requests<'_>> {
        let of_program: &mut [MPI_Request] = match length {
            0 => &mut [],
            _ if self.is_null() => return Err(self.null_error()),
            // SAFETY: not null; the caller of the C function owns an array of that many handles, and nobody else uses it during
            // the call.
            _ => unsafe { std::slice::from_raw_parts_mut(self.address().cast(), length) },
        };
        Ok(Requests {
            #[cfg(not(standard_abi))]
            handles: of_program,
            #[cfg(standard_abi)]
            handles: Copied::of(of_program),
            #[cfg(standard_abi)]
            of_program,
        })
    }
}

impl std::ops::Deref for Requests<'_> {
    type Target = [c_int];

    #[inline]
    fn deref(&self) -> &[c_int] {
        &self.handles
    }
}

impl std::ops::DerefMut for Requests<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [c_int] {
        &mut self.handles
    }
}

#[cfg(standard_abi)]
impl Drop for Requests<'_> {
    fn drop(&mut self) {
        for (to, handle) in self.of_program.iter_mut().zip(&*self.handles) {
            // What stands for nothing stays as the program has it.
            *to = Request(*handle).to_c();
        }
    }
}

impl Array<Request> {
    /// The handles, which are only read.
    pub fn slice(&self, length: usize) -> Result<Handles<'_>> {
        let of_program: &[MPI_Request] = match length {
            0 => &[],
            _ if self.is_null() => return Err(self.null_error()),
            // SAFETY: as above.
            _ => unsafe { std::slice::from_raw_parts(self.address().cast(), length) },
        };
        #[cfg(not(standard_abi))]
        return Ok(of_program);
        #[cfg(standard_abi)]
        return Ok(Copied::of(of_program));
    }
}

/// The core's handles in an array of the caller's.
#[cfg(not(standard_abi))]
pub type Handles<'a> = &'a [c_int];
#[cfg(standard_abi)]
pub type Handles<'a> = Copied;
