//! What reads and writes have in common, whatever says where in the file.
//!
//! The order in which wrong arguments are told is that of the other chapters: where results go, the buffer, then the object. Errors of
//! collective functions go to all ranks, for which a file is needed first.

use crate::decode::{self, BUF};
use crate::param::{Count, Datatype, File, RecvBuffer, Request, SendBuffer, Status};
use crate::pointers::Out;
use oxmpi::datatype::{self, Buffer};
use oxmpi::error::Result;
use oxmpi::io::{Direction, Place, SplitForm, SplitKind, datarep};
use std::ffi::c_void;

/// A read or a write as the program's arguments have it.
pub struct Access {
    fh: File,
    direction: Direction,
    place: Place,
    /// The program's buffer, by which a split operation knows its end.
    address: *mut c_void,
    buffer: Result<Buffer>,
}

/// The buffer with its datatype where data may have to be converted.
#[inline(always)]
fn typed(
    buffer: Result<Buffer>,
    address: *mut c_void,
    count: Count,
    datatype: Datatype,
) -> Result<Buffer> {
    match datarep::converts() {
        false => buffer,
        true => buffer.map(|buffer| with_datatype(buffer, address.cast(), count, datatype)),
    }
}

#[cold]
fn with_datatype(buffer: Buffer, address: *mut u8, count: Count, datatype: Datatype) -> Buffer {
    match datatype::get(datatype.0) {
        // SAFETY: `buffer` is of the same elements.
        Some(datatype) if !buffer.is_empty() => unsafe {
            Buffer::typed(address, count.0 as u64, datatype)
        },
        _ => buffer,
    }
}

impl Access {
    #[inline(always)]
    pub fn read(
        fh: File,
        place: Place,
        buf: RecvBuffer,
        count: Count,
        datatype: Datatype,
    ) -> Access {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        Access {
            fh,
            direction: Direction::Read,
            place,
            address: buf.0,
            buffer: typed(buffer, buf.0, count, datatype),
        }
    }

    #[inline(always)]
    pub fn write(
        fh: File,
        place: Place,
        buf: SendBuffer,
        count: Count,
        datatype: Datatype,
    ) -> Access {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        let address = buf.0.cast_mut();
        Access {
            fh,
            direction: Direction::Write,
            place,
            address,
            buffer: typed(buffer, address, count, datatype),
        }
    }

    /// Done when the call returns.
    #[inline(always)]
    pub fn blocking(self, function: &'static str, status: Out<Status>) -> Result<()> {
        status.not_null()?;
        let buffer = self.buffer?;
        let file = decode::file(self.fh)?;
        status.finish(file.transfer(function, self.direction, self.place, &buffer)?)
    }

    /// As [`Access::blocking`], with all ranks.
    pub fn blocking_all(self, function: &'static str, status: Out<Status>) -> Result<()> {
        let buffer = status.not_null().and(self.buffer);
        let file = decode::file(self.fh)?;
        let done = file.access_all(function, self.direction, self.place, buffer);
        match status.is_null() {
            // All ranks were told of that as an error.
            true => done.into_result(),
            false => status.finish(done),
        }
    }

    /// Goes on behind the call.
    pub fn nonblocking(self, function: &'static str, request: Out<Request>) -> Result<()> {
        request.not_null()?;
        let buffer = self.buffer?;
        let file = decode::file(self.fh)?;
        let begun = file.begin(function, self.direction, self.place, &buffer)?;
        request.set(Request(begun))
    }

    /// As [`Access::nonblocking`], with all ranks.
    pub fn nonblocking_all(self, function: &'static str, request: Out<Request>) -> Result<()> {
        let buffer = request.not_null().and(self.buffer);
        let file = decode::file(self.fh)?;
        let begun = file.begin_all(function, self.direction, self.place, buffer)?;
        request.set(Request(begun))
    }

    /// Begins a split operation.
    pub fn begin(self, function: &'static str) -> Result<()> {
        let file = decode::file(self.fh)?;
        let address = self.address as usize;
        file.begin_split(function, self.direction, self.place, address, self.buffer)
    }
}

/// Ends a split operation with the buffer at `address`.
pub fn end(
    function: &'static str,
    fh: File,
    (direction, place): (Direction, SplitForm),
    address: *const c_void,
    status: Out<Status>,
) -> Result<()> {
    status.not_null()?;
    let kind = SplitKind { direction, place };
    let done = decode::file(fh)?.end_split(function, kind, address as usize)?;
    status.finish(done)
}
