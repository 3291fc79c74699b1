//! Epoch-based reclamation: which calls of the program are in progress, so that an object ends only when no call can be using it.
//!
//! Below MPI_THREAD_MULTIPLE there is one call at a time, or a callback inside of one. At that level each thread publishes when
//! it is in a call, in words of its own that others read: two stores a call ([`crate::sync::epochs`]). Invariant: what a call has made
//! known to other threads or processes happened after it was pinned, so that a thread that ends an object because of that sees the pin.

use super::{is_multiple, numbered_waits};
use crate::datatype;
use crate::handle;
use crate::sync::epochs::{Births, Thread, Threads};
use std::cell::Cell;

pub use crate::sync::epochs::GracePeriod;

static THREADS: Threads = Threads::empty();

thread_local! {
    /// Nothing that has to be dropped, so that it is there for exit handlers and destructors of keys, which may call MPI.
    static OWN: Cell<Option<&'static Thread>> = const { Cell::new(None) };
    static END: End = const { End };
}

/// Gives back what the thread has when it ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        if let Some(own) = OWN.take() {
            THREADS.end(own);
        }
    }
}

#[inline(always)]
fn own() -> &'static Thread {
    OWN.get().unwrap_or_else(begin)
}

#[cold]
#[inline(never)]
fn begin() -> &'static Thread {
    let is_ending = END.try_with(|_| ()).is_err();
    let own = THREADS.begin(is_ending);
    OWN.set(Some(own));
    own
}

/// A call or callback of a thread that is ending is over: the next may be the last.
#[cold]
#[inline(never)]
fn give_back(own: &'static Thread) {
    if !own.is_busy() {
        OWN.set(None);
        THREADS.end(own);
    }
}

/// Pins the objects that a call may use, for as long as this lives.
pub struct Pin {
    pinned: bool,
}

impl Pin {
    #[inline(always)]
    pub fn begin() -> Pin {
        let pinned = is_multiple();
        if pinned {
            pin(true);
        }
        Pin { pinned }
    }
}

impl Drop for Pin {
    #[inline(always)]
    fn drop(&mut self) {
        if self.pinned {
            pin(false);
        }
    }
}

#[inline(never)]
fn pin(begins: bool) {
    let own = own();
    let births = || Births {
        datatypes: datatype::births(),
        communicators: handle::communicators_made(),
    };
    if own.call(begins, births) && own.is_ending() {
        give_back(own);
    }
}

/// A thread runs a callback of the program as long as this lives.
pub struct InCallback(&'static Thread);

impl InCallback {
    pub fn begin() -> InCallback {
        numbered_waits::interrupt();
        let own = own();
        THREADS.begin_callback(own);
        InCallback(own)
    }
}

impl Drop for InCallback {
    fn drop(&mut self) {
        THREADS.end_callback(self.0);
        if self.0.is_ending() {
            give_back(self.0);
        }
    }
}

/// Whether a callback of the program runs.
#[inline]
pub fn in_callback() -> bool {
    THREADS.in_callback()
}

impl GracePeriod {
    /// Of a datatype, the `born`th that was made.
    pub fn of_datatype(born: u64) -> GracePeriod {
        match is_multiple() {
            true => THREADS.with_datatype(born),
            false => GracePeriod::none(),
        }
    }

    /// Of a communicator, apart from the call that frees it, if that is in no other one.
    pub fn of_communicator(born: u64) -> GracePeriod {
        match is_multiple() {
            true => THREADS.with_communicator(born, OWN.get()),
            false => GracePeriod::none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn threads_that_have_ended_are_not_asked() {
        const MANY: usize = 200;
        let all_there = Barrier::new(MANY);
        std::thread::scope(|scope| {
            for _ in 0..MANY {
                scope.spawn(|| {
                    drop(InCallback::begin());
                    all_there.wait();
                    assert!(THREADS.count() >= MANY / 2);
                    all_there.wait();
                });
            }
        });
        // A scope ends before the destructors of its threads have run.
        while THREADS.count() > MANY / 2 {
            std::thread::yield_now();
        }
    }
}
