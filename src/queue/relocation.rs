//! Memory that its owner moves while others access it by the kernel: no access may be under way meanwhile.
//!
//! The owner says that it moves the memory and then looks at each rank's accesses; a rank counts an access and then looks whether the
//! memory moves. Invariant: with a full fence in between on both sides, at least one of them sees the other (models below, for loom).

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence_after_update};

/// Nobody has shared it.
const PRIVATE: u64 = 0;
/// Another rank wants it to be shared.
const WANTED: u64 = 1;
/// It is being moved.
const MOVING: u64 = 2;
/// Every other value says where its pages are in the node's heap.
const FIRST: u64 = 4096;

/// Where one rank's memory is; a word that all zeros are valid for.
#[repr(transparent)]
pub struct Place(AtomicU64);

/// The accesses of one rank that are under way.
#[repr(transparent)]
pub struct Accesses(AtomicU32);

impl Accesses {
    /// Begins an access. False: the memory is being moved, and nothing was begun.
    #[inline]
    pub fn begin(&self, place: &Place) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        fence_after_update();
        // Acquire: what the owner has done is done.
        let is_still = place.0.load(Ordering::Acquire) != MOVING;
        if !is_still {
            self.end();
        }
        is_still
    }

    #[inline]
    pub fn end(&self) {
        self.0.fetch_sub(1, Ordering::Release); // pairs with `are_over`
    }

    /// Whether none is under way, for an owner that has begun to move.
    pub fn are_over(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

impl Place {
    /// Where its pages are in the heap, if it is shared: what [`Place::end_move`] was given.
    #[inline(always)]
    pub fn pages(&self) -> Option<u64> {
        let place = self.0.load(Ordering::Acquire); // pairs with `end_move`
        (place >= FIRST).then_some(place)
    }

    /// Says that it is to be shared. True if nobody has said so before.
    pub fn want(&self) -> bool {
        let (order, otherwise) = (Ordering::Relaxed, Ordering::Relaxed);
        (self.0)
            .compare_exchange(PRIVATE, WANTED, order, otherwise)
            .is_ok()
    }

    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WANTED
    }

    /// Whether it is still being moved.
    pub fn is_moving(&self) -> bool {
        self.0.load(Ordering::Acquire) == MOVING
    }

    /// The owner begins to move it: no access begins from now on, and those under way are to be waited for. Returns what
    /// [`Place::end_move`] takes if it stays where it was.
    pub fn begin_move(&self) -> u64 {
        self.0.swap(MOVING, Ordering::Relaxed)
    }

    /// To be called after [`Place::begin_move`], before the accesses are looked at.
    pub fn order_moves() {
        fence_after_update();
    }

    /// It was moved: `place` says where its pages are in the heap, and is more than a page's bytes, or zero: it is private; or it stays where it
    /// was.
    pub fn end_move(&self, place: u64) {
        let place = match place {
            WANTED | MOVING => PRIVATE,
            place => place,
        };
        self.0.store(place, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        place: Place,
        accesses: [Accesses; 2],
        /// The memory before, and after.
        memory: [UnsafeCell<u32>; 2],
    }

    // SAFETY: that `memory` is accessed by one thread at a time is what the model checks.
    unsafe impl Sync for Shared {}

    /// An access adds one wherever the memory is, as the kernel does.
    fn access(shared: &Shared, me: usize) {
        while !shared.accesses[me].begin(&shared.place) {
            thread::yield_now();
        }
        let at = usize::from(shared.place.pages().is_some());
        let word = &shared.memory[at];
        word.with_mut(|word| {
            // SAFETY: loom reports accesses at the same time.
            unsafe { *word += 1 }
        });
        shared.accesses[me].end();
    }

    fn share(shared: &Shared) -> bool {
        let before = shared.place.begin_move();
        Place::order_moves();
        if !shared.accesses.iter().all(Accesses::are_over) {
            shared.place.end_move(before);
            return false;
        }
        // SAFETY: as above.
        let value = shared.memory[0].with(|word| unsafe { *word });
        shared.memory[1].with_mut(|word| {
            // SAFETY: as above.
            unsafe { *word = value }
        });
        shared.place.end_move(FIRST);
        true
    }

    #[test]
    fn no_access_is_lost_when_memory_moves() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = Arc::new(Shared {
                place: Place(AtomicU64::new(PRIVATE)),
                accesses: std::array::from_fn(|_| Accesses(AtomicU32::new(0))),
                memory: std::array::from_fn(|_| UnsafeCell::new(0)),
            });
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    access(&shared, 1);
                    access(&shared, 1);
                })
            };
            let moved = share(&shared);
            other.join().unwrap();
            // SAFETY: as above.
            let value = shared.memory[usize::from(moved)].with(|word| unsafe { *word });
            assert_eq!(value, 2);
        });
    }
}
