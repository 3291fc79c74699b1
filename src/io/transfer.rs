//! Independent accesses: from a place in the view to a status.

use super::access::{Direction, Place};
use super::atomic::ends;
use super::convert;
use super::file::File;
use super::pointer::Pointer;
use super::view::{View, ViewAt};
use crate::datatype::{Buffer, Status};
use crate::error::{Class, Result, fail};
use crate::pt2pt::complete::Completion;
use std::sync::Arc;

/// The status of an access.
pub(super) fn status(bytes: usize) -> Status {
    let mut status = Status::empty();
    status.set_bytes(bytes as u64);
    status
}

/// What an access has done, of which an error of an argument is a part.
pub(super) fn completion(done: Result<Completion>) -> Completion {
    done.unwrap_or_else(|error| Completion {
        status: status(0),
        error: Some(error),
    })
}

/// How many etypes so many bytes are.
///
/// Errors: MPI_ERR_TYPE for a part of one.
pub(super) fn etypes(view: &View, bytes: usize) -> Result<i64> {
    let bytes = bytes as u64;
    if bytes == 0 {
        return Ok(0);
    }
    if view.unit > 0 && bytes.is_multiple_of(view.unit) {
        return Ok((bytes / view.unit) as i64);
    }
    fail!(
        Class::Type,
        "{bytes} bytes are to be moved, which are no whole etypes of the view of {} bytes each",
        view.unit
    )
}

/// The byte of the view that an offset in etypes is, checked for an access of so many bytes.
///
/// Errors: MPI_ERR_ARG.
pub(super) fn byte_at(view: &View, name: &str, offset: i64, bytes: usize) -> Result<u64> {
    if offset < 0 {
        return fail!(Class::Arg, "{name} is {offset}; it must not be negative");
    }
    let Some(skip) = (offset as u64)
        .checked_mul(view.unit)
        .filter(|skip| *skip <= i64::MAX as u64)
    else {
        return fail!(
            Class::Arg,
            "{name} is {offset} etypes of {} bytes; the largest offset of a file is 2^63 - 1 bytes",
            view.unit
        );
    };
    view.check(skip, bytes as u64)?;
    Ok(skip)
}

/// Takes so many bytes from a file pointer on. Returns the byte of the view.
///
/// Errors: MPI_ERR_ARG, MPI_ERR_TYPE, those of [`Pointer::advance`]; then the pointer stays.
fn take(view: &View, pointer: Pointer<'_>, name: &str, bytes: usize) -> Result<u64> {
    let etypes = etypes(view, bytes)?;
    pointer.advance(|from| {
        let skip = byte_at(view, name, from, bytes)?;
        Ok((skip, from.saturating_add(etypes)))
    })
}

impl File {
    /// Fails if such an access is not possible at all.
    pub(super) fn check_access(&self, direction: Direction) -> Result<()> {
        self.check_direction(direction)?;
        self.descriptor().map(|_| ())
    }

    /// The view, and the byte of it that an access begins at; pointers are moved.
    pub(super) fn locate(&self, place: Place, buffer: &Buffer) -> Result<(Arc<View>, u64)> {
        let view = self.view();
        let bytes = view.length(buffer)? as usize;
        let skip = match place {
            Place::At(offset) => {
                self.check_not_sequential()?;
                etypes(&view, bytes)?;
                byte_at(&view, "offset", offset, bytes)?
            }
            Place::Individual => {
                self.check_not_sequential()?;
                let pointer = Pointer::Word(&self.position);
                take(&view, pointer, "the individual file pointer", bytes)?
            }
            Place::Shared => take(
                &view,
                self.board.pointer(),
                "the shared file pointer",
                bytes,
            )?,
        };
        Ok((view, skip))
    }

    /// Reads into a buffer, or writes it. The result has the error of the access itself, with what was moved before it.
    ///
    /// Errors: of arguments, when nothing was moved.
    pub fn transfer(
        &self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: &Buffer,
    ) -> Result<Completion> {
        self.check_access(direction)?;
        let (view, skip) = self.locate(place, buffer)?;
        self.transfer_at(function, direction, &view, skip, buffer)
    }

    /// As [`File::transfer`], at a byte of the view that was checked.
    pub(super) fn transfer_at(
        &self,
        function: &'static str,
        direction: Direction,
        view: &View,
        skip: u64,
        buffer: &Buffer,
    ) -> Result<Completion> {
        let file = self.descriptor()?;
        let at = ViewAt { file, view, skip };
        let (done, result) = if self.is_atomic() && !buffer.is_empty() {
            self.locked(function, direction, at, buffer)?
        } else if self.locks_writes && direction == Direction::Write && !buffer.is_empty() {
            let ends = ends(view, skip, buffer)?;
            self.write_locked(function, ends, |file| {
                convert::transfer(ViewAt { file, ..at }, buffer, direction)
            })?
        } else {
            convert::transfer(at, buffer, direction)
        };
        let what = match direction {
            Direction::Read => "pread",
            Direction::Write => "pwrite",
        };
        Ok(Completion {
            status: status(done),
            error: result.err().map(|why| self.failure(what, &why)),
        })
    }
}
