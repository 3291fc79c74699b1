//! Split collective operations: what [`super::request`] does behind the call, with a state of the file in place of a request.
//!
//! Invariant: at most one is active at a file, on all ranks the same.

use super::access::{Direction, Place};
use super::file::File;
use super::kind::{Begun, Kind};
use super::wait::until_done;
use crate::datatype::Buffer;
use crate::engine::{tasks, wait};
use crate::error::{Class, Result, fail};
use crate::node;
use crate::pt2pt::complete::Completion;

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

    /// Begins a split operation, with all ranks. `address` is the program's buffer, to be named again at the end.
    ///
    /// Errors: of arguments of this rank, and MPI_ERR_OTHER if one is active; then none is begun here. All others come at the end.
    pub fn begin_split(
        &'static self,
        function: &'static str,
        direction: Direction,
        place: Place,
        address: usize,
        buffer: Result<Buffer>,
    ) -> Result<()> {
        let buffer = self.check_no_split().and(buffer);
        let is_empty = buffer.as_ref().is_ok_and(Buffer::is_empty);
        let outcome = self.begin_behind(function, direction, place, buffer)?;
        *self.split.lock() = Some(Begun {
            kind: Kind::of(direction, place),
            address: (!is_empty).then_some(address),
            outcome,
        });
        Ok(())
    }

    /// Waits for the end of a split operation of a kind.
    ///
    /// Errors: MPI_ERR_OTHER if none of this kind is active, MPI_ERR_BUFFER for another buffer; then it stays active. Those of the access
    /// are in the result.
    pub fn end_split(
        &self,
        function: &'static str,
        kind: Kind,
        address: usize,
    ) -> Result<Completion> {
        let outcome = match &*self.split.lock() {
            Some(begun) if begun.kind == kind => {
                begun.check(address)?;
                begun.outcome.clone()
            }
            Some(begun) => {
                return fail!(
                    Class::Other,
                    "fh is {}, at which {}_begin was called: {}_end does not fit",
                    self.title(),
                    begun.kind.name(),
                    kind.name()
                );
            }
            None => return self.not_begun(kind),
        };
        let is_there = || {
            tasks::run();
            outcome.is_there()
        };
        if !is_there() && !wait::soon(node::is_oversubscribed(), is_there) {
            until_done(function, self.handle, || outcome.is_there());
        }
        // Another thread may have been faster.
        match self.split.lock().take() {
            Some(begun) => Ok(begun.outcome.take()),
            None => self.not_begun(kind),
        }
    }

    #[cold]
    fn not_begun<T>(&self, kind: Kind) -> Result<T> {
        fail!(
            Class::Other,
            "fh is {}, at which {}_begin was not called",
            self.title(),
            kind.name()
        )
    }
}
