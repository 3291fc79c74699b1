//! Split collective operations: all is done in the call that begins one.
//!
//! Invariant: at most one is active at a file, on all ranks the same.

use super::access::{Direction, Place};
use super::file::File;
use super::kind::{Begun, Kind};
use crate::datatype::{Buffer, Status};
use crate::error::{Class, Result, fail};

impl File {
    /// Fails while a split operation is active.
    ///
    /// Errors: MPI_ERR_OTHER.
    pub(super) fn check_no_split(&self) -> Result<()> {
        match &*self.split.lock() {
            None => Ok(()),
            Some(begun) => fail!(
                Class::Other,
                "fh is {}, at which {}_begin was called and {}_end was not",
                self.title(),
                begun.kind.name(),
                begun.kind.name()
            ),
        }
    }

    /// Begins a split operation, with all ranks.
    ///
    /// Errors: as for [`File::transfer_all`]; MPI_ERR_OTHER if one is active. Then none is begun.
    pub fn begin_split(
        &self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> Result<()> {
        let buffer = self.check_no_split().and(buffer);
        let done = self.transfer_all(function, direction, place, buffer);
        if let Some(error) = done.error {
            return Err(error);
        }
        *self.split.lock() = Some(Begun {
            kind: Kind::of(direction, place),
            status: done.status,
        });
        Ok(())
    }

    /// Ends a split operation of a kind.
    ///
    /// Errors: MPI_ERR_OTHER if none of this kind is active.
    pub fn end_split(&self, kind: Kind) -> Result<Status> {
        let mut split = self.split.lock();
        match &*split {
            Some(begun) if begun.kind == kind => {
                let status = begun.status;
                *split = None;
                Ok(status)
            }
            Some(begun) => fail!(
                Class::Other,
                "fh is {}, at which {}_begin was called: {}_end does not fit",
                self.title(),
                begun.kind.name(),
                kind.name()
            ),
            None => fail!(
                Class::Other,
                "fh is {}, at which {}_begin was not called",
                self.title(),
                kind.name()
            ),
        }
    }
}
