//! Error return: where an error of the core becomes an `int` and meets the program's error handler.
//!
//! Invariant: an error handler is called once for a failed call, and only here.

use crate::decode;
use crate::describe::spelled;
use crate::param::{Comm, Describe, Errhandler, ErrorCode, File, Session, Win};
use crate::pointers::InOut;
use oxmpi::comm;
use oxmpi::errhandler::{self, Action, Attached, Failure};
use oxmpi::error::{Class, Error, Result};
use oxmpi::fail;
use oxmpi::handle::{self, ObjectType};
use oxmpi::info;
use oxmpi::io;
use oxmpi::os::cancellation::Uncancelled;
use oxmpi::os::tell;
use oxmpi::process::settings::SUPPRESS_ABORT_MESSAGE;
use oxmpi::process::{self, State, session};
use oxmpi::rma;
use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// The handler for errors of functions without an open file, set on MPI_FILE_NULL.
pub static FILES: Attached = Attached::predefined(errhandler::ERRORS_RETURN);

/// Whose error handler is called.
#[derive(Clone, Copy)]
pub enum Origin {
    /// No object of the call's: the handler of MPI_COMM_SELF, or, where a program of MPI 3 left
    /// that alone, of MPI_COMM_WORLD.
    None,
    Comm(Comm),
    /// Without an open file, the handler set on MPI_FILE_NULL (MPI 5.0, 14.7).
    File(File),
    Session(Session),
    /// Without a window, as for `None`.
    Win(Win),
    /// The handler that a new object is to have is asked already when it cannot be made.
    Errhandler(Errhandler),
}

impl Origin {
    /// The object with this handle.
    fn of(owner: i32) -> Origin {
        match handle::object_type(owner) {
            Some(ObjectType::Comm) => Origin::Comm(Comm(owner)),
            Some(ObjectType::File) => Origin::File(File::of_handle(owner)),
            Some(ObjectType::Session) => Origin::Session(Session(owner)),
            Some(ObjectType::Win) => Origin::Win(Win(owner)),
            _ => Origin::None,
        }
    }
}

/// Arguments that can be named after `on` in an entry.
pub trait Raises {
    fn origin(&self) -> Origin;

    /// Whether nothing is to be looked at before the call: whether communication is allowed, events that wait, the timeline.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        process::is_running_and_quiet()
    }

    /// Whether communication is allowed now.
    #[inline(always)]
    fn may_run(&self) -> Result<()> {
        decode::running()
    }
}

macro_rules! raises {
    ($($name:ident)*) => {
        $(
            impl Raises for $name {
                fn origin(&self) -> Origin {
                    Origin::$name(*self)
                }
            }

            impl Raises for InOut<$name> {
                fn origin(&self) -> Origin {
                    self.read().map_or(Origin::None, Origin::$name)
                }
            }
        )*
    };
}

raises!(Comm Win);

impl Raises for File {
    fn origin(&self) -> Origin {
        Origin::File(*self)
    }
}

impl Raises for InOut<File> {
    fn origin(&self) -> Origin {
        Origin::File(self.read().unwrap_or(File::of_handle(0)))
    }
}

// Sessions, and communicators without a parent, are made without MPI_Init.
impl Raises for Errhandler {
    fn origin(&self) -> Origin {
        Origin::Errhandler(*self)
    }

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        true
    }

    fn may_run(&self) -> Result<()> {
        Ok(())
    }
}

// Sessions are used without MPI_Init.
impl Raises for Session {
    fn origin(&self) -> Origin {
        Origin::Session(*self)
    }

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        true
    }

    fn may_run(&self) -> Result<()> {
        Ok(())
    }
}

impl Raises for InOut<Session> {
    fn origin(&self) -> Origin {
        self.read().map_or(Origin::None, Origin::Session)
    }

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        true
    }

    fn may_run(&self) -> Result<()> {
        Ok(())
    }
}

const NOT_WRITTEN: &str = "this function is not written yet in oxmpi";

/// What a stub returns; `raise` puts the function's name before it.
#[cfg(not(standard_abi))]
#[cold]
pub fn not_written() -> Result<()> {
    Err(Error::new(Class::UnsupportedOperation, NOT_WRITTEN))
}

/// Says once for each function that it is not written: a program that ignores the code goes wrong later, far from the cause.
#[cold]
fn tell_not_written(function: &'static str, error: &Error) {
    static TOLD: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    if error.class() != Class::UnsupportedOperation || error.text() != NOT_WRITTEN {
        return;
    }
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.insert(function) {
        let rank = process::job().map_or(String::new(), |job| format!("rank {} on ", job.rank));
        let host = info::host();
        tell(&format!(
            "oxmpi: {rank}{host}: {function} is not written yet in oxmpi; it fails with {} (told once)\n",
            error.class().name()
        ));
    }
}

/// The code to return for `error`, after the error handler that belongs to `origin` was called.
#[cold]
#[inline(never)]
pub fn raise(
    error: Error,
    function: &'static str,
    arguments: &[(&'static str, &dyn Describe)],
    origin: Origin,
) -> c_int {
    let is_of_failure = matches!(error.class(), Class::ProcFailed | Class::Revoked);
    if is_of_failure || error.lost().is_some() {
        // Programs look at the new communicator, and not at the error alone: on other processes there is one.
        arguments
            .iter()
            .for_each(|(_, argument)| argument.make_nothing());
    }
    if matches!(error.class(), Class::Revoked | Class::InStatus) {
        // Another process may have said so in the operation: from now on all calls on the communicator find it.
        comm::revocation::look();
    }
    #[cfg(standard_abi)]
    let error = crate::standard::errors::as_given(error);
    ErrorCode(met(error, function, arguments, origin)).to_c()
}

/// The core's code for `error`, after the error handler that belongs to `origin` was called.
fn met(
    error: Error,
    function: &'static str,
    arguments: &[(&'static str, &dyn Describe)],
    origin: Origin,
) -> c_int {
    if error.is_handled() {
        return error.code();
    }
    // The tool interface calls no handler, and returns what tools compare with the constants, also before MPI_Init.
    if function.starts_with("MPI_T_") {
        return match error.class() {
            Class::NoMem => Class::TMemory.value(),
            class if class.is_of_tools() => class.value(),
            _ => Class::TInvalid.value(),
        };
    }
    let call = call(function, arguments, error.class());
    let is_of_operation = matches!(origin, Origin::None);
    let origin = match is_of_operation {
        true => Origin::of(error.owner()),
        false => origin,
    };
    // Sessions have handlers of their own, also before MPI_Init.
    let session = match origin {
        Origin::Session(handle) => session::get(handle.0).ok().map(|session| (handle, session)),
        _ => None,
    };
    let given = match origin {
        Origin::Errhandler(given) => Some(given.0).filter(|given| errhandler::is_known(*given)),
        _ => None,
    };
    if process::state() != State::Running && session.is_none() && given.is_none() {
        end_job(&call, None, &error);
    }
    let comm = match origin {
        // Operations of a communicator that was freed go on, and have its error handler; a call that names it is of no communicator.
        Origin::Comm(handle) if is_of_operation => {
            comm::find(handle.0).or_else(|| comm::retired(handle.0))
        }
        Origin::Comm(handle) => comm::find(handle.0),
        _ => None,
    };
    let window = match origin {
        Origin::Win(handle) => rma::get(handle.0),
        _ => None,
    };
    let file = match origin {
        Origin::File(file) => file.find(),
        _ => None,
    };
    let (action, object) = match (comm, session) {
        _ if given.is_some() => (
            given.map_or(Action::EndJob, errhandler::action),
            comm::NULL as usize,
        ),
        (Some(comm), _) => (comm.errhandler.action(), comm.handle as usize),
        (None, Some((handle, session))) => (session.errhandler.action(), handle.0 as usize),
        (None, None) if let Some(window) = window => {
            (window.errhandler.action(), window.handle as usize)
        }
        (None, None) if let Some(file) = file => (
            file.errhandler.action(),
            File::of_handle(file.handle).0 as usize,
        ),
        (None, None) if matches!(origin, Origin::File(_)) => {
            (FILES.action(), File::of_handle(0).0 as usize)
        }
        (None, None) => (action_of_the_process(), comm::SELF as usize),
    };
    if !matches!(action, Action::EndJob) {
        tell_not_written(function, &error);
    }
    match action {
        Action::Return => error.context(shortened(call)).code(),
        Action::Call(handler) => {
            let code = error.context(shortened(call)).code();
            handler.callback.call(object, code)
        }
        Action::EndJob => {
            let name = match origin {
                Origin::File(_) => {
                    Some(file.map_or_else(|| "MPI_FILE_NULL".to_owned(), io::File::title))
                }
                Origin::Win(_) => window.map(rma::Window::title),
                _ => comm.map(comm::Comm::title),
            };
            end_job(&call, name.as_deref(), &error)
        }
    }
}

/// Does what a handler wants for an error that the program itself raises (MPI_Comm_call_errhandler
/// and its like). Returns when the handler does, with the code that is left.
pub fn call_handler(
    action: Action,
    object: usize,
    name: Option<&str>,
    call: &str,
    error: &Error,
) -> c_int {
    match action {
        Action::Return => error.code(),
        Action::Call(handler) => handler.callback.call(object, error.code()),
        Action::EndJob => end_job(call, name, error),
    }
}

/// A pointer that must not be null is.
#[cold]
pub fn null(name: &str) -> Result<()> {
    fail!(Class::Arg, "{name} is NULL")
}

/// The handler for errors of no object.
fn action_of_the_process() -> Action {
    let handlers =
        [comm::SELF, comm::WORLD].map(|handle| comm::find(handle).map(|c| &c.errhandler));
    let set = |handler: &&Attached| !handler.is(errhandler::ERRORS_ARE_FATAL);
    let handler = handlers.into_iter().flatten().find(set);
    handler.map_or(Action::EndJob, Attached::action)
}

/// `MPI_Send(buf=0x7ffd5e0, count=1, ...)`; `MPI_Send(comm=MPI_COMM_WORLD)` where the class says that the communicator alone is the reason: programs go
/// on from such an error, and wait for it.
fn call(function: &str, arguments: &[(&'static str, &dyn Describe)], class: Class) -> String {
    let mut call = String::with_capacity(128);
    call.push_str(function);
    call.push('(');
    let tells = |name: &str| class != Class::Revoked || name.ends_with("comm");
    let told = arguments.iter().filter(|(name, _)| tells(name));
    for (position, (name, value)) in told.enumerate() {
        if position > 0 {
            call.push_str(", ");
        }
        call.push_str(name);
        call.push('=');
        // Writing into a String cannot fail.
        let _ = value.describe(&mut call);
    }
    call.push(')');
    call
}

/// Says what went wrong, and ends the job.
fn end_job(call: &str, object: Option<&str>, error: &Error) -> ! {
    let _uncancelled = Uncancelled::begin();
    let failure = Failure {
        rank: process::job().map(|job| job.rank as c_int),
        host: &info::host(),
        pid: std::process::id(),
        call,
        object,
        error,
    };
    tell(&errhandler::message(&failure));
    process::abort(error.class().value())
}

/// MPI_Abort.
pub fn abort(comm: Comm, code: c_int) -> ! {
    let name = comm::find(comm.0).map_or_else(|| spelled(comm.0), comm::Comm::title);
    let rank = process::job().map_or(0, |job| job.rank);
    if !SUPPRESS_ABORT_MESSAGE.get() {
        tell(&format!(
            "oxmpi: rank {rank} on {} called MPI_Abort({name}, {code})\n",
            info::host()
        ));
    }
    process::abort(code)
}

/// Leaves room for the reason in a text of MPI_MAX_ERROR_STRING bytes.
fn shortened(mut call: String) -> String {
    const ROOM: usize = 300;
    if call.len() > ROOM {
        let end = (0..ROOM).rev().find(|end| call.is_char_boundary(*end));
        call.truncate(end.unwrap_or(0));
        call.push_str("...)");
    }
    call
}
