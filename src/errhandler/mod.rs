//! Error handlers: the predefined ones and those that programs make (MPI 5.0, section 9.3).
//!
//! Invariant: a handler of the program lives as long as somebody holds it: the program by its handle,
//! or an object it is [`Attached`] to.

mod attached;
mod message;

pub use attached::Attached;
pub use message::{Failure, VARIABLES, message};

use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, builtin, null};
use crate::sync::{AtomicUsize, Ordering};
use std::sync::Arc;

/// MPI_ERRHANDLER_NULL.
pub const NULL: i32 = null(ObjectType::Errhandler);
pub const ERRORS_ARE_FATAL: i32 = builtin(ObjectType::Errhandler, 0);
pub const ERRORS_RETURN: i32 = builtin(ObjectType::Errhandler, 1);
/// MPIR_ERRORS_THROW_EXCEPTIONS of the removed C++ bindings: the wrapper throws on the code.
pub const ERRORS_THROW_EXCEPTIONS: i32 = builtin(ObjectType::Errhandler, 2);
pub const ERRORS_ABORT: i32 = builtin(ObjectType::Errhandler, 3);

/// What a handler can be set on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Comm,
    File,
    Session,
    Win,
}

/// The program's function, in whatever language.
pub trait Callback: Send + Sync {
    /// `object` is the handle of the communicator, window or session, or the address of the file.
    /// Returns the code that the failed function is to return: the function may change it, and a
    /// wrapper that has done all there is to do makes it 0.
    fn call(&self, object: usize, code: i32) -> i32;

    /// From now on the function is called through this function of another language's wrapper (an
    /// address, known to the implementation only).
    fn set_proxy(&self, proxy: usize);
}

/// A handler made by a program.
pub struct Errhandler {
    pub target: Target,
    pub callback: Box<dyn Callback>,
    references: AtomicUsize,
    /// Those of them that the program has to give back.
    programs: AtomicUsize,
}

/// What is to be done about an error. Decided here, done at the edge.
#[derive(Clone)]
pub enum Action {
    /// Print and end the whole job.
    EndJob,
    /// Return the code.
    Return,
    /// Call the program's function, then return the code.
    Call(Arc<Errhandler>),
}

static ERRHANDLERS: SharedTable<Errhandler> = SharedTable::new(ObjectType::Errhandler);

/// A new handler; its one reference is the program's.
pub fn create(target: Target, callback: Box<dyn Callback>) -> Result<i32> {
    ERRHANDLERS.insert(Arc::new(Errhandler {
        target,
        callback,
        references: AtomicUsize::new(1),
        programs: AtomicUsize::new(1),
    }))
}

fn is_predefined(handle: i32) -> bool {
    (ERRORS_ARE_FATAL..=ERRORS_ABORT).contains(&handle)
}

fn find(handle: i32) -> Result<Arc<Errhandler>> {
    match ERRHANDLERS.get(handle) {
        Some(errhandler) => Ok(errhandler),
        None if handle == NULL => fail!(Class::Errhandler, "errhandler is MPI_ERRHANDLER_NULL"),
        None => fail!(
            Class::Errhandler,
            "errhandler is {handle:#x}, which is no error handler"
        ),
    }
}

/// Checks that the handler can be set on such an object.
pub fn check(handle: i32, target: Target) -> Result<()> {
    if is_predefined(handle) {
        return Ok(());
    }
    let made_for = find(handle)?.target;
    if made_for != target {
        return fail!(
            Class::Errhandler,
            "errhandler is {handle:#x}, which was made for a {made_for:?}, not for a {target:?}"
        );
    }
    Ok(())
}

/// Whether there is such a handler.
pub fn is_known(handle: i32) -> bool {
    is_predefined(handle) || find(handle).is_ok()
}

/// One more holder: an object it is set on, or the program by MPI_Comm_get_errhandler.
fn retain(handle: i32) {
    if let Some(errhandler) = ERRHANDLERS.get(handle) {
        errhandler.references.fetch_add(1, Ordering::Relaxed);
    }
}

/// One holder less; the last one ends the handler.
fn release(handle: i32) {
    if let Some(errhandler) = ERRHANDLERS.get(handle)
        && errhandler.references.fetch_sub(1, Ordering::AcqRel) == 1
    {
        ERRHANDLERS.remove(handle);
    }
}

/// MPI_Errhandler_free. A predefined handler may be given back too, which does nothing.
pub fn free(handle: i32) -> Result<()> {
    if !is_predefined(handle) {
        let errhandler = find(handle)?;
        let _ = errhandler
            .programs
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                count.checked_sub(1)
            });
        release(handle);
    }
    Ok(())
}

/// The program has got a reference, by MPI_Comm_get_errhandler and its like.
fn give_to_program(handle: i32) {
    retain(handle);
    if let Some(errhandler) = ERRHANDLERS.get(handle) {
        errhandler.programs.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether the program has a reference that it has not given back.
pub fn is_held_by_program(handle: i32) -> bool {
    let errhandler = ERRHANDLERS.get(handle);
    errhandler.is_some_and(|it| it.programs.load(Ordering::Relaxed) > 0)
}

/// What the handler set on an object wants to be done about an error.
pub fn action(handle: i32) -> Action {
    match handle {
        ERRORS_RETURN | ERRORS_THROW_EXCEPTIONS => Action::Return,
        // MPI_Abort on any communicator ends the whole job, and so does MPI_ERRORS_ABORT: see docs/objects.md.
        _ => match ERRHANDLERS.get(handle) {
            Some(errhandler) => Action::Call(errhandler),
            None => Action::EndJob,
        },
    }
}

/// Lets the wrapper of another language call the handler's function; false if there is no such one.
pub fn set_proxy(handle: i32, proxy: usize) -> bool {
    let errhandler = ERRHANDLERS.get(handle);
    if let Some(errhandler) = &errhandler {
        errhandler.callback.set_proxy(proxy);
    }
    errhandler.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Logged(Arc<Mutex<Vec<(usize, i32)>>>);

    impl Callback for Logged {
        fn call(&self, object: usize, code: i32) -> i32 {
            self.0.lock().unwrap().push((object, code));
            code
        }

        fn set_proxy(&self, _: usize) {}
    }

    #[test]
    fn predefined_handlers() {
        assert_eq!(ERRORS_ARE_FATAL, 0x5400_0000);
        assert!(matches!(action(ERRORS_ARE_FATAL), Action::EndJob));
        assert!(matches!(action(ERRORS_RETURN), Action::Return));
        assert!(matches!(action(ERRORS_ABORT), Action::EndJob));
        assert!(matches!(action(NULL), Action::EndJob));
        free(ERRORS_RETURN).unwrap();
        check(ERRORS_RETURN, Target::Win).unwrap();
        assert_eq!(free(NULL).unwrap_err().class(), Class::Errhandler);
    }

    #[test]
    fn a_handler_lives_while_it_is_set_somewhere() {
        let log = Arc::default();
        let handle = create(Target::Comm, Box::new(Logged(Arc::clone(&log)))).unwrap();
        check(handle, Target::Comm).unwrap();
        assert_eq!(
            check(handle, Target::Win).unwrap_err().class(),
            Class::Errhandler
        );
        retain(handle);
        free(handle).unwrap();
        match action(handle) {
            Action::Call(errhandler) => assert_eq!(errhandler.callback.call(7, 12), 12),
            _ => panic!("the handler is still set"),
        }
        assert_eq!(*log.lock().unwrap(), [(7, 12)]);
        release(handle);
        assert!(free(handle).is_err());
    }

    #[test]
    fn what_is_attached_keeps_its_handler() {
        let handle = create(Target::Comm, Box::new(Logged(Arc::default()))).unwrap();
        let attached = Attached::to(handle);
        free(handle).unwrap();
        let heir = attached.copy();
        assert_eq!(attached.give(), handle);
        attached.set(ERRORS_RETURN);
        assert!(matches!(attached.action(), Action::Return));
        assert!(matches!(heir.action(), Action::Call(_)));
        drop(heir);
        free(handle).unwrap();
        assert!(!is_known(handle));
    }

    /// Threads attach handlers that nobody else holds while others ask for them.
    #[test]
    fn who_asks_gets_a_handler_that_is_alive() {
        let attached = Attached::predefined(ERRORS_RETURN);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let handle =
                            create(Target::Comm, Box::new(Logged(Arc::default()))).unwrap();
                        attached.set(handle);
                        free(handle).unwrap();
                    }
                });
                scope.spawn(|| {
                    for _ in 0..500 {
                        assert!(!matches!(attached.action(), Action::EndJob));
                        free(attached.give()).unwrap();
                    }
                });
            }
        });
    }
}
