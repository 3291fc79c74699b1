//! A lock in a word of memory that processes share: zero while it is free, else the number of its holder and one.
//!
//! A waiter checks whether the holder has died. Invariant: a lock whose holder has died stays taken, and each waiter is told (models
//! below, for loom); where what it guards is good nevertheless, one of them takes it over.

use crate::sync::{AtomicU32, Ordering};

/// Takes the lock for a process, if it is free. What was done under it before is seen.
#[inline(always)]
pub fn try_take(word: &AtomicU32, process: u32) -> bool {
    word.compare_exchange(0, process + 1, Ordering::Acquire, Ordering::Relaxed)
        .is_ok()
}

/// Gives the lock back, which the caller holds.
#[inline(always)]
pub fn give_back(word: &AtomicU32) {
    word.store(0, Ordering::Release); // pairs with `try_take`
}

/// Takes the lock as soon as it is free. `pause` is called between two looks and says whether it is time to ask `has_died`.
///
/// Errors: the holder, which has died.
pub fn take(
    word: &AtomicU32,
    process: u32,
    mut pause: impl FnMut() -> bool,
    has_died: impl Fn(u32) -> bool,
) -> Result<(), u32> {
    loop {
        if word.load(Ordering::Relaxed) == 0 && try_take(word, process) {
            return Ok(());
        }
        if pause()
            && let Some(holder) = lost_holder(word, &has_died)
        {
            return Err(holder);
        }
    }
}

/// Takes the lock over from a holder that has died, if what it guards is good at every step of a change. False: another one has done so.
#[cold]
pub fn take_over(word: &AtomicU32, holder: u32, process: u32) -> bool {
    let (order, otherwise) = (Ordering::Acquire, Ordering::Relaxed);
    word.compare_exchange(holder + 1, process + 1, order, otherwise)
        .is_ok()
}

/// The holder, if it has died with the lock.
#[cold]
fn lost_holder(word: &AtomicU32, has_died: impl Fn(u32) -> bool) -> Option<u32> {
    let holder = word.load(Ordering::Relaxed).checked_sub(1)?;
    // It may have given the lock back before.
    let is_lost = has_died(holder) && word.load(Ordering::Relaxed) == holder + 1;
    is_lost.then_some(holder)
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::sync::UnsafeCell;
    use loom::sync::{Arc, Notify};
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 2;
    const LOCKS: usize = 2;
    const MOST: usize = 3;

    struct Shared {
        words: [AtomicU32; LOCKS],
        data: [UnsafeCell<u32>; LOCKS],
        /// By process.
        died: [AtomicU32; MOST],
        futexes: [Notify; MOST],
        /// Whether waiters sleep until something changes, or look again and again.
        sleeps: bool,
    }

    // SAFETY: that `data` is accessed under the locks is what the models check.
    unsafe impl Sync for Shared {}

    impl Shared {
        fn take(&self, me: u32, lock: usize) -> Result<(), u32> {
            let mut has_asked = false;
            let pause = || {
                match self.sleeps {
                    // Loom reports a sleeper that nobody wakes.
                    true if has_asked => self.futexes[me as usize].wait(),
                    true => has_asked = true,
                    false => thread::yield_now(),
                }
                true
            };
            take(&self.words[lock], me, pause, |it| self.has_died(it))
        }

        fn has_died(&self, process: u32) -> bool {
            self.died[process as usize].load(Ordering::Acquire) != 0
        }

        /// Whether the first process has died with a lock.
        fn is_lost(&self, lock: usize) -> bool {
            lost_holder(&self.words[lock], |it| self.has_died(it)) == Some(0)
        }

        fn give_back(&self, me: u32, lock: usize) {
            give_back(&self.words[lock]);
            self.wake_others(me);
        }

        fn wake_others(&self, me: u32) {
            for (process, futex) in self.futexes.iter().enumerate() {
                if self.sleeps && process != me as usize {
                    futex.notify();
                }
            }
        }

        fn add(&self, lock: usize) {
            // SAFETY: as above; loom reports accesses at the same time.
            self.data[lock].with_mut(|data| unsafe { *data += 1 });
        }

        fn sum(&self, lock: usize) -> u32 {
            // SAFETY: as above.
            self.data[lock].with(|data| unsafe { *data })
        }

        fn die(&self, me: u32) {
            self.died[me as usize].store(1, Ordering::Release);
            self.wake_others(me);
        }

        /// Adds under several locks, all held at once.
        fn adds(&self, me: u32, locks: &[usize]) -> Result<(), u32> {
            for (at, lock) in locks.iter().enumerate() {
                if let Err(holder) = self.take(me, *lock) {
                    for held in &locks[..at] {
                        self.give_back(me, *held);
                    }
                    return Err(holder);
                }
            }
            for lock in locks {
                self.add(*lock);
            }
            for lock in locks {
                self.give_back(me, *lock);
            }
            Ok(())
        }
    }

    /// Runs what each process does, then looks at the end. Two look again and again, more sleep.
    fn explore(
        processes: &'static [fn(&Shared, u32)],
        at_end: impl Fn(&Shared) + Send + Sync + 'static,
    ) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(if processes.len() > 2 { 1 } else { CHANGES });
        builder.check(move || {
            let shared = Arc::new(Shared {
                words: std::array::from_fn(|_| AtomicU32::new(0)),
                data: std::array::from_fn(|_| UnsafeCell::new(0)),
                died: std::array::from_fn(|_| AtomicU32::new(0)),
                futexes: std::array::from_fn(|_| Notify::new()),
                sleeps: processes.len() > 2,
            });
            let threads: Vec<_> = (1..processes.len())
                .map(|me| {
                    let shared = shared.clone();
                    thread::spawn(move || processes[me](&shared, me as u32))
                })
                .collect();
            processes[0](&shared, 0);
            for thread in threads {
                thread.join().unwrap();
            }
            at_end(&shared);
        });
    }

    fn adds_twice(shared: &Shared, me: u32) {
        shared.adds(me, &[0]).unwrap();
        shared.adds(me, &[0]).unwrap();
    }

    fn adds_once(shared: &Shared, me: u32) {
        shared.adds(me, &[0]).unwrap();
    }

    fn adds_to_both(shared: &Shared, me: u32) {
        shared.adds(me, &[0, 1]).unwrap();
    }

    fn adds_to_the_second(shared: &Shared, me: u32) {
        shared.adds(me, &[1]).unwrap();
    }

    fn dies_with_the_lock(shared: &Shared, me: u32) {
        shared.take(me, 0).unwrap();
        shared.add(0);
        shared.die(me);
    }

    fn dies_with_the_second(shared: &Shared, me: u32) {
        shared.take(me, 1).unwrap();
        shared.die(me);
    }

    fn gives_back_and_dies(shared: &Shared, me: u32) {
        shared.adds(me, &[0]).unwrap();
        shared.die(me);
    }

    /// Either the lock before the one that dies with it, or an error that names that one.
    fn adds_or_is_told(shared: &Shared, me: u32) {
        assert!(matches!(shared.adds(me, &[0]), Ok(()) | Err(0)));
    }

    fn adds_to_both_or_is_told(shared: &Shared, me: u32) {
        assert!(matches!(shared.adds(me, &[0, 1]), Ok(()) | Err(0)));
    }

    fn sums(first: u32, second: u32) -> impl Fn(&Shared) + Send + Sync + 'static {
        move |shared| {
            assert_eq!([shared.sum(0), shared.sum(1)], [first, second]);
            assert!(shared.words.iter().all(|word| try_take(word, 0)));
        }
    }

    #[test]
    fn a_holder_is_alone() {
        explore(&[adds_twice, adds_twice], sums(4, 0));
        explore(&[adds_once, adds_once, adds_once], sums(3, 0));
    }

    #[test]
    fn locks_in_ascending_order_do_not_deadlock() {
        explore(&[adds_to_both, adds_to_both], sums(2, 2));
        explore(
            &[adds_to_both, adds_to_both, adds_to_the_second],
            sums(2, 3),
        );
    }

    #[test]
    fn who_waits_for_a_dead_holder_is_told() {
        let is_its = |shared: &Shared| assert!(shared.is_lost(0));
        explore(&[dies_with_the_lock, adds_or_is_told], is_its);
        explore(
            &[dies_with_the_lock, adds_or_is_told, adds_or_is_told],
            is_its,
        );
    }

    /// The locks that a process has when it is told of another one's death are free for others.
    #[test]
    fn who_is_told_gives_back_its_other_locks() {
        explore(
            &[dies_with_the_second, adds_to_both_or_is_told, adds_once],
            |shared| {
                assert!(try_take(&shared.words[0], 2));
                assert!(shared.is_lost(1));
            },
        );
    }

    #[test]
    fn a_lock_that_was_given_back_before_is_free() {
        explore(&[gives_back_and_dies, adds_once], sums(2, 0));
        explore(&[gives_back_and_dies, adds_once, adds_once], sums(3, 0));
    }
}
