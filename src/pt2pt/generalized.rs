//! Generalised requests (MPI 5.0, section 13.2): the program says when one is complete, and its functions what its status is.
//!
//! Such a request is *told* when MPI_Grequest_complete was called for it and its status has not been asked for yet. Invariant: no
//! function of the program's runs inside the guard; the call that completes a request asks for its status and frees its state,
//! once.

use super::outcome::{engines_of, unknown};
use crate::datatype::{Buffer, Status};
use crate::engine::requests::{self, Extra, Kind, Phase, Request};
use crate::engine::wait::poll_in;
use crate::engine::{Engine, EngineCursor, enter};
use crate::error::{Class, Error, Result, fail};
use crate::os::schedule;
use crate::sync::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The program's functions; each returns a code, 0 for success.
pub trait Functions: Send + Sync {
    fn query(&self, status: &mut Status) -> i32;
    fn free(&self) -> i32;
    fn cancel(&self, complete: bool) -> i32;
    /// Looks whether the operation is complete, and says so by MPI_Grequest_complete: of MPICH's extension.
    fn poll(&self) -> i32;
    fn has_poll(&self) -> bool;
    /// From now on the functions are called as Fortran's.
    fn become_fortran(&self);
}

/// What the request keeps.
struct Owner(Arc<dyn Functions>);

/// How many requests are told.
static TOLD: AtomicUsize = AtomicUsize::new(0);
/// How many active ones have a function to poll.
static POLLED: AtomicUsize = AtomicUsize::new(0);

/// MPI_Grequest_start: the request's handle.
pub fn start(functions: Arc<dyn Functions>) -> Result<i32> {
    enter().requests().check_room()?;
    POLLED.fetch_add(functions.has_poll().into(), Ordering::Relaxed);
    let request = Request {
        others: 1,
        extra: Some(Box::new(Extra {
            owner: Some(Arc::new(Owner(functions))),
            ..Extra::default()
        })),
        ..Request::new(Kind::General, Buffer::empty(), 0, u32::MAX, 0)
    };
    Ok(requests::handle_of(enter().requests().insert(request)))
}

fn functions(request: &Request) -> Option<Arc<dyn Functions>> {
    let owner = request.extra.as_ref()?.owner.as_ref()?;
    owner.downcast_ref::<Owner>().map(|owner| owner.0.clone())
}

/// The generalised request of a handle; it may have been freed by the program.
fn find(engine: &mut Engine, handle: i32) -> Option<&mut Request> {
    let request = engine.requests().get(requests::index_of(handle)?)?;
    (request.kind == Kind::General).then_some(request)
}

/// MPI_Grequest_complete.
pub fn complete(handle: i32) -> Result<()> {
    let mut engine = enter();
    let Some(request) = find(&mut engine, handle) else {
        return fail!(
            Class::Request,
            "request is {handle:#010x}, which is not a generalized request"
        );
    };
    // Operations on files have requests of this kind without functions.
    if request.phase == Phase::Active && functions(request).is_none() {
        return fail!(
            Class::Request,
            "request is {handle:#010x}, of an operation on a file"
        );
    }
    if request.phase != Phase::Active {
        return fail!(
            Class::Request,
            "request is {handle:#010x}, which is complete already"
        );
    }
    let (detached, functions) = (request.detached, functions(request));
    let polled = functions.as_ref().is_some_and(|with| with.has_poll());
    POLLED.fetch_sub(polled.into(), Ordering::Relaxed);
    TOLD.fetch_add((!detached).into(), Ordering::Relaxed);
    if let Some(index) = requests::index_of(handle) {
        engine.end_task(index, None);
    }
    drop(engine);
    match functions {
        Some(functions) if detached => checked(functions.free()),
        _ => Ok(()),
    }
}

fn checked(code: i32) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(Error::from_code(code)),
    }
}

/// Whether any request is told: one load.
#[inline]
pub(super) fn any_told() -> bool {
    TOLD.load(Ordering::Relaxed) != 0
}

fn told(engine: &mut Engine, handle: i32) -> Option<Arc<dyn Functions>> {
    if !any_told() {
        return None;
    }
    let request = find(engine, handle)?;
    if request.phase != Phase::Complete {
        return None;
    }
    functions(request)
}

/// Whether a request is told.
#[inline]
pub(super) fn is_told(engine: &mut Engine, handle: i32) -> bool {
    any_told() && told(engine, handle).is_some()
}

/// The position of the first that is told.
#[inline]
pub(super) fn first_told(cursor: &mut EngineCursor, handles: &[i32]) -> Option<usize> {
    if !any_told() {
        return None;
    }
    let mut handles = handles.iter();
    handles.position(|handle| is_told(cursor.of(*handle), *handle))
}

/// Asks for the status of a request that is told, and frees its state: from then on it is complete like others. False: it is
/// not told. Without the guard.
pub(super) fn ask(handle: i32) -> bool {
    let Some(functions) = told(&mut enter(), handle) else {
        return false;
    };
    let mut status = Status::empty();
    let asked = functions.query(&mut status);
    let freed = functions.free();
    let mut engine = enter();
    if let Some(request) = find(&mut engine, handle) {
        request.status = status;
        request.error = checked(asked).and(checked(freed)).err();
        request.extra = None;
    }
    TOLD.fetch_sub(1, Ordering::Relaxed);
    true
}

/// [`ask`] for all of them.
pub(super) fn ask_all(handles: &[i32]) {
    if any_told() {
        for handle in handles {
            ask(*handle);
        }
    }
}

/// The status of a request that is told, which stays so, or else the one given. Without the guard.
pub(super) fn status_or(handle: i32, status: Status) -> Result<Status> {
    let Some(functions) = told(&mut enter(), handle) else {
        return Ok(status);
    };
    let mut status = Status::empty();
    checked(functions.query(&mut status)).map(|()| status)
}

/// MPI_Request_free: the state is freed when the request is complete.
pub(super) fn free(handle: i32) -> Result<()> {
    let mut engine = enter();
    let Some(request) = find(&mut engine, handle) else {
        return unknown(handle);
    };
    if request.phase == Phase::Active {
        request.detached = true;
        return Ok(());
    }
    let functions = functions(request);
    if let Some(index) = requests::index_of(handle) {
        engine.requests().release(index);
    }
    TOLD.fetch_sub(functions.is_some().into(), Ordering::Relaxed);
    drop(engine);
    functions.map_or(Ok(()), |functions| checked(functions.free()))
}

/// MPI_Cancel.
pub(super) fn cancel(handle: i32) -> Result<()> {
    let mut engine = enter();
    let Some(request) = find(&mut engine, handle) else {
        return unknown(handle);
    };
    let (functions, complete) = (functions(request), request.phase == Phase::Complete);
    drop(engine);
    functions.map_or(Ok(()), |functions| checked(functions.cancel(complete)))
}

/// Fortran's wrappers say that the functions are Fortran's.
pub fn set_fortran(handle: i32) {
    let functions = find(&mut enter(), handle).and_then(|request| functions(request));
    if let Some(functions) = functions {
        functions.become_fortran();
    }
}

/// Calls the functions that look whether these are complete. True if there is one.
pub(super) fn poll_all(handles: &[i32]) -> Result<bool> {
    if POLLED.load(Ordering::Relaxed) == 0 {
        return Ok(false);
    }
    let mut any = false;
    for handle in handles {
        let functions = find(&mut enter(), *handle)
            .filter(|request| request.phase == Phase::Active)
            .and_then(|request| functions(request))
            .filter(|functions| functions.has_poll());
        if let Some(functions) = functions {
            any = true;
            checked(functions.poll())?;
        }
    }
    Ok(any)
}

/// Before waiting: polls until none of these is left to be polled, or `enough` of the others are complete.
pub(super) fn poll_until(
    handles: &[i32],
    enough: impl Fn(&mut EngineCursor) -> bool,
) -> Result<()> {
    while poll_all(handles)? {
        poll_in(engines_of(handles));
        if enough(&mut EngineCursor::at_handle(handles)) {
            break;
        }
        schedule::yield_now();
    }
    Ok(())
}
