//! Collective accesses: each rank's own, or small pieces of all ranks together; then agreement on the errors.

mod frames;
mod marks;
mod obtain;
mod owners;
mod pieces;
mod plan;
mod together;

pub use frames::{Frames, SHAPE, Tiling};
pub use plan::LONG;

use super::access::{Direction, Place};
use super::file::File;
use super::view::View;
use crate::datatype::Buffer;
use crate::error::Result;
use crate::pt2pt::complete::Completion;
use crate::sync::Ordering;
use pieces::Pieces;
use plan::{Line, Together, decide};
use std::sync::Arc;

/// An access whose arguments were checked.
pub(super) struct Access {
    view: Arc<View>,
    skip: u64,
    buffer: Buffer,
}

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
        let access = buffer.and_then(|buffer| {
            self.check_access(direction)?;
            let (view, skip) = self.locate(place, &buffer)?;
            Ok(Access { view, skip, buffer })
        });
        if self.meets_for_nothing() {
            return self.each_its_own(function, direction, access);
        }
        let line = |it: &Access| Line::of(&it.view, it.skip, it.buffer.len() as u64);
        let values = access.as_ref().map_or(Line::default(), line).values();
        let all = match self.bring(function, &Ok(()), values) {
            Ok((_, all)) => all,
            Err(lost) => return Completion::failed(lost),
        };
        let lines: Vec<Line> = all.iter().map(Line::from).collect();
        let spans_nodes = self.board.spans_nodes();
        match decide(direction, &lines, spans_nodes) {
            Some(part) if spans_nodes => {
                self.through_owners(function, direction, access, part, &lines)
            }
            Some(part) => self.together(function, direction, access, part, &lines),
            None => self.each_its_own(function, direction, access),
        }
    }

    /// Whether each rank moves its own in any case, which all ranks know alike.
    fn meets_for_nothing(&self) -> bool {
        self.board.ranks() == 1
            || self.has_long_runs.load(Ordering::Relaxed)
            || self.is_atomic()
            || matches!(*self.frames.lock(), Frames::Refused)
    }

    /// The rank's bytes of pieces of a part of the file, its buffer, and its error: then there are none.
    fn cut(
        &self,
        access: Result<Access>,
        part: Together,
        bytes: u64,
    ) -> (Pieces, Buffer, Result<()>) {
        let (access, failure) = match access {
            Ok(access) => (access, Ok(())),
            Err(error) => {
                let nothing = Access {
                    view: self.view(),
                    skip: 0,
                    buffer: Buffer::empty(),
                };
                (nothing, Err(error))
            }
        };
        let pieces = Pieces {
            part,
            bytes,
            view: access.view,
            skip: access.skip,
            length: access.buffer.len(),
        };
        (pieces, access.buffer, failure)
    }

    fn each_its_own(
        &self,
        function: &'static str,
        direction: Direction,
        access: Result<Access>,
    ) -> Completion {
        let done = access
            .and_then(|it| self.transfer_at(function, direction, &it.view, it.skip, &it.buffer));
        self.agree_on_access(function, done)
    }
}
