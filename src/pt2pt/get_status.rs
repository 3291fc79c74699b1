//! Status of requests without completing them.

use super::complete::{Found, find, is_active, status_of_done, status_of_sent};
use super::outcome::{engines_of, unknown};
use super::several::Any;
use super::{generalized, signatures};
use crate::datatype::Status;
use crate::engine::entry::of_handle;
use crate::engine::requests::{Kind, Phase};
use crate::engine::wait::{poll_at, poll_in};
use crate::engine::{Engine, EngineCursor, enter_at};
use crate::error::{Result, memory};

/// The status of a request that is complete or inactive.
fn peek(engine: &mut Engine, handle: i32) -> Result<Option<Status>> {
    match find(engine, handle) {
        None => unknown(handle),
        Some(Found::Null) => Ok(Some(Status::of_inactive())),
        Some(Found::Done) => Ok(Some(status_of_done(handle))),
        Some(Found::Slot(index)) => {
            let request = engine.requests().at(index);
            Ok(match (request.phase, request.kind) {
                (Phase::Complete, Kind::Receive) => Some(signatures::without(request.status)),
                (Phase::Complete, Kind::Task | Kind::General) => Some(request.status),
                (Phase::Complete, Kind::Send(_)) => Some(status_of_sent(request)),
                (Phase::Inactive, _) => Some(Status::of_inactive()),
                _ => None,
            })
        }
    }
}

/// MPI_Request_get_status: the status if the operation is complete; the request stays.
pub fn get_status(handle: i32) -> Result<Option<Status>> {
    generalized::poll_all(&[handle])?;
    let number = of_handle(handle);
    let mut status = peek(&mut enter_at(number), handle)?;
    if status.is_none() {
        status = peek(&mut poll_at(number), handle)?;
    }
    status
        .map(|status| generalized::status_or(handle, status))
        .transpose()
}

/// MPI_Request_get_status_all: all statuses reported, if all are complete.
pub fn get_status_all(handles: &[i32], mut report: impl FnMut(usize, Status)) -> Result<bool> {
    generalized::poll_all(handles)?;
    poll_in(engines_of(handles));
    let mut cursor = EngineCursor::at_handle(handles);
    let mut statuses = memory::room(handles.len(), "statuses")?;
    for handle in handles {
        match peek(cursor.of(*handle), *handle)? {
            Some(status) => statuses.push(status),
            None => return Ok(false),
        }
    }
    drop(cursor);
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
    poll_in(engines_of(handles));
    let mut cursor = EngineCursor::at_handle(handles);
    let (mut active, mut found) = (false, Vec::new());
    for (at, handle) in handles.iter().enumerate() {
        if !is_active(cursor.of(*handle), *handle)? {
            continue;
        }
        active = true;
        if let Some(status) = peek(cursor.of(*handle), *handle)? {
            found.push((at, status));
        }
    }
    drop(cursor);
    let count = found.len();
    for (at, status) in found {
        report(at, generalized::status_or(handles[at], status)?);
    }
    Ok(active.then_some(count))
}

/// MPI_Request_get_status_any.
pub fn get_status_any(handles: &[i32]) -> Result<Any<Status>> {
    generalized::poll_all(handles)?;
    poll_in(engines_of(handles));
    let mut cursor = EngineCursor::at_handle(handles);
    let mut active = false;
    for (at, handle) in handles.iter().enumerate() {
        if !is_active(cursor.of(*handle), *handle)? {
            continue;
        }
        active = true;
        if let Some(status) = peek(cursor.of(*handle), *handle)? {
            drop(cursor);
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
