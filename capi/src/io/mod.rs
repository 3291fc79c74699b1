//! Files, chapter 14.

mod datarep;
mod decode;
mod explicit;
mod file;
mod individual;
mod shared;

use crate::constants::{MPI_SEEK_CUR, MPI_SEEK_END, MPI_SEEK_SET};
use crate::param::{File, Request, Status, Whence};
use crate::pointers::Out;
use oxmpi::datatype::Buffer;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::io::{Direction, Place, SplitForm, SplitKind, Whence as From};

const READ: Direction = Direction::Read;
const WRITE: Direction = Direction::Write;

// The order in which wrong arguments are told is that of the other chapters: where results go, the buffer, then the object. Errors of
// collective functions go to all ranks, for which a file is needed first.

/// An access that is done when the call returns.
#[inline(always)]
fn blocking(
    function: &'static str,
    fh: File,
    direction: Direction,
    place: Place,
    buffer: Result<Buffer>,
    status: Out<Status>,
) -> Result<()> {
    status.not_null()?;
    let buffer = buffer?;
    status.finish(crate::decode::file(fh)?.transfer(function, direction, place, &buffer)?)
}

/// As [`blocking`], with all ranks.
fn blocking_all(
    function: &'static str,
    fh: File,
    direction: Direction,
    place: Place,
    buffer: Result<Buffer>,
    status: Out<Status>,
) -> Result<()> {
    let buffer = status.not_null().and(buffer);
    let done = crate::decode::file(fh)?.access_all(function, direction, place, buffer);
    match status.is_null() {
        // All ranks were told of that as an error.
        true => done.into_result(),
        false => status.finish(done),
    }
}

/// An access that goes on behind the call.
fn nonblocking(
    function: &'static str,
    fh: File,
    direction: Direction,
    place: Place,
    buffer: Result<Buffer>,
    request: Out<Request>,
) -> Result<()> {
    request.not_null()?;
    let buffer = buffer?;
    let begun = crate::decode::file(fh)?.begin(function, direction, place, &buffer)?;
    request.set(Request(begun))
}

/// As [`nonblocking`], with all ranks.
fn nonblocking_all(
    function: &'static str,
    fh: File,
    direction: Direction,
    place: Place,
    buffer: Result<Buffer>,
    request: Out<Request>,
) -> Result<()> {
    let buffer = request.not_null().and(buffer);
    let begun = crate::decode::file(fh)?.begin_all(function, direction, place, buffer)?;
    request.set(Request(begun))
}

/// Begins a split operation. `address` is the program's buffer.
fn begin(
    function: &'static str,
    fh: File,
    direction: Direction,
    place: Place,
    address: usize,
    buffer: Result<Buffer>,
) -> Result<()> {
    crate::decode::file(fh)?.begin_split(function, direction, place, address, buffer)
}

/// Ends one.
fn end(
    function: &'static str,
    fh: File,
    direction: Direction,
    place: SplitForm,
    address: usize,
    status: Out<Status>,
) -> Result<()> {
    status.not_null()?;
    let done =
        crate::decode::file(fh)?.end_split(function, SplitKind { direction, place }, address)?;
    status.finish(done)
}

fn whence(whence: Whence) -> Result<From> {
    match whence.0 {
        MPI_SEEK_SET => Ok(From::Start),
        MPI_SEEK_CUR => Ok(From::Current),
        MPI_SEEK_END => Ok(From::End),
        other => fail!(
            Class::Arg,
            "whence is {other}; allowed are MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END"
        ),
    }
}
