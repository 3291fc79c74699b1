//! What other processes ask one for, in a word of its status page: a question, which any number may ask together, and an operation that one of
//! them offers at a time, by where it lies in the node's heap.
//!
//! ```text
//! origin    post ........................ its outcome: done by the target        or        withdraw: still the origin's, which does it itself
//! target            claim, do it, say so in the outcome, end
//! ```
//!
//! The [`Outcome`] lies with the operation: an origin that looks there does not take the word's line from the target, which it has to change twice.
//! Invariant: an operation that was offered is done by one of the two, never by both and never by none (models below, for loom).

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Somebody has asked the question.
const QUESTION: u64 = 1;
/// The process does the operation.
const CLAIMED: u64 = 2;
/// Every other value is where an operation is, a multiple of it.
const FIRST: u64 = 64;

/// Looks at an operation of the same place that is done, until the target has ended it: some nanoseconds, unless it loses its core just then.
const LOOKS: u32 = 50;

/// What has become of an operation that was offered; of its origin, until it is posted, and from the end on.
#[derive(Default)]
#[repr(transparent)]
pub struct Outcome(AtomicU32);

const DONE: u32 = 1;
const REFUSED: u32 = 2;

impl Outcome {
    /// Before the operation is posted.
    pub fn open(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Says that the operation is over. The caller, which has claimed it, has nothing to do with its place from now on.
    pub fn set(&self, is_done: bool) {
        let outcome = if is_done { DONE } else { REFUSED };
        self.0.store(outcome, Ordering::Release); // pairs with `get`
    }

    /// Whether the target has done it; `None`: it is not over.
    #[inline]
    pub fn get(&self) -> Option<bool> {
        match self.0.load(Ordering::Acquire) {
            0 => None,
            outcome => Some(outcome == DONE),
        }
    }
}

/// See the module; all zeros are valid.
#[derive(Default)]
#[repr(transparent)]
pub struct Asked(AtomicU64);

impl Asked {
    /// Whether there is anything to be done: one load.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Asks the question. What it is about is seen by whoever takes it.
    pub fn ask(&self) {
        self.0.fetch_or(QUESTION, Ordering::Release); // pairs with `take_question`
    }

    /// Takes the question, if there is one.
    pub fn take_question(&self) -> bool {
        self.0.load(Ordering::Relaxed) & QUESTION != 0
            && self.0.fetch_and(!QUESTION, Ordering::Acquire) & QUESTION != 0
    }

    /// Offers the operation at a place of the heap. False: there is another one.
    pub fn post(&self, at: u64) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        for _ in 0..LOOKS {
            if word & !QUESTION != at | CLAIMED {
                break;
            }
            spin();
            word = self.0.load(Ordering::Relaxed);
        }
        let question = word & QUESTION;
        // Release: what lies there is seen by who claims it.
        let (order, otherwise) = (Ordering::Release, Ordering::Relaxed);
        self.0
            .compare_exchange(question, at | question, order, otherwise)
            .is_ok()
    }

    /// Whether the operation that the caller has posted at a place is over, where the target cannot reach that place.
    pub fn is_over(&self, at: u64) -> bool {
        // Acquire: the outcome is seen. No other process posts this place.
        self.0.load(Ordering::Acquire) & !(QUESTION | CLAIMED) != at
    }

    /// Takes an operation back that the caller has posted at a place. False: it is being done, or is done.
    pub fn withdraw(&self, at: u64) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        while word & !QUESTION == at {
            let (order, otherwise) = (Ordering::Relaxed, Ordering::Relaxed);
            match (self.0).compare_exchange(word, word & QUESTION, order, otherwise) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Claims the operation that is offered; the caller does it, calls [`Outcome::set`], then [`Asked::end`]. `None`: there is none.
    pub fn claim(&self) -> Option<u64> {
        let mut word = self.0.load(Ordering::Relaxed);
        while word >= FIRST && word & CLAIMED == 0 {
            let (order, otherwise) = (Ordering::Acquire, Ordering::Relaxed); // pairs with `post`
            match (self.0).compare_exchange(word, word | CLAIMED, order, otherwise) {
                Ok(_) => return Some(word & !QUESTION),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Ends the operation that the caller has claimed.
    pub fn end(&self) {
        self.0.fetch_and(QUESTION, Ordering::Release); // pairs with `is_over`
    }
}

#[inline(always)]
fn spin() {
    #[cfg(all(test, loom))]
    loom::thread::yield_now();
    #[cfg(not(all(test, loom)))]
    std::hint::spin_loop();
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    const ORIGINS: usize = 2;

    #[derive(Default)]
    struct Shared {
        asked: Asked,
        /// By origin: what is to be done, and how often it was done.
        boxes: [UnsafeCell<u32>; ORIGINS],
        outcomes: [Outcome; ORIGINS],
        done: [UnsafeCell<u32>; ORIGINS],
    }

    // SAFETY: that each cell is accessed by who has the operation is what the models check.
    unsafe impl Sync for Shared {}

    impl Shared {
        fn add(&self, origin: usize) {
            // SAFETY: as above; loom reports accesses at the same time.
            let value = self.boxes[origin].with(|value| unsafe { *value });
            self.done[origin].with_mut(|done| {
                // SAFETY: as above.
                unsafe { *done += value }
            });
        }

        /// The target's poll.
        fn serve(&self) {
            if let Some(at) = self.asked.claim() {
                let origin = (at / FIRST - 1) as usize;
                self.add(origin);
                self.outcomes[origin].set(true);
                self.asked.end();
            }
        }

        /// An operation that adds a value: by the target, or by the origin after so many looks.
        fn operate(&self, origin: usize, value: u32, looks: u32) {
            let at = FIRST * (origin as u64 + 1);
            self.boxes[origin].with_mut(|place| {
                // SAFETY: as above.
                unsafe { *place = value }
            });
            let outcome = &self.outcomes[origin];
            outcome.open();
            if !self.asked.post(at) {
                return self.add(origin);
            }
            for _ in 0..looks {
                if outcome.get().is_some() {
                    return;
                }
                thread::yield_now();
            }
            if self.asked.withdraw(at) {
                return self.add(origin);
            }
            while outcome.get().is_none() {
                thread::yield_now();
            }
        }

        fn sum(&self, origin: usize) -> u32 {
            // SAFETY: as above.
            self.done[origin].with(|done| unsafe { *done })
        }
    }

    /// Starts a thread that shares the state.
    fn start<T: 'static>(
        shared: &Arc<Shared>,
        body: impl FnOnce(&Shared) -> T + 'static,
    ) -> thread::JoinHandle<T> {
        let shared = shared.clone();
        thread::spawn(move || body(&shared))
    }

    /// Starts the target, which polls twice and looks for a question then. Returns whether there was one.
    fn start_target(shared: &Arc<Shared>) -> thread::JoinHandle<bool> {
        start(shared, |shared| {
            shared.serve();
            shared.serve();
            shared.asked.take_question()
        })
    }

    fn check(changes: usize, body: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(changes);
        builder.check(body);
    }

    #[test]
    fn each_operation_is_done_once() {
        check(4, || {
            let shared = Arc::new(Shared::default());
            let target = start_target(&shared);
            shared.operate(0, 1, 1);
            assert_eq!(shared.sum(0), 1);
            shared.operate(0, 10, 0);
            assert_eq!(shared.sum(0), 11);
            target.join().unwrap();
        });
    }

    #[test]
    fn origins_do_not_take_each_others_operations() {
        check(2, || {
            let shared = Arc::new(Shared::default());
            let other = start(&shared, |shared| {
                shared.operate(1, 100, 0);
                assert_eq!(shared.sum(1), 100);
            });
            let target = start_target(&shared);
            shared.operate(0, 1, 1);
            assert_eq!(shared.sum(0), 1);
            other.join().unwrap();
            target.join().unwrap();
        });
    }

    #[test]
    fn no_question_is_lost_beside_an_operation() {
        check(3, || {
            let shared = Arc::new(Shared::default());
            let other = start(&shared, |shared| shared.asked.ask());
            let target = start_target(&shared);
            shared.operate(0, 1, 0);
            other.join().unwrap();
            let taken = target.join().unwrap();
            assert_eq!(
                u32::from(taken) + u32::from(shared.asked.take_question()),
                1
            );
            assert_eq!(shared.sum(0), 1);
            assert!(!shared.asked.is_any());
        });
    }
}
