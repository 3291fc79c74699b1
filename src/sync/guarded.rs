//! [`Guarded`]: state behind a lock that a thread need not take while it is the only one that enters.
//!
//! Below MPI_THREAD_MULTIPLE there is no lock. At that level the lock is biased ([`super::biased`]): a thread that has entered
//! often enough in a row enters without it, until another thread revokes the bias. Each time the next bias takes a longer run.
//! Invariant: the value is reached by one guard at a time, and a thread has one guard at most, of whatever value. Debug builds
//! check the second half: another guard would wait for the first for ever, or reach its value.

use super::biased::{Bias, SLOTS};
use super::{AtomicU32, Ordering, compiler_fence};
use parking_lot::lock_api::RawMutex as _;
use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};

/// Run length, in entries of one thread without another between, that earns the bias: at first and at most.
const FIRST_RUN: u32 = 64;
const LONGEST_RUN: u32 = 1 << 16;
/// Attempts to lock before a thread sleeps.
const SPINS: u32 = 100;

/// How entering works.
const ALONE: u32 = 0;
const LOCKED: u32 = 1;
const BIASED: u32 = 2;

/// See the module. Threads in one do not touch the lines of another.
#[repr(align(128))]
pub struct Guarded<T> {
    mode: AtomicU32,
    lock: parking_lot::RawMutex,
    bias: Bias,
    run: UnsafeCell<Run>,
    value: UnsafeCell<T>,
}

/// The thread that entered by the lock last; belongs to the holder of the lock.
struct Run {
    thread: usize,
    entries: u32,
    needed: u32,
    /// Threads that have ever had the bias, by slot.
    slots: [usize; SLOTS],
}

// SAFETY: `value` is reached only through a guard, `run` only with the lock; the lock, the bias, or the program's promise
// makes the guard the only one.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// A number for this thread, the same as long as it lives: a multiple of [`SLOTS`], not zero.
#[inline(always)]
fn this_thread() -> usize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    {
        let pointer: usize;
        // SAFETY: the first word of the thread control block is its own address (System V ABI for threads).
        unsafe {
            std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
    {
        thread_local! {
            static OWN: u64 = const { 0 };
        }
        OWN.with(|own| std::ptr::from_ref(own) as usize)
    }
}

impl<T> Guarded<T> {
    /// Without a lock, until [`Guarded::share`] says otherwise.
    pub const fn new(value: T) -> Self {
        Self {
            mode: AtomicU32::new(ALONE),
            lock: parking_lot::RawMutex::INIT,
            bias: Bias::new(),
            run: UnsafeCell::new(Run {
                thread: 0,
                entries: 0,
                needed: FIRST_RUN,
                slots: [0; SLOTS],
            }),
            value: UnsafeCell::new(value),
        }
    }

    /// Switches the lock on or off; `can_bias`: every core can be made to execute a fence.
    ///
    /// # Safety
    /// Nobody is inside, and no other thread enters before this returns; without the lock, threads enter one after the other.
    pub unsafe fn share(&self, shared: bool, can_bias: bool) {
        let mode = match (shared, can_bias) {
            (false, _) => ALONE,
            (true, false) => LOCKED,
            (true, true) => BIASED,
        };
        self.mode.store(mode, Ordering::Release);
    }

    /// Enters without a lock.
    ///
    /// # Safety
    /// [`Guarded::share`] has not switched the lock on.
    #[inline(always)]
    pub unsafe fn enter_unlocked(&self) -> Guard<'_, T> {
        debug_assert_eq!(self.mode.load(Ordering::Relaxed), ALONE);
        Inside::assert_not();
        self.guard(Held::Nothing)
    }

    /// Enters. `fence` makes every core execute one.
    #[inline(always)]
    pub fn enter(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        Inside::assert_not();
        if self.mode.load(Ordering::Relaxed) == ALONE {
            return self.guard(Held::Nothing);
        }
        self.enter_shared(fence)
    }

    /// Enters, where the caller knows that others may.
    #[inline(always)]
    pub fn enter_shared(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        debug_assert_ne!(self.mode.load(Ordering::Relaxed), ALONE);
        Inside::assert_not();
        let light = || compiler_fence(Ordering::SeqCst);
        match self.bias.enter(this_thread(), light) {
            Some(slot) => self.guard(Held::Bias(slot as u8)),
            None => self.enter_by_lock(fence),
        }
    }

    #[inline(never)]
    fn enter_by_lock(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        let mut spins = 0;
        while !self.lock.try_lock() {
            spins += 1;
            if spins == SPINS {
                self.lock.lock();
                break;
            }
            std::hint::spin_loop();
        }
        self.locked(fence)
    }

    /// Enters unless another thread is inside, or has the bias and `revoke` is false. `None` also where there is no other thread.
    pub fn try_enter(&self, revoke: bool, fence: impl FnOnce()) -> Option<Guard<'_, T>> {
        Inside::assert_not();
        let may = match self.mode.load(Ordering::Relaxed) {
            ALONE => false,
            _ => revoke || !self.bias.is_to_another(this_thread()),
        };
        if !may {
            return None;
        }
        let light = || compiler_fence(Ordering::SeqCst);
        match self.bias.enter(this_thread(), light) {
            Some(slot) => Some(self.guard(Held::Bias(slot as u8))),
            None => self.lock.try_lock().then(|| self.locked(fence)),
        }
    }

    /// With the lock taken.
    fn locked(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        let me = this_thread();
        let pause = || std::thread::yield_now();
        let taken = self.bias.revoke(fence, pause);
        // SAFETY: this thread holds the lock.
        let run = unsafe { &mut *self.run.get() };
        if taken {
            run.needed = (run.needed * 2).min(LONGEST_RUN);
        }
        if run.thread == me {
            run.entries += 1;
        } else {
            (run.thread, run.entries) = (me, 0);
        }
        if run.entries >= run.needed && self.mode.load(Ordering::Relaxed) == BIASED {
            run.entries = 0;
            let mut slots = run.slots.iter();
            if let Some(slot) = slots.position(|thread| [0, me].contains(thread)) {
                run.slots[slot] = me;
                self.bias.grant(me, slot);
            }
        }
        self.guard(Held::Lock)
    }

    #[inline(always)]
    fn guard(&self, held: Held) -> Guard<'_, T> {
        Guard {
            owner: self,
            held,
            inside: Inside::begin(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Lock,
    Bias(u8),
}

/// Access to what is [`Guarded`].
pub struct Guard<'a, T> {
    owner: &'a Guarded<T>,
    held: Held,
    inside: Inside,
}

impl<'a, T> Guard<'a, T> {
    /// Leaves, and enters another one: never two at a time.
    pub fn change(&mut self, to: &'a Guarded<T>, fence: impl FnOnce()) {
        self.leave();
        self.held = Held::Nothing;
        *self = to.enter(fence);
    }

    /// Leaves, and enters again: others can have it between.
    #[inline(always)]
    pub fn yield_lock(&mut self, fence: impl FnOnce()) {
        self.leave();
        self.held = Held::Nothing;
        *self = self.owner.enter_shared(fence);
    }

    #[inline(always)]
    fn leave(&self) {
        self.inside.end();
        match self.held {
            Held::Nothing => {}
            // SAFETY: whoever made this guard took the lock.
            Held::Lock => unsafe { self.owner.lock.unlock() },
            Held::Bias(slot) => self.owner.bias.leave(slot.into()),
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one alive (see `Guarded`), and it is borrowed.
        unsafe { &*self.owner.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one alive (see `Guarded`), and it is borrowed mutably.
        unsafe { &mut *self.owner.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.leave();
    }
}

thread_local! {
    static STAYS_OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

/// This thread, one of the library's own, will have no guard; debug builds check that from now on.
pub fn stay_outside() {
    STAYS_OUTSIDE.set(true);
    #[cfg(debug_assertions)]
    INSIDE.set(true);
}

/// Whether this thread is one of those.
pub fn stays_outside() -> bool {
    STAYS_OUTSIDE.get()
}

/// Says that this thread has a guard, in debug builds.
#[cfg(debug_assertions)]
struct Inside(Cell<bool>);

#[cfg(debug_assertions)]
thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

#[cfg(debug_assertions)]
impl Inside {
    #[track_caller]
    fn assert_not() {
        // A thread that ends may have destroyed it.
        let inside = INSIDE.try_with(Cell::get).unwrap_or(false);
        assert!(
            !inside,
            "this thread has a guard already, or must have none"
        );
    }

    fn begin() -> Self {
        let _ = INSIDE.try_with(|inside| inside.set(true));
        Self(Cell::new(true))
    }

    /// A guard that is given up before it is dropped ends once.
    fn end(&self) {
        if self.0.replace(false) {
            let _ = INSIDE.try_with(|inside| inside.set(false));
        }
    }
}

#[cfg(not(debug_assertions))]
struct Inside;

#[cfg(not(debug_assertions))]
impl Inside {
    #[inline(always)]
    fn assert_not() {}

    #[inline(always)]
    fn begin() -> Self {
        Self
    }

    #[inline(always)]
    fn end(&self) {}
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_second_guard_of_a_thread_is_noticed() {
        let (one, other) = (Guarded::new(1), Guarded::new(2));
        let guard = one.enter(|| {});
        let second = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| *other.enter(|| {})));
        assert!(second.is_err());
        drop(guard);
        let mut guard = one.enter(|| {});
        guard.change(&other, || {});
        assert_eq!(*guard, 2);
        drop(guard);
        assert_eq!(*one.enter(|| {}), 1);
    }
}
