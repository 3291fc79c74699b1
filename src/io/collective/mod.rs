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
use super::agree::{NOTHING, Steps};
use super::file::{self, File};
use super::view::View;
use crate::datatype::Buffer;
use crate::error::{Class, Error, Result};
use crate::pt2pt::complete::Completion;
use crate::sync::Ordering;
use oxmpi_macros::both;
use pieces::Pieces;
use plan::{Line, Together, decide};
use std::sync::Arc;

/// An access whose arguments were checked.
pub(super) struct Access {
    view: Arc<View>,
    skip: u64,
    buffer: Buffer,
}

#[both]
impl Steps<'_, BLOCK> {
    /// Tells the others of this rank's error, whose status stays its own.
    pub(super) async fn agree_on_access(&self, own: Result<Completion>) -> Completion {
        let (status, result) = match own {
            Ok(done) => (done.status, done.error.map_or(Ok(()), Err)),
            Err(error) => (super::transfer::status(0), Err(error)),
        };
        let error = self.agree_on(result, NOTHING).await.err();
        Completion { status, error }
    }

    /// As [`File::transfer`], with all ranks, which get the first error of any of them. An argument that is wrong comes as an error, too.
    pub(super) async fn transfer_all(
        &self,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> Completion {
        if place == Place::Shared {
            return self.transfer_ordered(direction, buffer).await;
        }
        let file = self.file;
        let access = buffer.and_then(|buffer| {
            file.check_access(direction)?;
            let (view, skip) = file.locate(place, &buffer)?;
            Ok(Access { view, skip, buffer })
        });
        if file.meets_for_nothing() {
            return self.each_its_own(direction, access).await;
        }
        let line = |it: &Access| Line::of(&it.view, it.skip, it.buffer.len() as u64);
        let values = access.as_ref().map_or(Line::default(), line).values();
        let all = match self.bring(&Ok(()), values).await {
            Ok((_, all)) => all,
            Err(lost) => return Completion::failed(lost),
        };
        let lines: Vec<Line> = all.iter().map(Line::from).collect();
        match decide(direction, &lines, file.board.spans_nodes()) {
            Some(part) => self.meet(direction, access, part, lines).await,
            None => self.each_its_own(direction, access).await,
        }
    }

    async fn each_its_own(&self, direction: Direction, access: Result<Access>) -> Completion {
        let done = access.and_then(|it| {
            self.file
                .transfer_at(self.function, direction, &it.view, it.skip, &it.buffer)
        });
        self.agree_on_access(done).await
    }
}

impl Steps<'_, true> {
    fn meet(
        &self,
        direction: Direction,
        access: Result<Access>,
        part: Together,
        lines: Vec<Line>,
    ) -> Completion {
        let file = self.file;
        match file.board.spans_nodes() {
            true => file.through_owners(self.function, direction, access, part, &lines),
            false => file.together(self.function, direction, access, part, &lines),
        }
    }
}

impl Steps<'_, false> {
    /// Leaves it to a worker: ranks wait for each other again and again.
    async fn meet(
        &self,
        direction: Direction,
        access: Result<Access>,
        part: Together,
        lines: Vec<Line>,
    ) -> Completion {
        let function = self.function;
        let Some(file) = file::get(self.file.handle) else {
            let closed = Error::new(Class::File, format!("{} is closed", self.file.title()));
            return Completion::failed(closed);
        };
        let outcome = file.operations.begin_meeting(move || {
            let steps = Steps::<true> { file, function };
            steps.meet(direction, access, part, lines)
        });
        file.board.assembly.serve_until(|| outcome.is_there()).await;
        outcome.take()
    }
}

impl File {
    /// Whether each rank moves its own in any case, which all ranks know alike.
    fn meets_for_nothing(&self) -> bool {
        self.board.assembly.ranks() == 1
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
        self.blocking(function).each_its_own(direction, access)
    }
}
