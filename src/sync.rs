//! The only door to atomics and locks: `std` in the library, `loom` when built with `--cfg loom`, and in tests those of a
//! deterministic scheduler (`scheduler`).
//!
//! Also owns the guards that give `&mut` to process-wide state: a real lock when the program asked for
//! `MPI_THREAD_MULTIPLE`, and nothing at all below it ([`Exclusive`]), or one that is taken only where several threads
//! enter ([`guarded`]).
#![allow(unsafe_code)]
// clippy.toml refuses these types by whatever path; the aliases below are types of their own to it.
#![allow(clippy::disallowed_types)]

mod biased;
pub mod epochs;
#[cfg(not(loom))]
pub mod guarded;
#[cfg(all(test, not(loom)))]
pub mod keep;
#[cfg(all(test, not(loom)))]
pub mod scheduler;

#[cfg(loom)]
pub use loom::cell::UnsafeCell;
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
pub use std::sync::atomic::{Ordering, compiler_fence, fence};

#[cfg(not(loom))]
pub type AtomicBool = std::sync::atomic::AtomicBool;
#[cfg(not(loom))]
pub type AtomicI64 = std::sync::atomic::AtomicI64;
#[cfg(not(loom))]
pub type AtomicI32 = std::sync::atomic::AtomicI32;
#[cfg(not(loom))]
pub type AtomicPtr<T> = std::sync::atomic::AtomicPtr<T>;
#[cfg(not(loom))]
pub type AtomicU32 = std::sync::atomic::AtomicU32;
#[cfg(all(not(loom), not(test)))]
pub type AtomicU64 = std::sync::atomic::AtomicU64;
#[cfg(not(loom))]
pub type AtomicU8 = std::sync::atomic::AtomicU8;
#[cfg(not(loom))]
pub type AtomicU16 = std::sync::atomic::AtomicU16;
/// 64 bits that are no part of a protocol, so tests do not take turns at them: in memory of the program's, or a guess about it.
#[cfg(not(loom))]
pub type ProgramU64 = std::sync::atomic::AtomicU64;
#[cfg(not(loom))]
pub type AtomicUsize = std::sync::atomic::AtomicUsize;
#[cfg(all(test, not(loom)))]
pub use scheduler::AtomicU64;

/// A full fence behind an atomic read-modify-write with [`Ordering::SeqCst`], which is one already on x86.
#[inline(always)]
pub fn fence_after_update() {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    compiler_fence(Ordering::SeqCst);
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    fence(Ordering::SeqCst);
}

/// A full fence: on x86 a locked instruction, which takes a fraction of the time of the `mfence` that compilers choose.
#[inline(always)]
pub fn full_fence() {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    // SAFETY: a word of the own stack keeps its value. Not `nomem`: the compiler keeps the order, too.
    unsafe {
        std::arch::asm!("lock or dword ptr [rsp], 0", options(nostack));
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    fence(Ordering::SeqCst);
}

/// `std::cell::UnsafeCell` with loom's interface, so that one source serves both.
#[cfg(not(loom))]
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with a pointer for reading.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Calls `f` with a pointer for writing.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

#[cfg(not(loom))]
mod exclusive {
    use super::{AtomicBool, Ordering};
    use parking_lot::lock_api::RawMutex as _;
    use std::cell::UnsafeCell;
    use std::ops::{Deref, DerefMut};

    /// State that one thread at a time may touch.
    ///
    /// Below `MPI_THREAD_MULTIPLE` the MPI standard makes the program promise that no two threads are in MPI at once,
    /// so entering can cost one load: [`Exclusive::share`] switches the lock.
    pub struct Exclusive<T> {
        shared: AtomicBool,
        lock: parking_lot::RawMutex,
        value: UnsafeCell<T>,
    }

    // SAFETY: `value` is reached only through a guard; either the lock or the program's promise makes it the only one.
    unsafe impl<T: Send> Sync for Exclusive<T> {}

    impl<T> Exclusive<T> {
        /// With the lock, until [`Exclusive::share`] says otherwise.
        pub const fn new(value: T) -> Self {
            Self {
                shared: AtomicBool::new(true),
                lock: parking_lot::RawMutex::INIT,
                value: UnsafeCell::new(value),
            }
        }

        /// Nobody else has it.
        pub fn get_mut(&mut self) -> &mut T {
            self.value.get_mut()
        }

        /// From now on entering takes a lock, or does not.
        ///
        /// # Safety
        /// Nobody is inside, and no other thread enters before this returns; without the lock, threads enter one after the other.
        pub unsafe fn share(&self, shared: bool) {
            self.shared.store(shared, Ordering::Release);
        }

        #[cfg(not(miri))]
        #[inline(always)]
        fn lock(&self) {
            self.lock.lock();
        }

        /// Miri rejects the arguments with which parking_lot 0.12 calls the futex.
        #[cfg(miri)]
        fn lock(&self) {
            while !self.lock.try_lock() {
                std::thread::yield_now();
            }
        }

        #[inline(always)]
        pub fn enter(&self) -> ExclusiveGuard<'_, T> {
            let locked = self.shared.load(Ordering::Relaxed);
            if locked {
                self.lock();
            }
            ExclusiveGuard {
                owner: self,
                locked,
            }
        }
    }

    pub struct ExclusiveGuard<'a, T> {
        owner: &'a Exclusive<T>,
        locked: bool,
    }

    impl<T> Deref for ExclusiveGuard<'_, T> {
        type Target = T;
        #[inline(always)]
        fn deref(&self) -> &T {
            // SAFETY: this guard is the only one alive (see `Exclusive`), and it is borrowed.
            unsafe { &*self.owner.value.get() }
        }
    }

    impl<T> DerefMut for ExclusiveGuard<'_, T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: this guard is the only one alive (see `Exclusive`), and it is borrowed mutably.
            unsafe { &mut *self.owner.value.get() }
        }
    }

    impl<T> Drop for ExclusiveGuard<'_, T> {
        #[inline(always)]
        fn drop(&mut self) {
            if self.locked {
                // SAFETY: `enter` of this guard took the lock.
                unsafe { self.owner.lock.unlock() }
            }
        }
    }
}

#[cfg(not(loom))]
pub use exclusive::{Exclusive, ExclusiveGuard};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Exclusive;

    #[test]
    fn shared_state_counts_every_entry() {
        static COUNT: Exclusive<u64> = Exclusive::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        *COUNT.enter() += 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.enter(), 4000);
    }
}
