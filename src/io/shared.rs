//! The shared file pointer: a word that all ranks of the file count with.

use super::access::Direction;
use super::agree::{NOTHING, Steps, same};
use super::file::File;
use super::pointer::Pointer;
use super::position::Whence;
use super::transfer::{byte_at, etypes};
use crate::datatype::Buffer;
use crate::engine::{aside, is_multiple};
use crate::error::{Class, Result, fail};
use crate::pt2pt::complete::Completion;
use crate::sync::Ordering;
use oxmpi_macros::both;

#[both]
impl Steps<'_, BLOCK> {
    /// An access in the order of the ranks. Ranks tell each other how much each has, then the lowest one moves the pointer.
    ///
    /// Errors: as for [`File::transfer`]; of any rank before the pointer is moved.
    pub(super) async fn transfer_ordered(
        &self,
        direction: Direction,
        buffer: Result<Buffer>,
    ) -> Completion {
        let done = self.ordered(direction, buffer).await;
        match done {
            // Nobody has moved anything, and all know it.
            Err(error) => Completion::failed(error),
            Ok(done) => self.agree_on_access(done).await,
        }
    }

    /// The outer error is on all ranks, the inner one on this one.
    async fn ordered(
        &self,
        direction: Direction,
        buffer: Result<Buffer>,
    ) -> Result<Result<Completion>> {
        let file = self.file;
        let view = file.view();
        let checked = buffer.and_then(|buffer| {
            file.check_access(direction)?;
            let bytes = view.length(&buffer)? as usize;
            Ok((etypes(&view, bytes)?, bytes, buffer))
        });
        let mut values = NOTHING;
        values[0] = checked.as_ref().map_or(0, |(etypes, ..)| *etypes as u64);
        values[1] = file.pointer_may_be_changed(BLOCK);
        values[2] = file.board.pointer().own_view() as u64;
        let (own, bytes, buffer) = match checked {
            Ok((_, bytes, buffer)) => (Ok(()), bytes, buffer),
            Err(error) => (Err(error), 0, Buffer::empty()),
        };
        let all = self.agree_on(own, values).await?;
        let amounts = all.iter().map(|values| values[0] as i64);
        let before = amounts
            .clone()
            .take(file.board.assembly.rank())
            .sum::<i64>();
        let seen = match all.iter().any(|values| values[1] != 0) {
            true => None,
            // A rank that comes has moved it before, by its own accesses: the last one sees where it is.
            false => all.iter().map(|values| values[2] as i64).max(),
        };
        let from = self.advance_for_all(amounts.sum(), seen).await?;
        let from = from.saturating_add(before);
        let skip = byte_at(&view, "the shared file pointer", from, bytes);
        Ok(skip.and_then(|skip| file.transfer_at(self.function, direction, &view, skip, &buffer)))
    }

    /// Moves the pointer, with all ranks: where it was, which they know (`seen`) if none of them can move it alone meanwhile. They do so
    /// only after a further round.
    ///
    /// Errors: what the system says of the file that has the pointer; a rank is lost.
    async fn advance_for_all(&self, etypes: i64, seen: Option<i64>) -> Result<i64> {
        if let Some(from) = seen {
            self.file.put_pointer(from.saturating_add(etypes));
            return Ok(from);
        }
        let pointer = self.file.board.pointer();
        let mut own = Ok(0);
        if self.file.rank() == 0 {
            own = match pointer {
                Pointer::Word(word) => Ok(word.fetch_add(etypes, Ordering::Relaxed)),
                Pointer::Apart(apart) => apart.add_for_all(etypes),
            };
        }
        let mut values = NOTHING;
        values[0] = *own.as_ref().unwrap_or(&0) as u64;
        let all = self.agree_on(own.map(|_| ()), values).await?;
        let from = all[0][0] as i64;
        if let Pointer::Apart(apart) = pointer {
            apart.agree(from.saturating_add(etypes));
        }
        Ok(from)
    }
}

impl File {
    /// What a rank tells in a round in which all move the pointer: not 0 if a thread of it may move it meanwhile, as the program's may unless
    /// the call blocks, or if ranks on other nodes cannot know where it is.
    fn pointer_may_be_changed(&self, blocks: bool) -> u64 {
        let meanwhile = !blocks || is_multiple() || aside::is_here();
        match self.board.pointer() {
            Pointer::Word(_) => meanwhile.into(),
            Pointer::Apart(apart) => apart.may_be_changed(meanwhile).into(),
        }
    }

    /// Puts the pointer somewhere, on each rank or, where it is a word, on the lowest one.
    pub(super) fn put_pointer(&self, value: i64) {
        match self.board.pointer() {
            Pointer::Apart(apart) => apart.agree(value),
            Pointer::Word(word) if self.rank() == 0 => word.store(value, Ordering::Relaxed),
            Pointer::Word(_) => {}
        }
    }

    /// MPI_File_get_position_shared.
    ///
    /// Errors: MPI_ERR_UNSUPPORTED_OPERATION, those of [`Pointer::load`].
    pub fn shared_position(&self) -> Result<i64> {
        self.check_not_sequential()?;
        self.board.pointer().load()
    }

    /// The shared file pointer, in etypes, as far as this rank has moved or seen it.
    ///
    /// Errors: those of [`Pointer::load`].
    pub(super) fn pointer_seen(&self) -> Result<i64> {
        match self.board.pointer() {
            Pointer::Apart(apart) if !apart.may_be_changed(is_multiple()) => Ok(apart.agreed()),
            pointer => pointer.load(),
        }
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
        values[2] = self.pointer_may_be_changed(true);
        let all = self.agree_on(function, whence.map(|_| ()), values)?;
        same("offset", all.iter().map(|values| values[0] as i64))?;
        same("whence", all.iter().map(|values| values[1] as i64))?;
        let is_changed = all.iter().any(|values| values[2] != 0);
        let mut own = Ok(0);
        if self.rank() == 0 {
            let whence = match number {
                0 => Whence::Start,
                1 => Whence::Current,
                2 => Whence::End,
                _ => return fail!(Class::Intern, "whence has the number {number}"),
            };
            let current = match self.board.pointer() {
                Pointer::Apart(apart) if !is_changed => Ok(apart.agreed()),
                pointer => pointer.load(),
            };
            own = current
                .and_then(|current| self.target(&self.view(), offset, whence, current))
                .inspect(|target| self.put_pointer(*target));
        }
        let mut values = NOTHING;
        values[0] = *own.as_ref().unwrap_or(&0) as u64;
        let all = self.agree_on(function, own.map(|_| ()), values)?;
        if self.rank() != 0 {
            self.put_pointer(all[0][0] as i64);
        }
        Ok(())
    }
}
