//! Accesses that go on behind the call that begins them.
//!
//! ```text
//! call      arguments, pointers, place in the view      request or split state
//! at once   what is small; of a collective access all but its rounds, which a task takes further
//! worker    else: the body of the blocking form         the outcome, wakes the process
//! task      in whichever call makes progress            completes the request
//! ```
//!
//! Invariants: a worker enters no engine, for below MPI_THREAD_MULTIPLE that is the program's; a task of the engine completes the request.
//! What the program may free or change meanwhile (types, view) is kept until then. A file with several ranks has the rounds of its collective
//! calls in the order of the calls ([`super::operations`]): those that begin something leave it to these, the others wait until all is over.

use super::access::{Direction, Place};
use super::agree::Steps;
use super::file::File;
use super::operations::{ALL, Outcome, begin_independent};
use super::pointer;
use super::view::View;
use super::wait::until_done;
use super::workers;
use crate::datatype::Buffer;
use crate::engine::matching::ANY_SOURCE;
use crate::engine::requests::{self, Index, Kind, Phase, Request};
use crate::engine::roots::Held;
use crate::engine::wait::FILE;
use crate::engine::{self, enter, is_multiple, tasks};
use crate::error::{Error, Result};
use crate::os::file_map;
use crate::pt2pt::complete::Completion;
use crate::sync::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Bytes from which on an access is left to a worker, which costs about as much as writing so many.
const LARGE: usize = 64 << 10;
/// Runs of the file from which on it is: each is a call of the kernel.
const RUNS: usize = 16;

/// A request for an access with this buffer: its error is the file's.
fn request(file: &File, buffer: Buffer) -> Request {
    Request {
        peer: ANY_SOURCE,
        tag: file.handle,
        ..Request::new(Kind::General, buffer, file.handle, FILE, 0)
    }
}

/// The handle of a request that is complete, for which there is room.
fn completed(file: &File, done: Completion) -> i32 {
    let request = Request {
        phase: Phase::Complete,
        status: done.status,
        error: done.error,
        ..request(file, Buffer::empty())
    };
    requests::handle_of(enter().requests().insert(request))
}

fn complete(index: Index, done: Completion) {
    let mut engine = enter();
    engine.requests().at(index).status = done.status;
    engine.end_task(index, done.error);
}

/// Whether an access is done sooner than it is given to a worker.
fn is_small(view: &View, skip: u64, buffer: &Buffer) -> bool {
    let length = buffer.len();
    if length >= LARGE {
        return false;
    }
    let mut runs = 0;
    view.runs(skip, length as u64, |_, _| {
        runs += 1;
        runs < RUNS
    });
    runs < RUNS
}

/// With the function whose error it is, for the call that is told of it is another one.
fn of_function(function: &str, done: Completion) -> Completion {
    Completion {
        error: done.error.map(|error| error.context(function)),
        ..done
    }
}

impl File {
    /// Counts an operation that has begun, and has `end` called by a thread of the program's when it is done; a task `waits` for that.
    fn launch(
        &'static self,
        count: &'static AtomicUsize,
        outcome: &Arc<Outcome>,
        waits: impl Future<Output = ()> + Send + 'static,
        end: impl FnOnce(&Outcome) + Send + 'static,
    ) {
        count.fetch_add(1, Ordering::Relaxed);
        ALL.fetch_add(1, Ordering::Relaxed);
        let outcome = outcome.clone();
        tasks::spawn(async move {
            waits.await;
            end(&outcome);
            // From here on the file may be closed.
            count.fetch_sub(1, Ordering::Release);
            ALL.fetch_sub(1, Ordering::Release);
            if is_multiple() {
                engine::wake_own_threads();
            }
        });
    }

    /// Begins a nonblocking access: the request's handle.
    ///
    /// Errors: of arguments; all others are the request's.
    pub fn begin(
        &'static self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: &Buffer,
    ) -> Result<i32> {
        self.check_access(direction)?;
        enter().requests().check_room()?;
        let (view, skip) = self.locate(place, buffer)?;
        if view.calls_program() || is_small(&view, skip, buffer) {
            let done = self.transfer_at(function, direction, &view, skip, buffer)?;
            return Ok(completed(self, of_function(function, done)));
        }
        let (kept, buffer) = (view.clone(), *buffer);
        let index = enter().requests().insert(request(self, buffer));
        let outcome = begin_independent(move || {
            let done = self.transfer_at(function, direction, &view, skip, &buffer);
            of_function(function, super::transfer::completion(done))
        });
        let seen = outcome.clone();
        let waits = tasks::condition(move || seen.is_there());
        let count = &self.operations.independent;
        self.launch(count, &outcome, waits, move |outcome| {
            complete(index, outcome.take());
            drop(kept);
        });
        Ok(requests::handle_of(index))
    }

    /// As [`File::begin`], with all ranks: none waits for another one here, and an error of any rank is all requests'. An argument that is
    /// wrong comes as an error, too; it is this call's, and the others' requests'.
    pub fn begin_all(
        &'static self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> Result<i32> {
        // All ranks have the same representation.
        if self.board.assembly.ranks() == 1 || self.view().calls_program() {
            return self.begin(function, direction, place, &buffer?);
        }
        let buffer = enter().requests().check_room().and(buffer);
        let (place, buffer, own) = self.placed(direction, place, buffer);
        if let Some(error) = own {
            self.launch_all(function, direction, place, buffer, |_| ());
            return Err(error);
        }
        let whole = buffer.as_ref().map_or(Buffer::empty(), |buffer| *buffer);
        let index = enter().requests().insert(request(self, whole));
        let end = move |outcome: &Outcome| complete(index, outcome.take());
        self.launch_all(function, direction, place, buffer, end);
        Ok(requests::handle_of(index))
    }

    /// Begins a split operation. An error of this rank's arguments is returned here; the other ranks get one where they end the operation.
    pub(super) fn begin_behind(
        &'static self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> Result<Arc<Outcome>> {
        let (place, buffer, own) = self.placed(direction, place, buffer);
        let is_small =
            self.board.assembly.ranks() == 1 && buffer.as_ref().map_or(0, Buffer::len) < LARGE;
        if is_small || self.view().calls_program() {
            // Also with an error, of which the other ranks have to be told.
            let done = self.access_all(function, direction, place, buffer);
            if let Some(error) = own {
                return Err(error);
            }
            let outcome = Arc::new(Outcome::default());
            outcome.put(of_function(function, done));
            return Ok(outcome);
        }
        let datatype = buffer.as_ref().ok().and_then(Buffer::datatype);
        let held = Held::of(datatype);
        let end = move |_: &Outcome| drop(held);
        let outcome = self.launch_all(function, direction, place, buffer, end);
        own.map_or(Ok(outcome), Err)
    }

    fn launch_all(
        &'static self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
        end: impl FnOnce(&Outcome) + Send + 'static,
    ) -> Arc<Outcome> {
        let operations = &self.operations;
        let count = &operations.collective;
        if self.may_be_in_steps(place, &buffer) {
            let steps = Steps::<false> {
                file: self,
                function,
            };
            let outcome = operations.begin_in_steps(async move {
                let done = steps.transfer_all(direction, place, buffer).await;
                of_function(function, done)
            });
            let seen = outcome.clone();
            let waits = async move { operations.await_steps(&seen).await };
            self.launch(count, &outcome, waits, end);
            return outcome;
        }
        let waits_in_memory = !self.board.spans_nodes();
        let outcome = operations.begin_with_worker(function, waits_in_memory, move || {
            let steps = self.blocking(function);
            of_function(function, steps.transfer_all(direction, place, buffer))
        });
        let seen = outcome.clone();
        let waits = async move { self.board.assembly.serve_until(|| seen.is_there()).await };
        self.launch(count, &outcome, waits, end);
        outcome
    }

    /// Whether what this rank moves is moved sooner than given to a worker, and nothing but its rounds waits for other ranks.
    fn may_be_in_steps(&self, place: Place, buffer: &Result<Buffer>) -> bool {
        if !self.operations.may_be_in_steps() || self.is_atomic() || self.locks_writes {
            return false;
        }
        let Ok(buffer) = buffer else {
            return true;
        };
        match place {
            // Where it will be is not known yet, and the pointer not to be moved.
            Place::Shared => is_small(&self.view(), 0, buffer),
            _ => match self.locate(place, buffer) {
                Ok((view, skip)) => is_small(&view, skip, buffer),
                Err(_) => true,
            },
        }
    }

    /// A collective access whose place no later call changes: the individual pointer is moved. The error of an argument is there twice: for
    /// the caller, and for the other ranks.
    fn placed(
        &self,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> (Place, Result<Buffer>, Option<Error>) {
        let located = buffer.and_then(|buffer| {
            self.check_access(direction)?;
            let place = match place {
                // That is for the ranks to do together.
                Place::Shared => place,
                _ => {
                    let (view, skip) = self.locate(place, &buffer)?;
                    Place::At((skip / view.unit.max(1)) as i64)
                }
            };
            Ok((place, buffer))
        });
        match located {
            Ok((place, buffer)) => (place, Ok(buffer), None),
            Err(error) => {
                let told = Error::new(error.class(), error.text());
                (place, Err(told), Some(error))
            }
        }
    }

    /// A collective access that is done when the call returns. Errors: as for [`Steps::transfer_all`].
    pub fn access_all(
        &self,
        function: &'static str,
        direction: Direction,
        place: Place,
        buffer: Result<Buffer>,
    ) -> Completion {
        self.settle(function);
        let steps = self.blocking(function);
        steps.transfer_all(direction, place, buffer)
    }

    /// Waits, before a round of the ranks, for the collective operations that have begun.
    pub(super) fn settle(&self, function: &'static str) {
        let count = &self.operations.collective;
        // What a queue does comes here, too.
        if count.load(Ordering::Acquire) != 0 && !workers::is_in_job() {
            until_done(function, self.handle, || count.load(Ordering::Acquire) == 0);
        }
    }

    /// Waits for all that has begun at this file.
    pub(super) fn settle_all(&self, function: &'static str) {
        self.settle(function);
        let count = &self.operations.independent;
        if count.load(Ordering::Acquire) != 0 {
            until_done(function, self.handle, || count.load(Ordering::Acquire) == 0);
        }
    }
}

/// Waits for all that has begun at any file; then no thread works on files any more.
pub fn finish(function: &'static str) {
    if ALL.load(Ordering::Acquire) != 0 {
        until_done(function, 0, || ALL.load(Ordering::Acquire) == 0);
    }
    workers::end();
    file_map::end();
    pointer::remove_all();
}
