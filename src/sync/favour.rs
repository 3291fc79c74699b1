//! The right of one thread to enter without a lock: who else wants to enter has to take it away first.
//!
//! The favoured thread says that it is inside by a plain store; who takes the right away makes every core execute a fence
//! (membarrier) before it looks, so the favoured one needs none. Rights are given and taken only by who holds the lock.
//! Invariant: while a thread is inside by right, nobody else has entered: either it sees that its right is gone and turns
//! back, or who took it sees it inside and waits. Each thread has a word of its own to say that, which no other writes.

use super::{AtomicU32, AtomicUsize, Ordering};

/// How many threads can ever be given the right.
pub const PLACES: usize = 8;
const PLACE: usize = PLACES - 1;
const NOBODY: usize = 0;

/// See the module.
pub struct Favour {
    /// A thread's name, which is a multiple of [`PLACES`], and its place.
    owner: AtomicUsize,
    inside: [AtomicU32; PLACES],
}

impl Favour {
    /// Nobody has the right. Loom's atomics are not made in constants.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            owner: AtomicUsize::new(NOBODY),
            inside: [const { AtomicU32::new(0) }; PLACES],
        }
    }

    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            owner: AtomicUsize::new(NOBODY),
            inside: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// Enters by right; the place to leave. `light` is the owner's half of the fence.
    #[inline(always)]
    pub fn enter(&self, me: usize, light: impl FnOnce()) -> Option<usize> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner & !PLACE != me {
            return None;
        }
        let place = owner & PLACE;
        self.inside[place].store(1, Ordering::Relaxed);
        light();
        if self.owner.load(Ordering::Acquire) != owner {
            self.leave(place);
            return None;
        }
        Some(place)
    }

    /// Leaves, after [`Favour::enter`].
    #[inline(always)]
    pub fn leave(&self, place: usize) {
        self.inside[place & PLACE].store(0, Ordering::Release); // pairs with `take`
    }

    /// Whether a thread other than this one has the right.
    #[cfg(not(loom))] // the models have no thread that only tries
    pub fn is_of_another(&self, me: usize) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner != NOBODY && owner & !PLACE != me
    }

    /// Gives a thread the right, who has this place for good. The caller holds the lock, and nobody has the right.
    pub fn give(&self, to: usize, place: usize) {
        self.owner.store(to | place, Ordering::Release);
    }

    /// Takes the right from whoever has it, and waits until that thread is not inside. The caller holds the lock, and is not
    /// inside by right. `heavy` is the other half of the fence, for all cores. True if anybody had it.
    pub fn take(&self, heavy: impl FnOnce(), mut pause: impl FnMut()) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == NOBODY {
            return false;
        }
        self.owner.store(NOBODY, Ordering::Release);
        heavy();
        while self.inside[owner & PLACE].load(Ordering::Acquire) != 0 {
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
        favour: Favour,
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

        fn enter(&self, me: usize, gives_to: Option<usize>) {
            if let Some(place) = self.favour.enter(me, fenced) {
                self.add();
                self.favour.leave(place);
                return;
            }
            let _lock = self.lock.lock();
            self.favour.take(fenced, thread::yield_now);
            self.add();
            if let Some(place) = gives_to {
                self.favour.give(me, place);
            }
        }
    }

    #[test]
    fn nobody_is_inside_with_the_favoured_thread() {
        loom::model(|| {
            let shared = Arc::new(Shared {
                favour: Favour::new(),
                lock: Mutex::new(()),
                count: UnsafeCell::new(0),
            });
            shared.favour.give(PLACES, 0);
            let other = shared.clone();
            let thread = thread::spawn(move || other.enter(2 * PLACES, Some(1)));
            shared.enter(PLACES, None);
            shared.enter(PLACES, None);
            thread.join().unwrap();
            shared.enter(3 * PLACES, None);
            #[allow(unsafe_code)]
            // SAFETY: no other thread is left.
            let count = shared.count.with(|count| unsafe { *count });
            assert_eq!(count, 4);
        });
    }
}
