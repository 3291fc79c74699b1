//! Performance variables: what the library counts in any case, and sessions in which tools look at it.
//!
//! Invariant: a session sees nothing of another: starting, stopping and resetting change what one handle shows, never
//! what is counted.

mod handle;
mod variable;

use super::{check, next_number};
use crate::context_id;
use crate::error::{Class, Result, fail};
pub use handle::Change;
use handle::Handle;
use parking_lot::Mutex;
use std::collections::BTreeMap;
pub use variable::{Shows, Variable, index_of, variable};

type Session = BTreeMap<usize, Handle>;
static SESSIONS: Mutex<BTreeMap<usize, Session>> = Mutex::new(BTreeMap::new());

pub fn create_session() -> Result<usize> {
    check()?;
    let session = next_number();
    SESSIONS.lock().insert(session, Session::new());
    Ok(session)
}

pub fn free_session(session: usize) -> Result<()> {
    within(session, |_| Ok(()))?;
    SESSIONS.lock().remove(&session);
    Ok(())
}

pub(super) fn end() {
    SESSIONS.lock().clear();
}

/// Raises the marks of all watermarks that are started to what was reached since the last time, so that each of them can begin anew
/// at any moment and the library keeps one number.
fn raise_marks(sessions: &mut BTreeMap<usize, Session>) {
    let most = context_id::take_most();
    let handles = sessions.values_mut().flat_map(BTreeMap::values_mut);
    handles.for_each(|handle| handle.raise_mark(most));
}

fn within<R>(session: usize, work: impl FnOnce(&mut Session) -> Result<R>) -> Result<R> {
    check()?;
    let mut sessions = SESSIONS.lock();
    raise_marks(&mut sessions);
    match sessions.get_mut(&session) {
        Some(found) => work(found),
        None => fail!(
            Class::TInvalidSession,
            "session is {session:#x}, which is no session, or one that was freed"
        ),
    }
}

fn with<R>(
    session: usize,
    handle: usize,
    work: impl FnOnce(&mut Handle) -> Result<R>,
) -> Result<R> {
    within(session, |handles| match handles.get_mut(&handle) {
        Some(found) => work(found),
        None => no_handle(handle),
    })
}

fn no_handle<R>(handle: usize) -> Result<R> {
    fail!(
        Class::TInvalidHandle,
        "handle is {handle:#x}, which is no handle of this session, or one that was freed"
    )
}

/// A handle for a variable in a session, stopped if it can be.
pub fn open(session: usize, index: i32) -> Result<(usize, Variable)> {
    within(session, |handles| {
        let variable = variable(index)?;
        let number = next_number();
        handles.insert(number, Handle::new(variable));
        Ok((number, variable))
    })
}

pub fn close(session: usize, handle: usize) -> Result<()> {
    within(session, |handles| match handles.remove(&handle) {
        Some(_) => Ok(()),
        None => no_handle(handle),
    })
}

/// MPI_T_pvar_readreset, at one moment.
///
/// Errors: MPI_T_ERR_PVAR_NO_WRITE.
pub fn read_and_reset(session: usize, handle: usize) -> Result<u64> {
    with(session, handle, |handle| {
        handle.check(Change::Reset)?;
        let value = handle.value();
        handle.apply(Change::Reset);
        Ok(value)
    })
}

/// MPI_T_pvar_start, stop, write and reset; without a handle, of all of the session that can be changed.
///
/// Errors: MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_ERR_PVAR_NO_WRITE of what cannot.
pub fn change(session: usize, handle: Option<usize>, change: Change) -> Result<()> {
    let Some(handle) = handle else {
        return within(session, |handles| {
            let all = handles.values_mut();
            all.filter(|handle| handle.check(change).is_ok())
                .for_each(|handle| handle.apply(change));
            Ok(())
        });
    };
    with(session, handle, |handle| {
        handle.check(change)?;
        handle.apply(change);
        Ok(())
    })
}

/// What a handle shows, and its variable; a mask's words are read by [`context_id::mask_words`].
pub fn read(session: usize, handle: usize) -> Result<(Variable, u64)> {
    with(session, handle, |handle| {
        Ok((handle.variable(), handle.value()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_an_index_and_sessions_know_their_handles() {
        super::super::init();
        for (index, variable) in Variable::ALL.iter().enumerate() {
            let found = index_of(variable.name(), variable.shows() as i32);
            assert_eq!(found.unwrap(), index);
        }
        assert!(index_of("communicators", Shows::Counter as i32).is_err());
        let (one, two) = (create_session().unwrap(), create_session().unwrap());
        let (handle, _) = open(one, 0).unwrap();
        let stranger = read(two, handle).unwrap_err();
        assert_eq!(stranger.class(), Class::TInvalidHandle);
        let level = change(one, Some(handle), Change::Start).unwrap_err();
        assert_eq!(level.class(), Class::TPvarNoStartstop);
        assert!(change(one, None, Change::Start).is_ok());
        free_session(one).unwrap();
        let gone = read(one, handle).unwrap_err();
        assert_eq!(gone.class(), Class::TInvalidSession);
        free_session(two).unwrap();
    }
}
