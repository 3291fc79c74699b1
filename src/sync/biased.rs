//! The bias of a lock: one thread enters without the lock until another revokes that.
//!
//! The thread with the bias announces by a plain store that it is inside; a thread that revokes the bias makes every core
//! execute a fence (membarrier) before it checks, so the first needs none. Only the holder of the lock grants or revokes the
//! bias. Invariant: while a thread is inside by its bias, no other has entered: either it sees that the bias is revoked and
//! turns back, or the revoking thread sees it inside and waits. Each thread announces itself in a slot of its own, which no
//! other writes.

use super::{AtomicU32, AtomicUsize, Ordering};

/// Threads that can ever have the bias.
pub const SLOTS: usize = 8;
const SLOT_MASK: usize = SLOTS - 1;
const NONE: usize = 0;

/// The bias; the lock itself is the owner's ([`super::guarded`]).
pub struct Bias {
    /// The thread's number, a multiple of [`SLOTS`], and its slot.
    owner: AtomicUsize,
    inside: [AtomicU32; SLOTS],
}

impl Bias {
    /// Without a bias. Loom's atomics are not made in constants.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            owner: AtomicUsize::new(NONE),
            inside: [const { AtomicU32::new(0) }; SLOTS],
        }
    }

    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            owner: AtomicUsize::new(NONE),
            inside: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// Enters by the bias. Returns the slot to leave. `light` is the owner's half of the fence.
    #[inline(always)]
    pub fn enter(&self, me: usize, light: impl FnOnce()) -> Option<usize> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner & !SLOT_MASK != me {
            return None;
        }
        let slot = owner & SLOT_MASK;
        self.inside[slot].store(1, Ordering::Relaxed);
        light();
        if self.owner.load(Ordering::Acquire) != owner {
            self.leave(slot);
            return None;
        }
        Some(slot)
    }

    /// Leaves, after [`Bias::enter`].
    #[inline(always)]
    pub fn leave(&self, slot: usize) {
        self.inside[slot & SLOT_MASK].store(0, Ordering::Release); // pairs with `revoke`
    }

    /// Whether a thread other than this one has the bias.
    #[cfg(not(loom))] // the models have no thread that only tries
    pub fn is_to_another(&self, me: usize) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner != NONE && owner & !SLOT_MASK != me
    }

    /// Gives the bias to a thread, whose slot this is for good. The caller holds the lock, and no thread has the bias.
    pub fn grant(&self, to: usize, slot: usize) {
        self.owner.store(to | slot, Ordering::Release);
    }

    /// Revokes the bias, and waits until its thread is not inside. The caller holds the lock, and is not inside by the bias.
    /// `heavy` is the other half of the fence, for all cores. Returns whether a thread had the bias.
    pub fn revoke(&self, heavy: impl FnOnce(), mut pause: impl FnMut()) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == NONE {
            return false;
        }
        self.owner.store(NONE, Ordering::Release);
        heavy();
        while self.inside[owner & SLOT_MASK].load(Ordering::Acquire) != 0 {
            pause();
        }
        true
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::fence;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    struct Shared {
        bias: Bias,
        lock: Mutex<()>,
        count: UnsafeCell<u32>,
    }

    // SAFETY: that `count` is reached by one thread at a time is what the model checks.
    #[allow(unsafe_code)]
    unsafe impl Sync for Shared {}

    fn fenced() {
        fence(Ordering::SeqCst);
    }

    impl Shared {
        fn add(&self) {
            #[allow(unsafe_code)]
            // SAFETY: as above; loom reports accesses at the same time.
            self.count.with_mut(|count| unsafe { *count += 1 });
        }

        fn enter(&self, me: usize, grants: Option<usize>) {
            if let Some(slot) = self.bias.enter(me, fenced) {
                self.add();
                self.bias.leave(slot);
                return;
            }
            let _lock = self.lock.lock();
            self.bias.revoke(fenced, thread::yield_now);
            self.add();
            if let Some(slot) = grants {
                self.bias.grant(me, slot);
            }
        }
    }

    #[test]
    fn no_thread_is_inside_with_the_biased_one() {
        loom::model(|| {
            let shared = Arc::new(Shared {
                bias: Bias::new(),
                lock: Mutex::new(()),
                count: UnsafeCell::new(0),
            });
            shared.bias.grant(SLOTS, 0);
            let other = shared.clone();
            let thread = thread::spawn(move || other.enter(2 * SLOTS, Some(1)));
            shared.enter(SLOTS, None);
            shared.enter(SLOTS, None);
            thread.join().unwrap();
            shared.enter(3 * SLOTS, None);
            #[allow(unsafe_code)]
            // SAFETY: no other thread is left.
            let count = shared.count.with(|count| unsafe { *count });
            assert_eq!(count, 4);
        });
    }
}
