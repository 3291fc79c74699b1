//! Collective accesses: each rank's own, then agreement on the errors.

use super::access::{Direction, Place};
use super::file::File;
use crate::datatype::Buffer;
use crate::error::Result;
use crate::pt2pt::complete::Completion;

impl File {
    /// Tells the others of this rank's error, whose status stays its own.
    pub(super) fn agree_on_access(
        &self,
        function: &'static str,
        own: Result<Completion>,
    ) -> Completion {
        let (status, result) = match own {
            Ok(done) => (done.status, done.error.map_or(Ok(()), Err)),
            Err(error) => (super::transfer::status(0), Err(error)),
        };
        let error = self.agree(function, result).err();
        Completion { status, error }
    }

    /// As [`File::transfer`], with all ranks, which get the first error of any of them. An argument that is wrong comes as an error, too.
    pub fn transfer_all(
        &self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> Completion {
        if place == Place::Shared {
            return self.transfer_ordered(function, direction, buffer);
        }
        let done = buffer.and_then(|buffer| self.transfer(function, direction, place, &buffer));
        self.agree_on_access(function, done)
    }
}
