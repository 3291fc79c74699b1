//! The protocol of epoch-based reclamation: words by which each thread publishes that it is in a call, and who waits for those calls.
//! The library has one instance (`engine/epochs.rs`), each model its own.
//!
//! Invariant: an object that a call may use is not ended while the call is in progress, if what the call has made known to other threads
//! happened after [`Thread::call`] (models below, for loom).

use super::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
use loom::sync::Mutex;
#[cfg(not(loom))]
use parking_lot::Mutex;
use std::ops::DerefMut;

/// Objects made so far.
pub struct Births {
    pub datatypes: u64,
    pub communicators: u64,
}

impl Births {
    const ALL: Births = Births {
        datatypes: u64::MAX,
        communicators: u64::MAX,
    };
}

/// Epoch of one thread; of another one when that has ended. No two are in one cache line.
#[derive(Default)]
#[repr(align(128))]
pub struct Thread {
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
    /// Its index among those that live; changed under the lock.
    index: AtomicUsize,
}

impl Thread {
    /// A call begins or ends, with so many objects made before. Returns whether it is in no other call.
    #[inline(always)]
    pub fn call(&self, begins: bool, births: impl FnOnce() -> Births) -> bool {
        let depth = self.depth.load(Ordering::Relaxed);
        let depth = if begins { depth + 1 } else { depth - 1 };
        self.depth.store(depth, Ordering::Relaxed);
        let seen = match depth {
            1 if begins => births(),
            _ => Births::ALL,
        };
        self.datatypes_seen.store(seen.datatypes, Ordering::Relaxed);
        self.communicators_seen
            .store(seen.communicators, Ordering::Relaxed);
        let is_outermost = depth == u32::from(begins);
        if is_outermost {
            self.advance();
        }
        is_outermost
    }

    #[inline(always)]
    fn advance(&self) {
        let epoch = self.epoch.load(Ordering::Relaxed);
        self.epoch.store(epoch + 1, Ordering::Release); // pairs with `GracePeriod`
    }

    /// Whether this call or callback may be the last that is heard of it.
    #[inline(always)]
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed) != 0
    }

    pub fn is_busy(&self) -> bool {
        self.depth.load(Ordering::Relaxed) + self.callbacks.load(Ordering::Relaxed) > 0
    }
}

/// All threads that have been in a call, and the callbacks of the program that run.
pub struct Threads {
    lists: Mutex<Lists>,
    callbacks: AtomicU32,
}

/// The words of threads that live, and those of ended threads, for the next ones.
struct Lists {
    live: Vec<&'static Thread>,
    idle: Vec<&'static Thread>,
}

impl Lists {
    const NONE: Lists = Lists {
        live: Vec::new(),
        idle: Vec::new(),
    };
}

impl Threads {
    #[cfg(not(loom))]
    pub const fn empty() -> Threads {
        Threads {
            lists: Mutex::new(Lists::NONE),
            callbacks: AtomicU32::new(0),
        }
    }

    /// Loom's types are not made in constants.
    #[cfg(loom)]
    fn empty() -> Threads {
        Threads {
            lists: Mutex::new(Lists::NONE),
            callbacks: AtomicU32::new(0),
        }
    }

    fn lists(&self) -> impl DerefMut<Target = Lists> {
        let lists = self.lists.lock();
        #[cfg(loom)]
        let lists = lists.unwrap();
        lists
    }

    /// The words of a new thread.
    pub fn begin(&self, is_ending: bool) -> &'static Thread {
        let mut lists = self.lists();
        let own = lists
            .idle
            .pop()
            .unwrap_or_else(|| Box::leak(Box::default()));
        own.is_ending.store(is_ending.into(), Ordering::Relaxed);
        own.index.store(lists.live.len(), Ordering::Relaxed);
        lists.live.push(own);
        own
    }

    /// A thread has ended, maybe in a callback: then the call in progress has ended, too.
    pub fn end(&self, own: &'static Thread) {
        let callbacks = own.callbacks.swap(0, Ordering::Relaxed);
        self.callbacks.fetch_sub(callbacks, Ordering::Relaxed);
        if own.depth.swap(0, Ordering::Relaxed) > 0 {
            own.advance();
        }
        let mut lists = self.lists();
        let index = own.index.load(Ordering::Relaxed);
        lists.live.swap_remove(index);
        if let Some(moved) = lists.live.get(index) {
            moved.index.store(index, Ordering::Relaxed);
        }
        lists.idle.push(own);
    }

    pub fn begin_callback(&self, own: &Thread) {
        self.callbacks.fetch_add(1, Ordering::Relaxed);
        let running = own.callbacks.load(Ordering::Relaxed);
        own.callbacks.store(running + 1, Ordering::Relaxed);
    }

    pub fn end_callback(&self, own: &Thread) {
        self.callbacks.fetch_sub(1, Ordering::Relaxed);
        let running = own.callbacks.load(Ordering::Relaxed);
        own.callbacks.store(running - 1, Ordering::Relaxed);
    }

    /// Whether a callback of the program runs.
    #[inline]
    pub fn in_callback(&self) -> bool {
        self.callbacks.load(Ordering::Relaxed) > 0
    }

    /// Calls that may use a datatype, the `born`th that was made.
    pub fn with_datatype(&self, born: u64) -> GracePeriod {
        self.calls(|thread| thread.datatypes_seen.load(Ordering::Relaxed) > born)
    }

    /// Calls that may use a communicator, apart from the one of the thread that frees it, if that is in no other call.
    pub fn with_communicator(&self, born: u64, frees: Option<&Thread>) -> GracePeriod {
        let frees = frees.filter(|own| own.depth.load(Ordering::Relaxed) == 1);
        self.calls(|thread| {
            thread.communicators_seen.load(Ordering::Relaxed) > born
                && !frees.is_some_and(|own| std::ptr::eq(thread, own))
        })
    }

    fn calls(&self, may_use: impl Fn(&Thread) -> bool) -> GracePeriod {
        let lists = self.lists();
        let calls = lists.live.iter().filter_map(|thread| {
            let epoch = thread.epoch.load(Ordering::Acquire);
            let uses = epoch % 2 == 1 && may_use(thread);
            uses.then_some((*thread, epoch))
        });
        GracePeriod(calls.collect())
    }

    #[cfg(all(test, not(loom)))]
    pub fn count(&self) -> usize {
        let lists = self.lists();
        for (index, thread) in lists.live.iter().enumerate() {
            assert_eq!(thread.index.load(Ordering::Relaxed), index);
        }
        lists.live.len()
    }
}

/// Calls in progress that may be using an object; it ends when they are over.
pub struct GracePeriod(Vec<(&'static Thread, u64)>);

impl GracePeriod {
    pub fn none() -> GracePeriod {
        GracePeriod(Vec::new())
    }

    /// Whether all of the calls have ended.
    pub fn is_over(&self) -> bool {
        let ended = |(thread, epoch): &(&'static Thread, u64)| {
            thread.epoch.load(Ordering::Acquire) != *epoch
        };
        self.0.iter().all(ended)
    }
}

#[cfg(all(test, loom))]
mod models;
