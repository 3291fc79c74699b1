//! Completion of any or some of several requests.

use super::awaited::First;
use super::complete::{Found, asked, find, is_active, try_one};
use super::outcome::{Completion, engines_of};
use super::{generalized, pending};
use crate::engine::EngineCursor;
use crate::engine::liveness::{self, GivesUp, give_up_all};
use crate::engine::requests::Phase;
use crate::engine::wait::{Reason, poll_in, until_in};
use crate::error::Result;

/// The first of the active requests that is complete. `Err(true)`: none is active; `Err(false)`: none complete.
fn take_any(
    cursor: &mut EngineCursor,
    handles: &mut [i32],
) -> Result<std::result::Result<(usize, Completion), bool>> {
    let mut none_active = true;
    for (at, handle) in handles.iter_mut().enumerate() {
        let engine = cursor.of(*handle);
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
    if handles.is_empty() {
        return Ok(None);
    }
    let first = First::of(handles);
    let reason = Reason {
        function: "MPI_Waitany",
        what: &|named| first.any(named),
    };
    let engines = engines_of(handles);
    generalized::poll_until(handles, |cursor| any_done(cursor, handles))?;
    let found = until_in(engines, &reason, |cursor| {
        if cursor.here().checks_liveness() {
            if let Some((at, error)) = pending::first(cursor, handles) {
                return Some(Ok(Some((at, Some(Completion::failed(error))))));
            }
            give_up_all(cursor, handles, GivesUp::Waiting);
        }
        if let Some(told) = generalized::first_told(cursor, handles) {
            return Some(Ok(Some((told, None))));
        }
        match take_any(cursor, handles) {
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
fn any_done(cursor: &mut EngineCursor, handles: &[i32]) -> bool {
    handles.iter().any(|handle| {
        let engine = cursor.of(*handle);
        match find(engine, *handle) {
            Some(Found::Slot(index)) => engine.requests().at(index).phase == Phase::Complete,
            Some(Found::Done) => true,
            Some(Found::Null) | None => false,
        }
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
        if round == 1 {
            poll_in(engines_of(handles));
        }
        let mut cursor = EngineCursor::at_handle(handles);
        if let Some(at) = generalized::first_told(&mut cursor, handles) {
            drop(cursor);
            return Ok(Any::Complete(at, asked(&mut handles[at])?));
        }
        match take_any(&mut cursor, handles)? {
            Ok((at, done)) => return Ok(Any::Complete(at, done)),
            Err(true) => return Ok(Any::NoneActive),
            Err(false) => {}
        }
    }
    let first = give_up_in_test(handles, pending::first);
    Ok(match first {
        Some((at, error)) => Any::Complete(at, Completion::failed(error)),
        None => Any::NoneComplete,
    })
}

/// For a test that has found none complete: what ends now is reported by the next one. What is `pending` by this one.
fn give_up_in_test<R>(
    handles: &[i32],
    mut pending: impl FnMut(&mut EngineCursor, &[i32]) -> Option<R>,
) -> Option<R> {
    liveness::ask_in_test(engines_of(handles), &mut |cursor| {
        let pending = pending(cursor, handles);
        if pending.is_none() {
            give_up_all(cursor, handles, GivesUp::Testing);
        }
        pending
    })
}

/// Takes all that are complete. `None`: no request is active.
fn take_some(
    cursor: &mut EngineCursor,
    handles: &mut [i32],
    report: &mut dyn FnMut(usize, Completion),
) -> Result<Option<usize>> {
    let mut active = false;
    for handle in handles.iter() {
        active |= is_active(cursor.of(*handle), *handle)?;
    }
    if !active {
        return Ok(None);
    }
    let mut count = 0;
    for (at, handle) in handles.iter_mut().enumerate() {
        let engine = cursor.of(*handle);
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
    if handles.is_empty() {
        return Ok(None);
    }
    let first = First::of(handles);
    let reason = Reason {
        function: "MPI_Waitsome",
        what: &|named| first.any(named),
    };
    let engines = engines_of(handles);
    generalized::poll_until(handles, |cursor| any_done(cursor, handles))?;
    loop {
        let found = until_in(engines, &reason, |cursor| {
            if cursor.here().checks_liveness() {
                match pending::report_some(cursor, handles, &mut report) {
                    0 => give_up_all(cursor, handles, GivesUp::Waiting),
                    count => return Some(Ok(Some(count))),
                }
            }
            if generalized::first_told(cursor, handles).is_some() {
                return Some(Ok(Some(0)));
            }
            match take_some(cursor, handles, &mut report) {
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
        let mut cursor = EngineCursor::at_handle(handles);
        cursor.here().progress();
        take_some(&mut cursor, handles, &mut report)?
    };
    match first {
        Some(0) => {
            poll_in(engines_of(handles));
            let taken = take_some(&mut EngineCursor::at_handle(handles), handles, &mut report);
            let Ok(Some(0)) = taken else {
                return taken;
            };
            let count = give_up_in_test(handles, |cursor, handles| {
                let count = pending::report_some(cursor, handles, &mut report);
                (count > 0).then_some(count)
            });
            Ok(Some(count.unwrap_or(0)))
        }
        other => Ok(other),
    }
}
