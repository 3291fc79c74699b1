//! [`Guarded`]: state behind a lock that a thread need not take while it is the only one that enters.
//!
//! Below MPI_THREAD_MULTIPLE there is no lock. Above it whoever enters often enough in a row, without anybody between, is
//! given the right to enter without it ([`super::favour`]); another thread takes that away, and each time it becomes harder
//! to get. Invariant: the value is reached by one guard at a time, and a thread has one guard at most, of whatever value.
//! Debug builds check the second half: another guard would wait for the first for ever, or reach its value.

use super::favour::{Favour, PLACES};
use super::{AtomicU32, Ordering, compiler_fence};
use parking_lot::lock_api::RawMutex as _;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

/// Entries in a row by which a thread gets the right, at first and at most.
const FIRST_ROW: u32 = 64;
const LONGEST_ROW: u32 = 1 << 16;
/// Looks at the lock before a thread lets others have its core.
const LOOKS: u32 = 100;

/// How entering works.
const ALONE: u32 = 0;
const LOCKED: u32 = 1;
const FAVOURS: u32 = 2;

/// See the module. Threads in one do not touch the lines of another.
#[repr(align(128))]
pub struct Guarded<T> {
    way: AtomicU32,
    lock: parking_lot::RawMutex,
    favour: Favour,
    row: UnsafeCell<Row>,
    value: UnsafeCell<T>,
}

/// The thread that entered by the lock last; belongs to the holder of the lock.
struct Row {
    thread: usize,
    entries: u32,
    enough: u32,
    /// Threads that were given the right, by place.
    places: [usize; PLACES],
}

// SAFETY: `value` is reached only through a guard, `row` only with the lock; the lock, the right, or the program's promise
// makes the guard the only one.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// A number for this thread, the same as long as it lives: a multiple of [`PLACES`], not zero.
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
            way: AtomicU32::new(ALONE),
            lock: parking_lot::RawMutex::INIT,
            favour: Favour::new(),
            row: UnsafeCell::new(Row {
                thread: 0,
                entries: 0,
                enough: FIRST_ROW,
                places: [0; PLACES],
            }),
            value: UnsafeCell::new(value),
        }
    }

    /// From now on entering takes a lock, or does not; `favours` says that every core can be made to execute a fence. Call
    /// while no second thread can enter.
    pub fn share(&self, shared: bool, favours: bool) {
        let way = match (shared, favours) {
            (false, _) => ALONE,
            (true, false) => LOCKED,
            (true, true) => FAVOURS,
        };
        self.way.store(way, Ordering::Release);
    }

    /// Enters without a lock.
    ///
    /// # Safety
    /// [`Guarded::share`] has not switched the lock on.
    #[inline(always)]
    pub unsafe fn enter_alone(&self) -> Guard<'_, T> {
        debug_assert_eq!(self.way.load(Ordering::Relaxed), ALONE);
        Inside::assert_not();
        self.guard(Held::Nothing)
    }

    /// Enters. `fence` makes every core execute one.
    #[inline(always)]
    pub fn enter(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        Inside::assert_not();
        if self.way.load(Ordering::Relaxed) == ALONE {
            return self.guard(Held::Nothing);
        }
        self.enter_shared(fence)
    }

    /// Enters, where the caller knows that others may.
    #[inline(always)]
    pub fn enter_shared(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        debug_assert_ne!(self.way.load(Ordering::Relaxed), ALONE);
        Inside::assert_not();
        let light = || compiler_fence(Ordering::SeqCst);
        match self.favour.enter(this_thread(), light) {
            Some(place) => self.guard(Held::Right(place as u8)),
            None => self.enter_by_lock(fence),
        }
    }

    #[inline(never)]
    fn enter_by_lock(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        let mut looks = 0;
        while !self.lock.try_lock() {
            looks += 1;
            if looks == LOOKS {
                self.lock.lock();
                break;
            }
            std::hint::spin_loop();
        }
        self.locked(fence)
    }

    /// Enters unless another thread has it, or the right to enter without a lock and `insists` is false. `None` also where
    /// there is no other thread.
    pub fn try_enter(&self, insists: bool, fence: impl FnOnce()) -> Option<Guard<'_, T>> {
        Inside::assert_not();
        let may = match self.way.load(Ordering::Relaxed) {
            ALONE => false,
            _ => insists || !self.favour.is_of_another(this_thread()),
        };
        if !may {
            return None;
        }
        let light = || compiler_fence(Ordering::SeqCst);
        match self.favour.enter(this_thread(), light) {
            Some(place) => Some(self.guard(Held::Right(place as u8))),
            None => self.lock.try_lock().then(|| self.locked(fence)),
        }
    }

    /// With the lock taken.
    fn locked(&self, fence: impl FnOnce()) -> Guard<'_, T> {
        let me = this_thread();
        let pause = || std::thread::yield_now();
        let taken = self.favour.take(fence, pause);
        // SAFETY: this thread holds the lock.
        let row = unsafe { &mut *self.row.get() };
        if taken {
            row.enough = (row.enough * 2).min(LONGEST_ROW);
        }
        if row.thread == me {
            row.entries += 1;
        } else {
            (row.thread, row.entries) = (me, 0);
        }
        if row.entries >= row.enough && self.way.load(Ordering::Relaxed) == FAVOURS {
            row.entries = 0;
            let mut places = row.places.iter();
            if let Some(place) = places.position(|thread| [0, me].contains(thread)) {
                row.places[place] = me;
                self.favour.give(me, place);
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
    Right(u8),
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
    pub fn give_way(&mut self, fence: impl FnOnce()) {
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
            Held::Right(place) => self.owner.favour.leave(place.into()),
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

/// Says that this thread has a guard, in debug builds.
#[cfg(debug_assertions)]
struct Inside(std::cell::Cell<bool>);

#[cfg(debug_assertions)]
thread_local! {
    static INSIDE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[cfg(debug_assertions)]
impl Inside {
    #[track_caller]
    fn assert_not() {
        // A thread that ends may have destroyed it.
        let inside = INSIDE.try_with(std::cell::Cell::get).unwrap_or(false);
        assert!(!inside, "this thread has a guard already");
    }

    fn begin() -> Self {
        let _ = INSIDE.try_with(|inside| inside.set(true));
        Self(std::cell::Cell::new(true))
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
