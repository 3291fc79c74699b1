//! Epoch-based reclamation: which calls of the program are in progress, so that an object ends only when no call can be using it.
//!
//! Below MPI_THREAD_MULTIPLE there is one call at a time, or a callback inside of one. At that level each thread publishes when
//! it is in a call, in words of its own that others read: two stores a call. Invariant: what a call has made known to other
//! threads or processes happened after it was pinned, so that a thread that ends an object because of that sees the pin.

use super::is_multiple;
use crate::datatype;
use crate::handle;
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::cell::Cell;

/// Epoch of one thread; of another one when that has ended. No two are in one cache line.
#[derive(Default)]
#[repr(align(128))]
struct Thread {
    /// Odd while the thread is in a call.
    epoch: AtomicU64,
    /// Datatypes and communicators that had been made when the call began, which are those that it can use; all if there are
    /// calls in it.
    datatypes_seen: AtomicU64,
    communicators_seen: AtomicU64,
    /// Calls in each other; the thread's own, as what follows.
    depth: AtomicU32,
    callbacks: AtomicU32,
    /// It runs its last destructors: nothing will tell that it has ended.
    is_ending: AtomicU32,
    /// Its index among those that live; changed under the lock of [`THREADS`].
    index: AtomicUsize,
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
        own.index.store(self.live.len(), Ordering::Relaxed);
        self.live.push(own);
        own
    }

    fn end(&mut self, own: &'static Thread) {
        let index = own.index.load(Ordering::Relaxed);
        self.live.swap_remove(index);
        if let Some(moved) = self.live.get(index) {
            moved.index.store(index, Ordering::Relaxed);
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
                own.advance();
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
    fn advance(&self) {
        let epoch = self.epoch.load(Ordering::Relaxed);
        self.epoch.store(epoch + 1, Ordering::Release); // pairs with `GracePeriod`
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
    let depth = own.depth.load(Ordering::Relaxed);
    let depth = if begins { depth + 1 } else { depth - 1 };
    own.depth.store(depth, Ordering::Relaxed);
    let (types, communicators) = match depth {
        1 if begins => (datatype::births(), handle::communicators_made()),
        _ => (u64::MAX, u64::MAX),
    };
    own.datatypes_seen.store(types, Ordering::Relaxed);
    own.communicators_seen
        .store(communicators, Ordering::Relaxed);
    if depth == u32::from(begins) {
        own.advance();
        if own.is_ending.load(Ordering::Relaxed) != 0 {
            own.give_back();
        }
    }
}

/// A thread runs a callback of the program as long as this lives.
pub struct InCallback(&'static Thread);

impl InCallback {
    pub fn begin() -> InCallback {
        CALLBACKS.fetch_add(1, Ordering::Relaxed);
        let own = own();
        let running = own.callbacks.load(Ordering::Relaxed);
        own.callbacks.store(running + 1, Ordering::Relaxed);
        InCallback(own)
    }
}

impl Drop for InCallback {
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

/// Calls in progress that may be using an object; it ends when they are over.
pub struct GracePeriod(Vec<(&'static Thread, u64)>);

impl GracePeriod {
    /// Of a datatype, the `born`th that was made.
    pub fn of_datatype(born: u64) -> GracePeriod {
        GracePeriod::of_calls(|thread| thread.datatypes_seen.load(Ordering::Relaxed) > born)
    }

    /// Of a communicator, apart from the call that frees it, if that is in no other one.
    pub fn of_communicator(born: u64) -> GracePeriod {
        if !is_multiple() {
            return GracePeriod::none();
        }
        let own = OWN.get();
        let frees = |thread: &'static Thread| {
            own.is_some_and(|own| std::ptr::eq(thread, own))
                && thread.depth.load(Ordering::Relaxed) == 1
        };
        GracePeriod::of_calls(|thread| {
            thread.communicators_seen.load(Ordering::Relaxed) > born && !frees(thread)
        })
    }

    pub fn none() -> GracePeriod {
        GracePeriod(Vec::new())
    }

    fn of_calls(may_use: impl Fn(&'static Thread) -> bool) -> GracePeriod {
        if !is_multiple() {
            return GracePeriod::none();
        }
        let threads = THREADS.lock();
        let calls = threads.live.iter().filter_map(|thread| {
            let epoch = thread.epoch.load(Ordering::Acquire);
            let uses = epoch % 2 == 1 && may_use(thread);
            uses.then_some((*thread, epoch))
        });
        GracePeriod(calls.collect())
    }

    /// Whether all of the calls have ended.
    pub fn is_over(&self) -> bool {
        let ended = |(thread, epoch): &(&'static Thread, u64)| {
            thread.epoch.load(Ordering::Acquire) != *epoch
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
                    drop(InCallback::begin());
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
        let indices = threads.live.iter().zip(0..);
        for (thread, index) in indices {
            assert_eq!(thread.index.load(Ordering::Relaxed), index);
        }
    }
}
