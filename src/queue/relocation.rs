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
/// Every other value says where its pages are in the node's heap, with [`EDGES`] in its low bits.
const FIRST: u64 = 4096;
/// The pages that have other variables of the process, too, are among them: where the first of the memory's bytes lies, and the last. They can
/// be moved again at any time, so accesses to them are counted.
const EDGES: u64 = 1;

/// Where one rank's memory is; a word that all zeros are valid for.
#[repr(transparent)]
pub struct Place(AtomicU64);

/// Where memory is in the heap that is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Of the first page, a multiple of the bytes of a page.
    pub offset: u64,
    /// Whether that is the page of the memory's first byte, and all to that of its last byte are shared. If not, whole pages are alone.
    pub edges: bool,
}

impl Pages {
    /// As a number that is not zero, for other processes.
    pub fn word(self) -> u64 {
        self.offset | if self.edges { EDGES } else { 0 }
    }

    /// What [`Pages::word`] has said; `None`: another number.
    pub fn of_word(word: u64) -> Option<Pages> {
        (word >= FIRST).then_some(Pages {
            offset: word & !EDGES,
            edges: word & EDGES != 0,
        })
    }
}

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
    pub fn pages(&self) -> Option<Pages> {
        Pages::of_word(self.0.load(Ordering::Acquire)) // pairs with `end_move`
    }

    /// Whether its edges are shared, so that nothing of it needs the kernel.
    #[inline]
    pub fn has_edges(&self) -> bool {
        self.pages().is_some_and(|pages| pages.edges)
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
    pub fn begin_move(&self) -> Option<Pages> {
        Pages::of_word(self.0.swap(MOVING, Ordering::Relaxed))
    }

    /// To be called after [`Place::begin_move`], before the accesses are looked at.
    pub fn order_moves() {
        fence_after_update();
    }

    /// It was moved, or stays where it was: in the heap, or private.
    pub fn end_move(&self, pages: Option<Pages>) {
        let word = pages.map_or(PRIVATE, Pages::word);
        self.0.store(word, Ordering::Release);
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
        shared.place.end_move(Some(Pages {
            offset: FIRST,
            edges: false,
        }));
        true
    }

    fn shared(place: u64) -> Arc<Shared> {
        Arc::new(Shared {
            place: Place(AtomicU64::new(place)),
            accesses: std::array::from_fn(|_| Accesses(AtomicU32::new(0))),
            memory: std::array::from_fn(|_| UnsafeCell::new(0)),
        })
    }

    /// The owner of edges gives them back, as before a fork, while another rank adds to them.
    #[test]
    fn no_access_is_lost_when_edges_are_given_back() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = shared(FIRST | EDGES);
            let mapped = Arc::new(AtomicU32::new(1));
            let other = {
                let (shared, mapped) = (shared.clone(), mapped.clone());
                thread::spawn(move || {
                    for _ in 0..2 {
                        while !shared.accesses[1].begin(&shared.place) {
                            thread::yield_now();
                        }
                        // If the owner has begun to move just now, the kernel knows where it is.
                        let at = match shared.place.has_edges() {
                            true => 1,
                            false => mapped.load(Ordering::Relaxed) as usize,
                        };
                        shared.memory[at].with_mut(|word| {
                            // SAFETY: as above.
                            unsafe { *word += 1 }
                        });
                        shared.accesses[1].end();
                    }
                })
            };
            let before = shared.place.begin_move();
            Place::order_moves();
            let moves = shared.accesses.iter().all(Accesses::are_over);
            if moves {
                // SAFETY: as above.
                let value = shared.memory[1].with(|word| unsafe { *word });
                shared.memory[0].with_mut(|word| {
                    // SAFETY: as above.
                    unsafe { *word = value }
                });
                mapped.store(0, Ordering::Relaxed);
            }
            shared.place.end_move(before.filter(|_| !moves));
            other.join().unwrap();
            // SAFETY: as above.
            let value = shared.memory[usize::from(!moves)].with(|word| unsafe { *word });
            assert_eq!(value, 2);
        });
    }

    #[test]
    fn no_access_is_lost_when_memory_moves() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = shared(PRIVATE);
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
