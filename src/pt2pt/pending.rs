//! Receives from any source while a failure of a process that might send is not acknowledged.
//!
//! Such a receive may wait for a message that the dead would have sent, so a call that waits for it says so. Invariant: the receive stays as it
//! is, and can still match; nothing here is asked but in liveness checks.

use super::outcome::Completion;
use crate::comm;
use crate::engine::requests::{self, Index};
use crate::engine::{Engine, EngineCursor, failures, losses};
use crate::error::Error;

/// A failed process that might have sent what an active receive waits for; all that it had sent is handled.
pub(super) fn failed_sender(engine: &mut Engine, index: Index) -> Option<u32> {
    failures::look();
    if !failures::any() {
        return None;
    }
    let (owner, context) = engine.receives_from_any(index)?;
    let comm = comm::find_used(owner).filter(|comm| comm.has_context(context))?;
    let process = comm.unacknowledged()?;
    (!engine.progresses()).then_some(process)
}

/// Why a call that waits for a request is not to go on, although the request stays active.
pub(super) fn error_of(engine: &mut Engine, handle: i32) -> Option<Error> {
    let index = requests::index_of(handle)?;
    let owner = engine.requests().get(index)?.owner;
    let process = failed_sender(engine, index)?;
    Some(losses::pending(process).on(owner))
}

/// The first of several, for a call that one of them is enough for.
#[cold]
pub(super) fn first(cursor: &mut EngineCursor, handles: &[i32]) -> Option<(usize, Error)> {
    let mut all = handles.iter().enumerate();
    all.find_map(|(at, handle)| Some((at, error_of(cursor.of(*handle), *handle)?)))
}

/// Reports all of them. Returns how many.
#[cold]
pub(super) fn report_some(
    cursor: &mut EngineCursor,
    handles: &[i32],
    report: &mut dyn FnMut(usize, Completion),
) -> usize {
    let mut count = 0;
    for (at, handle) in handles.iter().enumerate() {
        if let Some(error) = error_of(cursor.of(*handle), *handle) {
            report(at, Completion::failed(error));
            count += 1;
        }
    }
    count
}
