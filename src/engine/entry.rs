//! Entering an engine: the guards.
//!
//! Invariant: below MPI_THREAD_MULTIPLE everything is in the first engine, and without a progress thread entering costs a load; else a
//! thread has at most one guard, so that no two can wait for each other.

use super::{ALL, Engine, has_threads, in_use, requests};
use crate::os::schedule;
use crate::sync::guarded::{Guard, Guarded};
use std::ops::{Deref, DerefMut};

/// The guard under which an engine is used.
pub struct EngineGuard(Guard<'static, Option<Engine>>);

impl Deref for EngineGuard {
    type Target = Engine;
    #[inline(always)]
    fn deref(&self) -> &Engine {
        match &*self.0 {
            Some(engine) => engine,
            None => not_running(),
        }
    }
}

impl DerefMut for EngineGuard {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Engine {
        match &mut *self.0 {
            Some(engine) => engine,
            None => not_running(),
        }
    }
}

impl EngineGuard {
    /// Lets other threads enter, where [`has_threads`] was asked, and enters again.
    #[inline(always)]
    pub fn yield_lock(&mut self) {
        self.0.yield_lock(fence);
    }
}

#[cold]
#[inline(never)]
fn not_running() -> ! {
    panic!("communication before MPI_Init or after MPI_Finalize")
}

/// Enters the first engine. Entries check that MPI is initialised before they come here.
#[inline(always)]
pub fn enter() -> EngineGuard {
    EngineGuard(of(0).enter(fence))
}

/// Makes every core execute a fence.
#[cold]
fn fence() {
    let done = schedule::barrier_on_all();
    assert!(done, "membarrier has worked and now does not");
}

/// Says that there is one engine and no lock: below MPI_THREAD_MULTIPLE, without a progress thread. To be used up at once, for a session or
/// a window may change that.
#[must_use]
pub struct SingleThreaded(());

/// Whether that is so.
#[inline(always)]
pub fn single_threaded() -> Option<SingleThreaded> {
    (!has_threads()).then_some(SingleThreaded(()))
}

/// Enters the only engine.
#[inline(always)]
#[allow(unsafe_code)]
pub fn enter_unlocked(_: SingleThreaded) -> EngineGuard {
    // SAFETY: `single_threaded` has just found no threads, without which `set_threads` leaves the lock off.
    EngineGuard(unsafe { of(0).enter_unlocked() })
}

/// Enters the engine of this number, which is in use.
#[inline(always)]
pub fn enter_at(number: u32) -> EngineGuard {
    if let Some(single_threaded) = single_threaded() {
        return enter_unlocked(single_threaded);
    }
    enter_shared(number)
}

/// As [`enter_at`], for callers that have asked [`has_threads`].
#[inline(always)]
pub fn enter_shared(number: u32) -> EngineGuard {
    EngineGuard(of(number).enter_shared(fence))
}

/// Enters the engine of this number unless another thread is in it, or has its bias and `revoke` is false.
pub fn try_enter_at(number: u32, revoke: bool) -> Option<EngineGuard> {
    of(number).try_enter(revoke, fence).map(EngineGuard)
}

/// Where the engine of this number is, or none yet.
pub(super) fn slot(number: u32) -> Guard<'static, Option<Engine>> {
    of(number).enter(fence)
}

#[inline(always)]
fn of(number: u32) -> &'static Guarded<Option<Engine>> {
    #[cfg(test)]
    if let Some(process) = super::tests::processes::current() {
        return process.engine();
    }
    &ALL[number as usize % ALL.len()]
}

/// The engine of what a handle means; of a handle that means nothing, any in use.
#[inline(always)]
pub fn of_handle(handle: i32) -> u32 {
    if !has_threads() {
        return 0;
    }
    match requests::engine_of_handle(handle) {
        number if in_use() & 1 << number != 0 => number,
        _ => 0,
    }
}

/// Cursor over the engines: a guard that goes from one to another, for operations on requests of several.
pub struct EngineCursor {
    guard: EngineGuard,
    number: u32,
}

impl EngineCursor {
    #[inline(always)]
    pub fn at_first(number: u32) -> Self {
        Self {
            guard: enter_at(number),
            number,
        }
    }

    /// As [`Self::at_first`]; `None` if another thread is in that engine.
    pub fn try_at_first(number: u32) -> Option<Self> {
        let guard = try_enter_at(number, true)?;
        Some(Self { guard, number })
    }

    /// In the engine of the first of these handles.
    #[inline(always)]
    pub fn at_handle(handles: &[i32]) -> Self {
        Self::at_first(handles.first().map_or(0, |handle| of_handle(*handle)))
    }

    /// Enters an engine that is in use, after leaving the one before.
    #[inline(always)]
    pub fn at(&mut self, number: u32) -> &mut Engine {
        if number != self.number {
            self.change(number);
        }
        &mut self.guard
    }

    /// The engine of what a handle means; of a handle that means nothing, any.
    #[inline(always)]
    pub fn of(&mut self, handle: i32) -> &mut Engine {
        if requests::is_of_another(handle, self.number) {
            self.change_for(handle);
        }
        &mut self.guard
    }

    /// The engine that is entered now.
    #[inline(always)]
    pub fn here(&mut self) -> &mut Engine {
        &mut self.guard
    }

    #[cold]
    #[inline(never)]
    fn change_for(&mut self, handle: i32) {
        let message = requests::message_index_of(handle);
        if let Some(index) = requests::index_of(handle).or(message) {
            self.change(requests::engine_of(index));
        }
    }

    #[cold]
    #[inline(never)]
    fn change(&mut self, number: u32) {
        if in_use() & 1 << number != 0 {
            self.guard.0.change(of(number), fence);
            self.number = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads enter in long runs and short ones, so that the bias is granted and revoked again and again.
    #[test]
    fn every_entry_counts_whichever_thread_has_the_bias() {
        const THREADS: u64 = 3;
        const TURNS: u64 = 300;
        static COUNT: Guarded<u64> = Guarded::new(0);
        let entries = |thread: u64, turn: u64| turn * (thread + 1) % 400;
        let can_bias = schedule::register_for_barriers() && schedule::barrier_on_all();
        // SAFETY: the other threads begin below.
        #[allow(unsafe_code)]
        unsafe {
            COUNT.share(true, can_bias);
        }
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for turn in 0..TURNS {
                        for _ in 0..entries(thread, turn) {
                            *COUNT.enter(fence) += 1;
                        }
                        if let Some(mut count) = COUNT.try_enter(turn % 2 == 0, fence) {
                            *count += 1;
                            *count -= 1;
                        }
                    }
                });
            }
        });
        let all = (0..THREADS).flat_map(|thread| (0..TURNS).map(move |turn| entries(thread, turn)));
        assert_eq!(*COUNT.enter(fence), all.sum::<u64>());
    }
}
