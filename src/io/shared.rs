//! The shared file pointer: a word that all ranks of the file count with.

use super::access::Direction;
use super::agree::{NOTHING, same};
use super::file::File;
use super::position::Whence;
use super::transfer::{byte_at, etypes};
use crate::datatype::Buffer;
use crate::error::{Class, Result, fail};
use crate::pt2pt::complete::Completion;
use crate::sync::Ordering;

impl File {
    /// An access in the order of the ranks. Ranks tell each other how much each has, then the lowest one moves the pointer.
    ///
    /// Errors: as for [`File::transfer`]; of any rank before the pointer is moved.
    pub(super) fn transfer_ordered(
        &self,
        function: &'static str,
        direction: Direction,
        buffer: Result<Buffer>,
    ) -> Completion {
        let done = self.ordered(function, direction, buffer);
        match done {
            // Nobody has moved anything, and all know it.
            Err(error) => Completion {
                status: super::transfer::status(0),
                error: Some(error),
            },
            Ok(done) => self.agree_on_access(function, done),
        }
    }

    /// The outer error is on all ranks, the inner one on this one.
    fn ordered(
        &self,
        function: &'static str,
        direction: Direction,
        buffer: Result<Buffer>,
    ) -> Result<Result<Completion>> {
        let view = self.view();
        let checked = buffer.and_then(|buffer| {
            self.check_access(direction)?;
            let bytes = view.length(&buffer)? as usize;
            Ok((etypes(&view, bytes)?, bytes, buffer))
        });
        let mut values = NOTHING;
        values[0] = checked.as_ref().map_or(0, |(etypes, ..)| *etypes as u64);
        let (own, bytes, buffer) = match checked {
            Ok((_, bytes, buffer)) => (Ok(()), bytes, buffer),
            Err(error) => (Err(error), 0, Buffer::empty()),
        };
        let all = self.agree_on(function, own, values)?;
        let amounts = all.iter().map(|values| values[0] as i64);
        let before = amounts.clone().take(self.board.rank()).sum::<i64>();
        let mut values = NOTHING;
        if self.rank() == 0 {
            let from = self
                .board
                .pointer()
                .fetch_add(amounts.sum(), Ordering::Relaxed);
            values[0] = from as u64;
        }
        let all = self.agree_on(function, Ok(()), values)?;
        let from = (all[0][0] as i64).saturating_add(before);
        let skip = byte_at(&view, "the shared file pointer", from, bytes);
        Ok(skip.and_then(|skip| self.transfer_at(function, direction, &view, skip, &buffer)))
    }

    /// MPI_File_get_position_shared.
    ///
    /// Errors: MPI_ERR_UNSUPPORTED_OPERATION.
    pub fn shared_position(&self) -> Result<i64> {
        self.check_not_sequential()?;
        Ok(self.pointer_value())
    }

    /// The shared file pointer, in etypes.
    pub(super) fn pointer_value(&self) -> i64 {
        self.board.pointer().load(Ordering::Relaxed)
    }

    /// MPI_File_seek_shared.
    ///
    /// Errors: MPI_ERR_NOT_SAME for different arguments; MPI_ERR_UNSUPPORTED_OPERATION; those of MPI_File_seek.
    pub fn seek_shared(
        &self,
        function: &'static str,
        offset: i64,
        whence: Result<Whence>,
    ) -> Result<()> {
        let whence = whence.and_then(|whence| self.check_not_sequential().map(|()| whence));
        let number = whence.as_ref().map_or(0, |whence| *whence as u64);
        let mut values = NOTHING;
        (values[0], values[1]) = (offset as u64, number);
        let all = self.agree_on(function, whence.map(|_| ()), values)?;
        same("offset", all.iter().map(|values| values[0] as i64))?;
        same("whence", all.iter().map(|values| values[1] as i64))?;
        let mut own = Ok(());
        if self.rank() == 0 {
            let whence = match number {
                0 => Whence::Start,
                1 => Whence::Current,
                2 => Whence::End,
                _ => return fail!(Class::Intern, "whence has the number {number}"),
            };
            let current = self.pointer_value();
            own = self
                .target(&self.view(), offset, whence, current)
                .map(|target| self.board.pointer().store(target, Ordering::Relaxed));
        }
        self.agree(function, own)
    }
}
