//! The error handler that is attached to a communicator, file or session.
//!
//! Invariant: what is attached holds one reference to its handler, so a handle read here is alive. Threads attach and read at
//! the same time; reading the handle and taking a reference for the reader is one step, otherwise another thread could
//! attach something else in between and end the handler.

use super::{Action, action, give_to_program, release, retain};
use crate::sync::{AtomicI32, Ordering};
use parking_lot::Mutex;

/// Held while a handle is read or exchanged and its references are counted. One for all objects: handlers are attached and
/// asked for rarely, and errors are rarer.
static COUNTING: Mutex<()> = Mutex::new(());

pub struct Attached(AtomicI32);

impl Attached {
    /// One of the predefined handlers, which are not counted.
    pub const fn predefined(handle: i32) -> Self {
        Self(AtomicI32::new(handle))
    }

    /// A handler to which the caller holds a reference; this is one more.
    pub fn to(handle: i32) -> Self {
        retain(handle);
        Self(AtomicI32::new(handle))
    }

    /// For an object that inherits the handler.
    pub fn copy(&self) -> Self {
        let _counting = COUNTING.lock();
        Self::to(self.0.load(Ordering::Relaxed))
    }

    /// The handle with a reference for the program, as MPI_Comm_get_errhandler and its like.
    pub fn give(&self) -> i32 {
        let _counting = COUNTING.lock();
        let handle = self.0.load(Ordering::Relaxed);
        give_to_program(handle);
        handle
    }

    /// Attaches another one, to which the caller holds a reference.
    pub fn set(&self, handle: i32) {
        let _counting = COUNTING.lock();
        retain(handle);
        release(self.0.swap(handle, Ordering::Relaxed));
    }

    /// What is to be done about an error.
    pub fn action(&self) -> Action {
        let _counting = COUNTING.lock();
        action(self.0.load(Ordering::Relaxed))
    }

    /// Whether it is this one.
    pub fn is(&self, handle: i32) -> bool {
        self.0.load(Ordering::Relaxed) == handle
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        release(*self.0.get_mut());
    }
}
