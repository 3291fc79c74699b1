//! File pointers, and where offsets of a view are in the file.

use super::file::File;
use super::transfer::byte_at;
use super::view::View;
use crate::error::{Class, Result, fail};
use crate::sync::Ordering;

/// From where an offset counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whence {
    Start,
    Current,
    End,
}

impl File {
    /// The offset that a pointer is to have, in etypes.
    ///
    /// Errors: MPI_ERR_ARG for one in front of the view; what fstat says.
    pub(super) fn target(
        &self,
        view: &View,
        offset: i64,
        whence: Whence,
        current: i64,
    ) -> Result<i64> {
        let from = match whence {
            Whence::Start => 0,
            Whence::Current => current,
            Whence::End => view.etypes_below(self.bytes()?),
        };
        match from.checked_add(offset) {
            Some(target) if target >= 0 => Ok(target),
            _ => fail!(
                Class::Arg,
                "offset is {offset}, counted from {from}: the file pointer cannot be there"
            ),
        }
    }

    /// MPI_File_seek.
    ///
    /// Errors: those of [`File::target`], MPI_ERR_UNSUPPORTED_OPERATION. Then the pointer stays.
    pub fn seek(&self, offset: i64, whence: Whence) -> Result<()> {
        self.check_not_sequential()?;
        let view = self.view();
        let current = self.position.load(Ordering::Relaxed);
        let target = self.target(&view, offset, whence, current)?;
        self.position.store(target, Ordering::Relaxed);
        Ok(())
    }

    /// MPI_File_get_position.
    pub fn position(&self) -> Result<i64> {
        self.check_not_sequential()?;
        Ok(self.position.load(Ordering::Relaxed))
    }

    /// MPI_File_get_byte_offset.
    ///
    /// Errors: MPI_ERR_ARG.
    pub fn byte_offset(&self, offset: i64) -> Result<i64> {
        let view = self.view();
        let byte = byte_at(&view, "offset", offset, 0)?;
        if view.unit > 0 {
            view.check(byte, 1)?;
        }
        Ok(view.place(byte))
    }
}
