//! Which calls of the program are in progress, for those who end what a call may still be using.
//!
//! Below MPI_THREAD_MULTIPLE there is one call at a time, or a callback inside of one. Above it each thread says when it is
//! in a call, in words of its own that others read: two stores for a call. Invariant: what a call has made known to other
//! threads or processes happened after its mark, so that whoever ends an object because of that sees the mark.

use super::has_threads;
use crate::datatype;
use crate::handle;
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::cell::Cell;

/// Calls of one thread; of another one when that has ended. No two are in one cache line.
#[derive(Default)]
#[repr(align(128))]
struct Thread {
    /// Odd while it is in a call.
    round: AtomicU64,
    /// Datatypes and communicators that had been made when the call began, which are those that it can use; all if there are
    /// calls in it.
    knows: AtomicU64,
    knows_communicators: AtomicU64,
    /// Calls in each other; the thread's own, as what follows.
    depth: AtomicU32,
    callbacks: AtomicU32,
    /// It runs its last destructors: nothing will tell that it has ended.
    is_ending: AtomicU32,
    /// Where it is among those that live; changed under the lock of [`THREADS`].
    place: AtomicUsize,
}

/// The words of threads that live, and those of ended threads, for the next ones.
struct Threads {
    live: Vec<&'static Thread>,
    idle: Vec<&'static Thread>,
}

static THREADS: Mutex<Threads> = Mutex::new(Threads {
    live: Vec::new(),
    idle: Vec::new(),
});

impl Threads {
    fn begin(&mut self) -> &'static Thread {
        let own = self.idle.pop().unwrap_or_else(|| Box::leak(Box::default()));
        own.place.store(self.live.len(), Ordering::Relaxed);
        self.live.push(own);
        own
    }

    fn end(&mut self, own: &'static Thread) {
        let place = own.place.load(Ordering::Relaxed);
        self.live.swap_remove(place);
        if let Some(moved) = self.live.get(place) {
            moved.place.store(place, Ordering::Relaxed);
        }
        self.idle.push(own);
    }
}

thread_local! {
    /// Nothing that has to be dropped, so that it is there for exit handlers and destructors of keys, which may call MPI.
    static OWN: Cell<Option<&'static Thread>> = const { Cell::new(None) };
    static END: End = const { End };
}

/// Gives back what the thread has when it ends, maybe in a callback: then the call in progress ends too.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        if let Some(own) = OWN.take() {
            CALLBACKS.fetch_sub(own.callbacks.swap(0, Ordering::Relaxed), Ordering::Relaxed);
            if own.depth.swap(0, Ordering::Relaxed) > 0 {
                own.turn();
            }
            THREADS.lock().end(own);
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
    let own = THREADS.lock().begin();
    let is_ending = END.try_with(|_| ()).is_err();
    own.is_ending.store(is_ending.into(), Ordering::Relaxed);
    OWN.set(Some(own));
    own
}

impl Thread {
    /// A call of it begins or ends.
    #[inline(always)]
    fn turn(&self) {
        let round = self.round.load(Ordering::Relaxed);
        self.round.store(round + 1, Ordering::Release); // pairs with `Users`
    }

    /// A call or callback of a thread that is ending is over: the next may be the last.
    #[cold]
    fn give_back(&'static self) {
        let busy = self.depth.load(Ordering::Relaxed) + self.callbacks.load(Ordering::Relaxed);
        if busy == 0 {
            OWN.set(None);
            THREADS.lock().end(self);
        }
    }
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
    let own = own();
    let depth = own.depth.load(Ordering::Relaxed);
    let depth = if begins { depth + 1 } else { depth - 1 };
    own.depth.store(depth, Ordering::Relaxed);
    let (types, communicators) = match depth {
        1 if begins => (datatype::births(), handle::communicators_made()),
        _ => (u64::MAX, u64::MAX),
    };
    own.knows.store(types, Ordering::Relaxed);
    own.knows_communicators
        .store(communicators, Ordering::Relaxed);
    if depth == u32::from(begins) {
        own.turn();
        if own.is_ending.load(Ordering::Relaxed) != 0 {
            own.give_back();
        }
    }
}

/// A callback that runs, for as long as this lives.
pub struct Callback(&'static Thread);

impl Callback {
    pub fn begin() -> Callback {
        CALLBACKS.fetch_add(1, Ordering::Relaxed);
        let own = own();
        let running = own.callbacks.load(Ordering::Relaxed);
        own.callbacks.store(running + 1, Ordering::Relaxed);
        Callback(own)
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        CALLBACKS.fetch_sub(1, Ordering::Relaxed);
        let running = self.0.callbacks.load(Ordering::Relaxed);
        self.0.callbacks.store(running - 1, Ordering::Relaxed);
        if self.0.is_ending.load(Ordering::Relaxed) != 0 {
            self.0.give_back();
        }
    }
}

/// Whether a callback of the program runs.
#[inline]
pub fn in_callback() -> bool {
    CALLBACKS.load(Ordering::Relaxed) > 0
}

/// Calls in progress that may be using an object.
pub struct Users(Vec<(&'static Thread, u64)>);

impl Users {
    /// Marked calls that may be using a datatype, the `born`th that was made.
    pub fn of_datatype(born: u64) -> Users {
        Users::who(|thread| thread.knows.load(Ordering::Relaxed) > born)
    }

    /// Marked calls that may be using a communicator, apart from the call that frees it, if that is in no other one.
    pub fn of_communicator(born: u64) -> Users {
        if !has_threads() {
            return Users::none();
        }
        let own = OWN.get();
        let frees = |thread: &'static Thread| {
            own.is_some_and(|own| std::ptr::eq(thread, own))
                && thread.depth.load(Ordering::Relaxed) == 1
        };
        Users::who(|thread| {
            thread.knows_communicators.load(Ordering::Relaxed) > born && !frees(thread)
        })
    }

    pub fn none() -> Users {
        Users(Vec::new())
    }

    fn who(may_use: impl Fn(&'static Thread) -> bool) -> Users {
        if !has_threads() {
            return Users::none();
        }
        let threads = THREADS.lock();
        let calls = threads.live.iter().filter_map(|thread| {
            let round = thread.round.load(Ordering::Acquire);
            let uses = round % 2 == 1 && may_use(thread);
            uses.then_some((*thread, round))
        });
        Users(calls.collect())
    }

    /// Whether all of them have ended.
    pub fn are_gone(&self) -> bool {
        let ended = |(thread, round): &(&'static Thread, u64)| {
            thread.round.load(Ordering::Acquire) != *round
        };
        self.0.iter().all(ended)
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
                    drop(Callback::begin());
                    all_there.wait();
                    assert!(THREADS.lock().live.len() >= MANY / 2);
                    all_there.wait();
                });
            }
        });
        // A scope ends before the destructors of its threads have run.
        while THREADS.lock().live.len() > MANY / 2 {
            std::thread::yield_now();
        }
        let threads = THREADS.lock();
        let places = threads.live.iter().zip(0..);
        for (thread, place) in places {
            assert_eq!(thread.place.load(Ordering::Relaxed), place);
        }
    }
}
