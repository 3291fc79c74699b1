//! Completion: wait and test for one, any, some or all; free, cancel, and looking without touching.
//!
//! Invariant: a handle that completes becomes MPI_REQUEST_NULL and its slot is recycled, unless it is persistent: that
//! one becomes inactive.

use super::{REQUEST_NULL, generalized, partitioned, signatures};
use crate::datatype::Status;
use crate::engine::requests::{self, Index, Kind, Phase, Reaped};
use crate::engine::wait::{Reason, poll, until};
use crate::engine::{Engine, enter};
use crate::error::{Class, Error, Result, fail};

/// MPI_UNDEFINED.
pub const UNDEFINED: i32 = -32766;

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// MPI_REQUEST_NULL.
    Null,
    /// Was complete when it was made.
    Done,
    Slot(Index),
}

#[inline]
fn find(engine: &mut Engine, handle: i32) -> Option<Found> {
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
    find(&mut enter(), handle).is_some()
}

pub(super) fn unknown<T>(handle: i32) -> Result<T> {
    fail!(
        Class::Request,
        "request is {:#010x}, which is not a request (or was completed or freed before)",
        handle
    )
}

fn status_of_done(handle: i32) -> Status {
    if handle == requests::RECEIVED_FROM_NOBODY {
        Status::proc_null()
    } else {
        Status::empty()
    }
}

/// One completed operation. The status is good also when it failed: a message too long says who sent it.
#[derive(Debug)]
pub struct Completion {
    pub status: Status,
    pub error: Option<Error>,
}

impl Completion {
    #[inline(always)]
    pub(super) fn of(status: Status) -> Self {
        Self {
            status,
            error: None,
        }
    }

    /// The error, if there is one.
    #[inline(always)]
    pub fn into_result(self) -> Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}

/// Takes the result of a request that is complete or inactive; `None` while it is active.
#[inline]
fn reap(engine: &mut Engine, index: Index, handle: &mut i32) -> Option<Completion> {
    let request = engine.requests().at(index);
    match request.phase {
        Phase::Active | Phase::Free => None,
        Phase::Inactive => Some(Completion::of(Status::empty())),
        // Its status has to be asked for first.
        Phase::Complete if request.kind == Kind::General && request.extra.is_some() => None,
        Phase::Complete => {
            let status = match request.kind {
                Kind::Receive | Kind::Task | Kind::General => request.status,
                Kind::Send(_) => {
                    let mut status = Status::empty();
                    status.set_cancelled(request.status.cancelled());
                    status
                }
            };
            let communicator = request.communicator;
            let error = request.error.take();
            let done = match request.kind {
                Kind::Receive => signatures::judged(&request.buffer, Completion { status, error }),
                Kind::Send(_) | Kind::Task | Kind::General => Completion { status, error },
            };
            let error = done.error.map(|error| error.on(communicator));
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
fn is_active(engine: &mut Engine, handle: i32) -> Result<bool> {
    match find(engine, handle) {
        None => unknown(handle),
        Some(Found::Null) => Ok(false),
        Some(Found::Done) => Ok(true),
        Some(Found::Slot(index)) => Ok(engine.requests().at(index).phase != Phase::Inactive),
    }
}

/// Takes the result of an operation if it is there. Null and inactive handles give an empty status.
#[inline]
fn try_one(engine: &mut Engine, handle: &mut i32) -> Result<Option<Completion>> {
    match find(engine, *handle) {
        None => unknown(*handle),
        Some(Found::Null) => Ok(Some(Completion::of(Status::empty()))),
        Some(Found::Done) => {
            let status = status_of_done(*handle);
            *handle = REQUEST_NULL;
            Ok(Some(Completion::of(status)))
        }
        Some(Found::Slot(index)) => Ok(reap(engine, index, handle)),
    }
}

/// What a wait for this request is about.
fn reason(engine: &mut Engine, function: &'static str, handle: i32) -> Reason {
    let mut reason = Reason::of(function);
    if let Some(index) = requests::index_of(handle)
        && let Some(request) = engine.requests().get(index)
    {
        reason.peer = request.peer;
        reason.tag = request.tag;
        reason.context = request.context;
    }
    reason
}

/// MPI_Wait.
///
/// Errors: MPI_ERR_REQUEST.
#[inline]
pub fn wait(handle: &mut i32) -> Result<Completion> {
    let reason = {
        let mut engine = enter();
        if let Reaped::Done(status) = signatures::end(&mut engine, *handle) {
            *handle = REQUEST_NULL;
            return Ok(Completion::of(status));
        }
        if let Some(done) = try_one(&mut engine, handle)? {
            return Ok(done);
        }
        reason(&mut engine, "MPI_Wait", *handle)
    };
    generalized::poll_until(&[*handle], |_| false)?;
    let done = until(&reason, |engine| {
        if generalized::is_told(engine, *handle) {
            return Some(Ok(None));
        }
        try_one(engine, handle)
            .map(|done| done.map(Some))
            .transpose()
    })?;
    match done {
        Some(done) => Ok(done),
        None => asked(handle),
    }
}

/// The result of a generalised request that is told.
fn asked(handle: &mut i32) -> Result<Completion> {
    generalized::ask(*handle);
    match try_one(&mut enter(), handle)? {
        Some(done) => Ok(done),
        None => unknown(*handle),
    }
}

/// MPI_Test: `None` if the operation is not complete.
pub fn test(handle: &mut i32) -> Result<Option<Completion>> {
    let done = try_one(&mut enter(), handle)?;
    if done.is_some() {
        return Ok(done);
    }
    generalized::poll_all(&[*handle])?;
    let done = try_one(&mut poll(), handle)?;
    if done.is_none() && generalized::any_told() && generalized::ask(*handle) {
        return try_one(&mut enter(), handle);
    }
    Ok(done)
}

/// MPI_Waitall: `report(position, completion)` is called once for each request.
///
/// Returns whether all succeeded; a request that failed does not keep the others from completing.
/// Errors: MPI_ERR_REQUEST if a handle is no request; then nothing was touched.
pub fn wait_all(handles: &mut [i32], mut report: impl FnMut(usize, Completion)) -> Result<()> {
    let reason = {
        let mut engine = enter();
        for handle in handles.iter() {
            if find(&mut engine, *handle).is_none() {
                return unknown(*handle);
            }
        }
        match handles.first() {
            Some(first) => reason(&mut engine, "MPI_Waitall", *first),
            None => return Ok(()),
        }
    };
    generalized::poll_until(handles, |_| false)?;
    let mut at = 0;
    loop {
        let told = until(&reason, |engine| {
            while at < handles.len() {
                if handles[at] == requests::SENT {
                    handles[at] = REQUEST_NULL;
                    report(at, Completion::of(Status::empty()));
                    at += 1;
                    continue;
                }
                match signatures::end(engine, handles[at]) {
                    Reaped::Done(status) => {
                        handles[at] = REQUEST_NULL;
                        report(at, Completion::of(status));
                        at += 1;
                        continue;
                    }
                    Reaped::Active => return None,
                    Reaped::Other => {}
                }
                match try_one(engine, &mut handles[at]) {
                    Ok(Some(done)) => {
                        report(at, done);
                        at += 1;
                    }
                    Ok(None) if generalized::is_told(engine, handles[at]) => {
                        return Some(Ok(true));
                    }
                    Ok(None) => return None,
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(false))
        })?;
        if !told {
            return Ok(());
        }
        generalized::ask(handles[at]);
    }
}

/// MPI_Testall: true, with all reported, if all are complete; otherwise nothing is touched.
pub fn test_all(handles: &mut [i32], mut report: impl FnMut(usize, Completion)) -> Result<bool> {
    generalized::poll_all(handles)?;
    for round in 0..2 {
        let mut engine = if round == 0 { enter() } else { poll() };
        let mut all = true;
        for handle in handles.iter() {
            match find(&mut engine, *handle) {
                None => return unknown(*handle),
                Some(Found::Slot(index)) => {
                    all &= engine.requests().at(index).phase != Phase::Active;
                }
                Some(_) => {}
            }
        }
        if all {
            drop(engine);
            generalized::ask_all(handles);
            let mut engine = enter();
            for (at, handle) in handles.iter_mut().enumerate() {
                if let Some(done) = try_one(&mut engine, handle)? {
                    report(at, done);
                }
            }
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first of the active requests that is complete. `Err(true)`: none is active; `Err(false)`: none complete.
fn take_any(
    engine: &mut Engine,
    handles: &mut [i32],
) -> Result<std::result::Result<(usize, Completion), bool>> {
    let mut none_active = true;
    for (at, handle) in handles.iter_mut().enumerate() {
        if !is_active(engine, *handle)? {
            continue;
        }
        none_active = false;
        if let Some(done) = try_one(engine, handle)? {
            return Ok(Ok((at, done)));
        }
    }
    Ok(Err(none_active))
}

/// MPI_Waitany: position and result, or `None` if no request is active.
pub fn wait_any(handles: &mut [i32]) -> Result<Option<(usize, Completion)>> {
    let reason = {
        let mut engine = enter();
        match handles.first() {
            Some(first) => reason(&mut engine, "MPI_Waitany", *first),
            None => return Ok(None),
        }
    };
    generalized::poll_until(handles, |engine| any_done(engine, handles))?;
    let found = until(&reason, |engine| {
        if let Some(told) = generalized::first_told(engine, handles) {
            return Some(Ok(Some((told, None))));
        }
        match take_any(engine, handles) {
            Ok(Ok((at, done))) => Some(Ok(Some((at, Some(done))))),
            Ok(Err(true)) => Some(Ok(None)),
            Ok(Err(false)) => None,
            Err(error) => Some(Err(error)),
        }
    })?;
    Ok(match found {
        None => None,
        Some((at, Some(done))) => Some((at, done)),
        Some((at, None)) => Some((at, asked(&mut handles[at])?)),
    })
}

/// Whether one of the active requests is complete, or told.
fn any_done(engine: &mut Engine, handles: &[i32]) -> bool {
    handles.iter().any(|handle| match find(engine, *handle) {
        Some(Found::Slot(index)) => engine.requests().at(index).phase == Phase::Complete,
        Some(Found::Done) => true,
        Some(Found::Null) | None => false,
    })
}

/// The answer of MPI_Testany, with a completion, and of MPI_Request_get_status_any, with a status.
#[derive(Debug)]
pub enum Any<T> {
    NoneActive,
    NoneComplete,
    Complete(usize, T),
}

/// MPI_Testany.
pub fn test_any(handles: &mut [i32]) -> Result<Any<Completion>> {
    generalized::poll_all(handles)?;
    for round in 0..2 {
        let mut engine = if round == 0 { enter() } else { poll() };
        if let Some(at) = generalized::first_told(&mut engine, handles) {
            drop(engine);
            return Ok(Any::Complete(at, asked(&mut handles[at])?));
        }
        match take_any(&mut engine, handles)? {
            Ok((at, done)) => return Ok(Any::Complete(at, done)),
            Err(true) => return Ok(Any::NoneActive),
            Err(false) => {}
        }
    }
    Ok(Any::NoneComplete)
}

/// Takes all that are complete. `None`: no request is active.
fn take_some(
    engine: &mut Engine,
    handles: &mut [i32],
    report: &mut dyn FnMut(usize, Completion),
) -> Result<Option<usize>> {
    let mut active = false;
    for handle in handles.iter() {
        active |= is_active(engine, *handle)?;
    }
    if !active {
        return Ok(None);
    }
    let mut count = 0;
    for (at, handle) in handles.iter_mut().enumerate() {
        if is_active(engine, *handle)?
            && let Some(done) = try_one(engine, handle)?
        {
            report(at, done);
            count += 1;
        }
    }
    Ok(Some(count))
}

/// MPI_Waitsome: how many are complete (at least one), each reported; `None` if no request is active.
pub fn wait_some(
    handles: &mut [i32],
    mut report: impl FnMut(usize, Completion),
) -> Result<Option<usize>> {
    let reason = {
        let mut engine = enter();
        match handles.first() {
            Some(first) => reason(&mut engine, "MPI_Waitsome", *first),
            None => return Ok(None),
        }
    };
    generalized::poll_until(handles, |engine| any_done(engine, handles))?;
    loop {
        let found = until(&reason, |engine| {
            if generalized::first_told(engine, handles).is_some() {
                return Some(Ok(Some(0)));
            }
            match take_some(engine, handles, &mut report) {
                Ok(Some(0)) => None,
                other => Some(other),
            }
        });
        match found {
            Ok(Some(0)) => generalized::ask_all(handles),
            other => return other,
        }
    }
}

/// MPI_Testsome: as [`wait_some`], without waiting; zero is an answer.
pub fn test_some(
    handles: &mut [i32],
    mut report: impl FnMut(usize, Completion),
) -> Result<Option<usize>> {
    generalized::poll_all(handles)?;
    generalized::ask_all(handles);
    let first = {
        let mut engine = enter();
        engine.progress();
        take_some(&mut engine, handles, &mut report)?
    };
    match first {
        Some(0) => take_some(&mut poll(), handles, &mut report),
        other => Ok(other),
    }
}

/// Lets go of a request that the program never got: it goes on and is recycled when it is done.
pub fn abandon(handle: i32) {
    let mut engine = enter();
    if let Some(Found::Slot(index)) = find(&mut engine, handle) {
        super::detach(&mut engine, index);
    }
}

/// MPI_Request_free. An active operation goes on and is recycled when it is done.
pub fn free(handle: &mut i32) -> Result<()> {
    let mut engine = enter();
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

/// MPI_Cancel. A receive that has not met its message is cancelled; sends never are.
pub fn cancel(handle: i32) -> Result<()> {
    let mut engine = enter();
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
                _ => {}
            }
            if request.kind == Kind::Receive && request.others == 0 {
                engine.cancel_receive(index);
            }
            Ok(())
        }
    }
}

/// What [`look`] saw.
fn peek(engine: &mut Engine, handle: i32) -> Result<Option<Status>> {
    match find(engine, handle) {
        None => unknown(handle),
        Some(Found::Null) => Ok(Some(Status::empty())),
        Some(Found::Done) => Ok(Some(status_of_done(handle))),
        Some(Found::Slot(index)) => {
            let request = engine.requests().at(index);
            Ok(match (request.phase, request.kind) {
                (Phase::Complete, Kind::Receive) => Some(signatures::without(request.status)),
                (Phase::Complete, Kind::Task | Kind::General) => Some(request.status),
                (Phase::Complete, _) | (Phase::Inactive, _) => Some(Status::empty()),
                _ => None,
            })
        }
    }
}

/// MPI_Request_get_status: the status if the operation is complete; the request stays.
pub fn get_status(handle: i32) -> Result<Option<Status>> {
    generalized::poll_all(&[handle])?;
    let mut status = peek(&mut enter(), handle)?;
    if status.is_none() {
        status = peek(&mut poll(), handle)?;
    }
    status
        .map(|status| generalized::status_or(handle, status))
        .transpose()
}

/// MPI_Request_get_status_all: all statuses reported, if all are complete.
pub fn get_status_all(handles: &[i32], mut report: impl FnMut(usize, Status)) -> Result<bool> {
    generalized::poll_all(handles)?;
    let mut engine = poll();
    let mut statuses = Vec::with_capacity(handles.len());
    for handle in handles {
        match peek(&mut engine, *handle)? {
            Some(status) => statuses.push(status),
            None => return Ok(false),
        }
    }
    drop(engine);
    for (at, status) in statuses.into_iter().enumerate() {
        report(at, generalized::status_or(handles[at], status)?);
    }
    Ok(true)
}

/// MPI_Request_get_status_some: how many of the active ones are complete, each reported; `None` if none is active.
pub fn get_status_some(
    handles: &[i32],
    mut report: impl FnMut(usize, Status),
) -> Result<Option<usize>> {
    generalized::poll_all(handles)?;
    let mut engine = poll();
    let (mut active, mut found) = (false, Vec::new());
    for (at, handle) in handles.iter().enumerate() {
        if !is_active(&mut engine, *handle)? {
            continue;
        }
        active = true;
        if let Some(status) = peek(&mut engine, *handle)? {
            found.push((at, status));
        }
    }
    drop(engine);
    let count = found.len();
    for (at, status) in found {
        report(at, generalized::status_or(handles[at], status)?);
    }
    Ok(active.then_some(count))
}

/// MPI_Request_get_status_any.
pub fn get_status_any(handles: &[i32]) -> Result<Any<Status>> {
    generalized::poll_all(handles)?;
    let mut engine = poll();
    let mut active = false;
    for (at, handle) in handles.iter().enumerate() {
        if !is_active(&mut engine, *handle)? {
            continue;
        }
        active = true;
        if let Some(status) = peek(&mut engine, *handle)? {
            drop(engine);
            let status = generalized::status_or(*handle, status)?;
            return Ok(Any::Complete(at, status));
        }
    }
    Ok(if active {
        Any::NoneComplete
    } else {
        Any::NoneActive
    })
}
