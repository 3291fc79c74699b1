//! Sessions (MPI 5.0, section 11.3): an error handler, hints, process sets, and a scope for buffered sends.
//!
//! Each open one keeps the process inside the job, without MPI_Init, before and after it.

use super::ThreadLevel;
use crate::errhandler::{self, Attached, Target};
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, null};
use crate::info::{Info, kinds};
use crate::pt2pt::buffered::{self, Scope};
use crate::pt2pt::origin;
use std::sync::Arc;

/// MPI_SESSION_NULL.
pub const NULL: i32 = null(ObjectType::Session);

pub struct Session {
    pub errhandler: Attached,
    /// The hints in use: those that it was opened with, as far as they are known.
    pub info: Info,
}

/// The hint by which a program asks for a level of thread support, and is told it.
const THREAD_LEVEL: &str = "thread_level";

static SESSIONS: SharedTable<Session> = SharedTable::new(ObjectType::Session);

/// MPI_Session_init: the new session's handle.
///
/// Errors: MPI_ERR_ERRHANDLER if the handler is not one for sessions.
pub fn open(info: Info, errhandler: i32) -> Result<i32> {
    errhandler::check(errhandler, Target::Session)?;
    let wish = info.get(THREAD_LEVEL)?;
    let wish = ThreadLevel::ALL
        .into_iter()
        .find(|level| Some(level.name()) == wish);
    let level = super::begin_session(wish)?;
    let mut used = Info::new();
    used.set(THREAD_LEVEL, level.name())?;
    used.set(kinds::KEY, &kinds::supported(info.get(kinds::KEY)?))?;
    add(used, errhandler)
}

fn add(info: Info, errhandler: i32) -> Result<i32> {
    SESSIONS.insert(Arc::new(Session {
        errhandler: Attached::to(errhandler),
        info,
    }))
}

/// The session of a handle.
///
/// Errors: MPI_ERR_SESSION.
pub fn get(handle: i32) -> Result<Arc<Session>> {
    match SESSIONS.get(handle) {
        Some(session) => Ok(session),
        None if handle == NULL => fail!(Class::Session, "session is MPI_SESSION_NULL"),
        None => fail!(
            Class::Session,
            "session is {handle:#x}, which is no session, or one that was finalized"
        ),
    }
}

/// MPI_Session_finalize: waits until the messages in the session's buffer have left.
pub fn close(handle: i32) -> Result<()> {
    get(handle)?;
    if super::is_running() {
        buffered::detach(Scope::Session(handle))?;
    }
    if remove(handle) {
        super::end_session()?;
    }
    Ok(())
}

/// False: another thread was faster.
fn remove(handle: i32) -> bool {
    if SESSIONS.remove(handle).is_none() {
        return false;
    }
    origin::forget_session(handle);
    true
}

impl Session {
    /// MPI_Session_set_errhandler.
    pub fn set_errhandler(&self, errhandler: i32) -> Result<()> {
        errhandler::check(errhandler, Target::Session)?;
        self.errhandler.set(errhandler);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_while_it_is_open() {
        let handle = add(Info::new(), errhandler::ERRORS_RETURN).unwrap();
        let session = get(handle).unwrap();
        assert!(session.errhandler.is(errhandler::ERRORS_RETURN));
        session
            .set_errhandler(errhandler::ERRORS_ARE_FATAL)
            .unwrap();
        assert!(session.errhandler.is(errhandler::ERRORS_ARE_FATAL));
        assert!(remove(handle));
        assert!(!remove(handle));
        for stale in [handle, NULL, 0x4400_0000] {
            assert_eq!(get(stale).err().unwrap().class(), Class::Session);
        }
        assert!(open(Info::new(), errhandler::NULL).is_err());
    }
}
