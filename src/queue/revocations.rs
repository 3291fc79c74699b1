//! How the processes of a node learn that something was revoked: a word of each thing, and a count of all revocations.
//!
//! A process that revokes sets the word, counts, and wakes those that sleep. A thread that looks compares the count with the one that its process has seen,
//! and goes through the words only if it has changed. What another thread of the process is just making it does not find: who makes something looks
//! for a revocation when the others can find it.
//!
//! Invariant: a process that has a thing, or makes it, learns of its revocation: whoever makes it sees the count, or whoever sees the count finds
//! the thing (models below, for loom). And where the number of a thing is given back, for another thing to get it, no revocation of the first is
//! kept under that number any more.

use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, full_fence};

/// Revokes what has this word. False: it was revoked before. Sleepers are to be woken.
pub fn revoke(word: &AtomicU64, count: &AtomicU32) -> bool {
    if word.swap(1, Ordering::Relaxed) != 0 {
        return false;
    }
    count.fetch_add(1, Ordering::Release); // pairs with `look` and `is_any`
    true
}

/// Whether what has this word is revoked, for whoever has seen the count.
pub fn is_revoked(word: &AtomicU64) -> bool {
    word.load(Ordering::Relaxed) != 0
}

/// Goes through the words by `find` if there was a revocation since the process has last `seen` any.
#[inline]
pub fn look(seen: &AtomicU32, count: &AtomicU32, find: impl FnOnce()) {
    let now = count.load(Ordering::Acquire);
    if now != seen.load(Ordering::Acquire) {
        // Pairs with `is_any`.
        full_fence();
        find();
        // Afterwards: who finds nothing new relies on it that another thread has looked.
        seen.store(now, Ordering::Release);
    }
}

/// Whether there was any, for whoever has made something that other threads of the process can find by now.
#[inline]
pub fn is_any(count: &AtomicU32) -> bool {
    // Either a thread that looks finds the new thing, or this one sees the count.
    full_fence();
    count.load(Ordering::Acquire) != 0
}

/// The process learns that a thing of its own is revoked. Whether it has to keep that: it has not known it, and the thing is not over.
pub fn learn(is_known: &AtomicBool, is_over: &AtomicBool) -> bool {
    if is_known.swap(true, Ordering::AcqRel) {
        return false;
    }
    // Pairs with `end`.
    full_fence();
    !is_over.load(Ordering::Relaxed)
}

/// The thing is over for the process. Whether its number can be given back as far as this process knows; from then on it does not [`learn`] anything of
/// it.
pub fn end(is_known: &AtomicBool, is_over: &AtomicBool) -> bool {
    is_over.store(true, Ordering::Relaxed);
    // Either this thread sees that another one has learnt, or that one sees the end.
    full_fence();
    !is_known.load(Ordering::Acquire)
}

#[cfg(all(test, loom))]
mod models {
    //! They fail, as they should, where
    //!
    //! - `revoke` counts before it sets the word, or counts by a relaxed store;
    //! - `look` keeps the count before it has found what is new, or by a relaxed store;
    //! - `is_any` has no fence, or `look` has none;
    //! - `end` has no fence, or `learn` has none;
    //! - who revokes wakes nobody, or in front of the count.

    use super::*;
    use crate::queue::models::Sleepers;
    use loom::sync::Arc;
    use loom::thread;

    /// A process that revokes, and one with two threads.
    struct Shared {
        word: AtomicU64,
        count: AtomicU32,
        sleepers: Sleepers,
        /// Of the second process: what it has seen; the thing can be found; it knows of the revocation.
        seen: AtomicU32,
        is_made: AtomicU32,
        knows: AtomicU32,
    }

    impl Shared {
        fn new(sleeps: bool, is_made: bool) -> Arc<Shared> {
            Arc::new(Shared {
                word: AtomicU64::new(0),
                count: AtomicU32::new(0),
                sleepers: Sleepers::new(1, sleeps),
                seen: AtomicU32::new(0),
                is_made: AtomicU32::new(u32::from(is_made)),
                knows: AtomicU32::new(0),
            })
        }

        fn revoke(&self) {
            assert!(revoke(&self.word, &self.count));
            self.sleepers.light_fence();
            self.sleepers.wake_all();
        }

        fn learn(&self) {
            self.knows.store(1, Ordering::Release);
            self.sleepers.light_fence();
            self.sleepers.wake_all();
        }

        /// Whether the process knows.
        fn look(&self) -> bool {
            look(&self.seen, &self.count, || {
                let is_made = self.is_made.load(Ordering::Acquire) != 0;
                if is_made && is_revoked(&self.word) {
                    self.knows.store(1, Ordering::Relaxed);
                }
            });
            self.knows.load(Ordering::Relaxed) != 0
        }

        /// A thread waits on the thing, which ends when the process knows.
        fn wait(&self) {
            self.sleepers.wait(0, || self.look().then_some(()));
        }

        /// Another one makes it.
        fn make(&self) {
            self.is_made.store(1, Ordering::Release);
            if is_any(&self.count) && is_revoked(&self.word) {
                self.learn();
            }
        }
    }

    fn explore(body: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(body);
    }

    #[test]
    fn who_waits_learns_of_a_revocation() {
        for sleeps in [false, true] {
            explore(move || {
                let shared = Shared::new(sleeps, true);
                let other = shared.clone();
                let revoker = thread::spawn(move || other.revoke());
                shared.wait();
                revoker.join().unwrap();
            });
        }
    }

    #[test]
    fn who_looks_knows_what_another_thread_has_found() {
        explore(|| {
            let shared = Shared::new(false, true);
            shared.revoke();
            let other = shared.clone();
            let looks = thread::spawn(move || assert!(other.look()));
            assert!(shared.look());
            looks.join().unwrap();
        });
    }

    #[test]
    fn who_makes_it_or_who_looks_learns_of_a_revocation() {
        for sleeps in [false, true] {
            explore(move || {
                let shared = Shared::new(sleeps, false);
                let [one, two] = [shared.clone(), shared.clone()];
                let revoker = thread::spawn(move || one.revoke());
                let maker = thread::spawn(move || two.make());
                shared.wait();
                revoker.join().unwrap();
                maker.join().unwrap();
            });
        }
    }

    #[test]
    fn no_revocation_is_kept_under_a_number_that_is_given_back() {
        explore(|| {
            let is_known = Arc::new(AtomicBool::new(false));
            let is_over = Arc::new(AtomicBool::new(false));
            let (known, over) = (is_known.clone(), is_over.clone());
            let learns = thread::spawn(move || learn(&known, &over));
            let given_back = end(&is_known, &is_over);
            let kept = learns.join().unwrap();
            assert!(!(kept && given_back));
        });
    }
}
