//! Which calls of the program are in progress, for those who end what a call may still be using.
//!
//! Below MPI_THREAD_MULTIPLE there is one call at a time, or a callback inside of one. Above it each thread says when it is
//! in a call, in words of its own that others read: two stores for a call. Invariant: what a call has made known to other
//! threads or processes happened after its mark, so that whoever ends an object because of that sees the mark.

use super::has_threads;
use crate::datatype;
use crate::lifetime;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use parking_lot::Mutex;
use std::sync::Arc;

/// Calls of one thread.
#[derive(Default)]
struct Thread {
    /// Odd while it is in a call.
    round: AtomicU64,
    /// Datatypes and communicators that had been made when the call began, which are those that it can use; all if there are
    /// calls in it.
    knows: AtomicU64,
    knows_communicators: AtomicU64,
    /// Calls in each other; the thread's own.
    depth: AtomicU32,
}

static THREADS: Mutex<Vec<Arc<Thread>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: Arc<Thread> = {
        let own = Arc::new(Thread::default());
        let mut threads = THREADS.lock();
        // Threads that are gone, which were in no call.
        threads.retain(|thread| Arc::strong_count(thread) > 1);
        threads.push(own.clone());
        own
    };
}

/// Callbacks of the program that run now.
static CALLBACKS: AtomicU32 = AtomicU32::new(0);

/// A call that is in progress, for as long as this lives.
pub struct Call {
    marked: bool,
}

impl Call {
    #[inline(always)]
    pub fn begin() -> Call {
        let marked = has_threads();
        if marked {
            mark(true);
        }
        Call { marked }
    }
}

impl Drop for Call {
    #[inline(always)]
    fn drop(&mut self) {
        if self.marked {
            mark(false);
        }
    }
}

#[inline(never)]
fn mark(begins: bool) {
    OWN.with(|own| {
        let depth = own.depth.load(Ordering::Relaxed);
        let depth = if begins { depth + 1 } else { depth - 1 };
        own.depth.store(depth, Ordering::Relaxed);
        let (types, communicators) = match depth {
            1 if begins => (datatype::births(), lifetime::communicators_made()),
            _ => (u64::MAX, u64::MAX),
        };
        own.knows.store(types, Ordering::Relaxed);
        own.knows_communicators
            .store(communicators, Ordering::Relaxed);
        if depth == u32::from(begins) {
            let round = own.round.load(Ordering::Relaxed);
            own.round.store(round + 1, Ordering::Release); // pairs with `Users`
        }
    });
}

/// A callback that runs, for as long as this lives.
pub struct Callback(());

impl Callback {
    pub fn begin() -> Callback {
        CALLBACKS.fetch_add(1, Ordering::Relaxed);
        Callback(())
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        CALLBACKS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a callback of the program runs.
#[inline]
pub fn in_callback() -> bool {
    CALLBACKS.load(Ordering::Relaxed) > 0
}

/// Calls in progress that may be using an object.
pub struct Users(Vec<(Arc<Thread>, u64)>);

impl Users {
    /// Marked calls that may be using a datatype, the `born`th that was made.
    pub fn of_datatype(born: u64) -> Users {
        Users::who(|thread| thread.knows.load(Ordering::Relaxed) > born)
    }

    /// The same of a communicator; but for the call that frees it, if that is in no other one.
    pub fn of_communicator(born: u64) -> Users {
        if !has_threads() {
            return Users::none();
        }
        let own = OWN.with(Arc::clone);
        let frees = |thread: &Arc<Thread>| {
            Arc::ptr_eq(thread, &own) && own.depth.load(Ordering::Relaxed) == 1
        };
        Users::who(|thread| {
            thread.knows_communicators.load(Ordering::Relaxed) > born && !frees(thread)
        })
    }

    pub fn none() -> Users {
        Users(Vec::new())
    }

    fn who(may_use: impl Fn(&Arc<Thread>) -> bool) -> Users {
        if !has_threads() {
            return Users::none();
        }
        let threads = THREADS.lock();
        let calls = threads.iter().filter_map(|thread| {
            let round = thread.round.load(Ordering::Acquire);
            let uses = round % 2 == 1 && may_use(thread);
            uses.then(|| (thread.clone(), round))
        });
        Users(calls.collect())
    }

    /// Whether all of them have ended.
    pub fn are_gone(&self) -> bool {
        let ended =
            |(thread, round): &(Arc<Thread>, u64)| thread.round.load(Ordering::Acquire) != *round;
        self.0.iter().all(ended)
    }
}
