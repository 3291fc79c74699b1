//! Completion: wait and test for one or all; free and cancel. Any and some are in [`super::several`].
//!
//! Invariant: a handle that completes becomes MPI_REQUEST_NULL and its slot is recycled, unless it is persistent: that
//! one becomes inactive.

pub use super::outcome::Completion;
use super::outcome::{engines_of, unknown};
use super::signatures::{self, Met};
use super::{REQUEST_NULL, awaited, generalized, partitioned, pending};
use crate::datatype::Status;
use crate::engine::entry::of_handle;
use crate::engine::liveness::GivesUp::{self, Testing, Waiting};
use crate::engine::requests::{self, Index, Kind, Phase, Reaped, Request};
use crate::engine::wait::{Reason, poll_at, poll_in, until_at, until_in};
use crate::engine::{Engine, EngineCursor, enter, enter_at, liveness};
use crate::error::{Class, Error, Result, fail};
use std::cell::Cell;

/// MPI_UNDEFINED.
pub const UNDEFINED: i32 = -32766;

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// MPI_REQUEST_NULL.
    Null,
    /// Was complete when it was made.
    Done,
    Slot(Index),
}

#[inline]
pub(super) fn find(engine: &mut Engine, handle: i32) -> Option<Found> {
    match handle {
        REQUEST_NULL => Some(Found::Null),
        requests::SENT | requests::RECEIVED_FROM_NOBODY => Some(Found::Done),
        _ => {
            let index = requests::index_of(handle)?;
            engine
                .requests()
                .get(index)
                .filter(|request| !request.detached)
                .map(|_| Found::Slot(index))
        }
    }
}

/// Whether a handle is MPI_REQUEST_NULL or a live request.
pub fn is_valid(handle: i32) -> bool {
    find(&mut enter_at(of_handle(handle)), handle).is_some()
}

pub(super) fn status_of_done(handle: i32) -> Status {
    if handle == requests::RECEIVED_FROM_NOBODY {
        Status::proc_null()
    } else {
        Status::empty()
    }
}

/// The status of a complete send.
pub(super) fn status_of_sent(request: &Request) -> Status {
    let mut status = Status::empty();
    status.set_cancelled(request.status.cancelled());
    status
}

/// Takes the result of a request that is complete or inactive; `None` while it is active.
#[inline]
fn reap(engine: &mut Engine, index: Index, handle: &mut i32) -> Option<Completion> {
    let request = engine.requests().at(index);
    match request.phase {
        Phase::Active | Phase::Free => None,
        Phase::Inactive => Some(Completion::of(Status::of_inactive())),
        // Its status has to be asked for first.
        Phase::Complete if request.kind == Kind::General && request.extra.is_some() => None,
        Phase::Complete => {
            let status = match request.kind {
                Kind::Receive | Kind::Task | Kind::General => request.status,
                Kind::Send(_) => status_of_sent(request),
            };
            let owner = request.owner;
            let error = request.error.take();
            let done = match request.kind {
                Kind::Receive => {
                    let met = || Met::of(request, requests::handle_of(index));
                    signatures::judged(&request.buffer, met, Completion { status, error })
                }
                Kind::Send(_) | Kind::Task | Kind::General => Completion { status, error },
            };
            let error = done.error.map(|error| error.on(owner));
            if request.persistent {
                request.phase = Phase::Inactive;
            } else {
                engine.requests().release(index);
                *handle = REQUEST_NULL;
            }
            Some(Completion {
                status: done.status,
                error,
            })
        }
    }
}

/// Whether a valid handle is active: neither null nor inactive.
#[inline]
pub(super) fn is_active(engine: &mut Engine, handle: i32) -> Result<bool> {
    match find(engine, handle) {
        None => unknown(handle),
        Some(Found::Null) => Ok(false),
        Some(Found::Done) => Ok(true),
        Some(Found::Slot(index)) => Ok(engine.requests().at(index).phase != Phase::Inactive),
    }
}

/// Takes the result of an operation if it is there. Null and inactive handles give an empty status.
#[inline]
pub(super) fn try_one(engine: &mut Engine, handle: &mut i32) -> Result<Option<Completion>> {
    match find(engine, *handle) {
        None => unknown(*handle),
        Some(Found::Null) => Ok(Some(Completion::of(Status::of_inactive()))),
        Some(Found::Done) => {
            let status = status_of_done(*handle);
            *handle = REQUEST_NULL;
            Ok(Some(Completion::of(status)))
        }
        Some(Found::Slot(index)) => Ok(reap(engine, index, handle)),
    }
}

/// MPI_Wait.
///
/// Errors: MPI_ERR_REQUEST.
#[inline]
pub fn wait(handle: &mut i32) -> Result<Completion> {
    let number = of_handle(*handle);
    {
        let mut engine = enter_at(number);
        if let Reaped::Done(status) = signatures::end(&mut engine, *handle) {
            *handle = REQUEST_NULL;
            return Ok(Completion::of(status));
        }
        if let Some(done) = try_one(&mut engine, handle)? {
            return Ok(done);
        }
    }
    generalized::poll_until(&[*handle], |_| false)?;
    let awaited = *handle;
    let reason = Reason {
        function: "MPI_Wait",
        what: &|named| awaited::handle(awaited, named),
    };
    let done = until_at(number, &reason, |engine| {
        if generalized::is_told(engine, *handle) {
            return Some(Ok(None));
        }
        if engine.checks_liveness()
            && let Some(error) = pending::error_of(engine, *handle)
        {
            return Some(Err(error));
        }
        give_up(engine, *handle, Waiting);
        try_one(engine, handle)
            .map(|done| done.map(Some))
            .transpose()
    })?;
    match done {
        Some(done) => Ok(done),
        None => asked(handle),
    }
}

/// Ends what a call waits for or tests in vain.
#[inline(always)]
fn give_up(engine: &mut Engine, handle: i32, how: GivesUp) {
    if engine.checks_liveness()
        && let Some(Found::Slot(index)) = find(engine, handle)
    {
        engine.give_up(index, how);
    }
}

/// The result of a generalised request that is told.
pub(super) fn asked(handle: &mut i32) -> Result<Completion> {
    generalized::ask(*handle);
    match try_one(&mut enter(), handle)? {
        Some(done) => Ok(done),
        None => unknown(*handle),
    }
}

/// MPI_Test: `None` if the operation is not complete.
pub fn test(handle: &mut i32) -> Result<Option<Completion>> {
    let number = of_handle(*handle);
    let done = try_one(&mut enter_at(number), handle)?;
    if done.is_some() {
        return Ok(done);
    }
    generalized::poll_all(&[*handle])?;
    let done = try_one(&mut poll_at(number), handle)?;
    if done.is_some() {
        return Ok(done);
    }
    if generalized::any_told() && generalized::ask(*handle) {
        return try_one(&mut enter(), handle);
    }
    liveness::ask_in_test(1 << number, &mut |cursor| {
        let engine = cursor.of(*handle);
        if let Some(error) = pending::error_of(engine, *handle) {
            return Some(Err(error));
        }
        give_up(engine, *handle, Testing);
        try_one(engine, handle).transpose()
    })
    .transpose()
}

/// MPI_Waitall: `report(position, completion)` is called once for each request.
///
/// A request that failed does not keep the others from completing; one that stays active because of a failed process does
/// ([`pending`]).
/// Errors: MPI_ERR_REQUEST if a handle is no request; then nothing was touched.
pub fn wait_all(handles: &mut [i32], mut report: impl FnMut(usize, Completion)) -> Result<()> {
    let engines = engines_of(handles);
    {
        let mut cursor = EngineCursor::at_handle(handles);
        for handle in handles.iter() {
            if find(cursor.of(*handle), *handle).is_none() {
                return unknown(*handle);
            }
        }
    }
    if handles.is_empty() {
        return Ok(());
    }
    generalized::poll_until(handles, |_| false)?;
    let mut at = 0;
    // The first that is not complete: without that one the others do not end the wait.
    let awaited = Cell::new(REQUEST_NULL);
    let reason = Reason {
        function: "MPI_Waitall",
        what: &|named| awaited::handle(awaited.get(), named),
    };
    loop {
        let open = until_in(engines, &reason, |cursor| {
            if cursor.here().checks_liveness() && pending::first(cursor, &handles[at..]).is_some() {
                return Some(Ok(Open::Pending));
            }
            while at < handles.len() {
                if handles[at] == requests::SENT {
                    handles[at] = REQUEST_NULL;
                    report(at, Completion::of(Status::empty()));
                    at += 1;
                    continue;
                }
                let engine = cursor.of(handles[at]);
                give_up(engine, handles[at], Waiting);
                match signatures::end(engine, handles[at]) {
                    Reaped::Done(status) => {
                        handles[at] = REQUEST_NULL;
                        report(at, Completion::of(status));
                        at += 1;
                        continue;
                    }
                    Reaped::Active => {
                        awaited.set(handles[at]);
                        return None;
                    }
                    Reaped::Other => {}
                }
                match try_one(engine, &mut handles[at]) {
                    Ok(Some(done)) => {
                        report(at, done);
                        at += 1;
                    }
                    Ok(None) if generalized::is_told(engine, handles[at]) => {
                        return Some(Ok(Open::Told));
                    }
                    Ok(None) => {
                        awaited.set(handles[at]);
                        return None;
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(Open::None))
        })?;
        match open {
            Open::None => return Ok(()),
            Open::Pending => return report_rest(handles, at, &mut report),
            Open::Told => {
                generalized::ask(handles[at]);
            }
        }
    }
}

/// Why [`wait_all`] stops waiting.
enum Open {
    None,
    /// A generalised request is told.
    Told,
    /// See [`pending`].
    Pending,
}

/// Reports requests from a position on, for a call that is not to wait for all because of one of them: what is complete, what may never be, and
/// what is only not complete yet.
#[cold]
fn report_rest(
    handles: &mut [i32],
    from: usize,
    report: &mut dyn FnMut(usize, Completion),
) -> Result<()> {
    let mut cursor = EngineCursor::at_handle(handles);
    let mut owner = 0;
    let mut open = Vec::new();
    for (at, handle) in handles.iter_mut().enumerate().skip(from) {
        let engine = cursor.of(*handle);
        if let Some(done) = try_one(engine, handle)? {
            report(at, done);
        } else if let Some(error) = pending::error_of(engine, *handle) {
            owner = error.owner();
            report(at, Completion::failed(error));
        } else {
            open.push(at);
        }
    }
    for at in open {
        report(
            at,
            Completion::failed(Error::bare(Class::Pending).on(owner)),
        );
    }
    Ok(())
}

/// MPI_Testall: true, with all reported, if all are complete; otherwise nothing is touched.
pub fn test_all(handles: &mut [i32], mut report: impl FnMut(usize, Completion)) -> Result<bool> {
    generalized::poll_all(handles)?;
    for round in 0..2 {
        if round == 1 {
            poll_in(engines_of(handles));
        }
        let mut cursor = EngineCursor::at_handle(handles);
        let mut all = true;
        for handle in handles.iter() {
            let engine = cursor.of(*handle);
            match find(engine, *handle) {
                None => return unknown(*handle),
                Some(Found::Slot(index)) => {
                    all &= engine.requests().at(index).phase != Phase::Active;
                }
                Some(_) => {}
            }
        }
        if all {
            drop(cursor);
            generalized::ask_all(handles);
            let mut cursor = EngineCursor::at_handle(handles);
            for (at, handle) in handles.iter_mut().enumerate() {
                if let Some(done) = try_one(cursor.of(*handle), handle)? {
                    report(at, done);
                }
            }
            return Ok(true);
        }
    }
    // Those that end now are reported by the next call.
    let is_pending = liveness::ask_in_test(engines_of(handles), &mut |cursor| {
        if pending::first(cursor, handles).is_some() {
            return Some(());
        }
        for handle in handles.iter() {
            give_up(cursor.of(*handle), *handle, Testing);
        }
        None
    });
    if is_pending.is_some() {
        report_rest(handles, 0, &mut report)?;
    }
    Ok(false)
}

/// Lets go of a request that the program never got: it goes on and is recycled when it is done.
pub fn abandon(handle: i32) {
    let mut engine = enter_at(of_handle(handle));
    if let Some(Found::Slot(index)) = find(&mut engine, handle) {
        super::detach(&mut engine, index);
    }
}

/// MPI_Request_free. An active operation goes on and is recycled when it is done.
pub fn free(handle: &mut i32) -> Result<()> {
    let mut engine = enter_at(of_handle(*handle));
    match find(&mut engine, *handle) {
        None | Some(Found::Null) => return unknown(*handle),
        Some(Found::Done) => {}
        Some(Found::Slot(index)) => {
            let request = engine.requests().at(index);
            match request.kind {
                Kind::Task if request.is_active() => {
                    return in_steps(*handle, "freed while it is active");
                }
                Kind::Task => {
                    let operation = partitioned::of(request);
                    super::detach(&mut engine, index);
                    drop(engine);
                    if let Some(operation) = operation {
                        operation.end();
                    }
                }
                Kind::General => {
                    drop(engine);
                    generalized::free(*handle)?;
                }
                _ => super::detach(&mut engine, index),
            }
        }
    }
    *handle = REQUEST_NULL;
    Ok(())
}

#[cold]
fn in_steps<T>(handle: i32, what: &str) -> Result<T> {
    fail!(
        Class::Request,
        "request is {handle:#010x}, of a collective or partitioned operation, which cannot be {what}"
    )
}

/// MPI_Cancel. A receive that has not met its message is cancelled at once, a send that has not met its receive soon.
pub fn cancel(handle: i32) -> Result<()> {
    let mut engine = enter_at(of_handle(handle));
    match find(&mut engine, handle) {
        None | Some(Found::Null) => unknown(handle),
        Some(Found::Done) => Ok(()),
        Some(Found::Slot(index)) => {
            let request = engine.requests().at(index);
            if request.phase == Phase::Inactive {
                return fail!(
                    Class::Request,
                    "request is {:#010x}, a persistent request that is not active",
                    handle
                );
            }
            match request.kind {
                Kind::Task => return in_steps(handle, "cancelled"),
                Kind::General => {
                    drop(engine);
                    return generalized::cancel(handle);
                }
                Kind::Send(_) => engine.cancel_send(index),
                Kind::Receive if request.others == 0 => {
                    engine.cancel_receive(index);
                }
                Kind::Receive => {}
            }
            Ok(())
        }
    }
}
