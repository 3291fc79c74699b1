//! Posts and completions in memory that processes share: what MPI_Win_post, MPI_Win_start, MPI_Win_complete and MPI_Win_wait tell each other.
//!
//! ```text
//! target    post: set its bit at each origin                   wait until completed reaches the origins; take them off
//! origin    start: wait for the bit; clear it    access        complete: completed += 1
//! ```
//!
//! One bit for a pair is enough: a target posts again only after its wait, which needs the origin's complete, which has cleared the bit.
//! Invariant: what a target has stored before its post is seen by an origin that has found it, and what an origin has stored before its
//! complete is seen by the target after its wait. What is waited for is changed before a full fence, after which whoever changed it looks
//! for the waiter (models below, for loom).

use crate::sync::{AtomicU64, Ordering, fence_after_update};

/// The bit of a target among the posts to an origin.
#[derive(Clone, Copy)]
pub struct Post<'a> {
    word: &'a AtomicU64,
    bit: u64,
}

impl<'a> Post<'a> {
    /// `words` are the origin's.
    #[inline(always)]
    pub fn of(words: &'a [AtomicU64], target: usize) -> Self {
        Self {
            word: &words[target / 64],
            bit: 1 << (target % 64),
        }
    }

    /// Posts, before a full fence; the target's part.
    #[inline(always)]
    pub fn tell(&self) {
        self.word.fetch_or(self.bit, Ordering::SeqCst);
        fence_after_update();
    }

    /// Consumes the post, if it is there; the origin's part.
    #[inline(always)]
    pub fn take(&self) -> bool {
        // Acquire: pairs with `tell`; what the target has stored before can be read.
        let is_there = self.word.load(Ordering::Acquire) & self.bit != 0;
        if is_there {
            self.word.fetch_and(!self.bit, Ordering::Relaxed);
        }
        is_there
    }
}

/// Completions of origins that a target has not waited for yet.
#[derive(Clone, Copy)]
pub struct Completions<'a>(pub &'a AtomicU64);

impl Completions<'_> {
    /// Completes, before a full fence; an origin's part.
    #[inline(always)]
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        fence_after_update();
    }

    /// Consumes those of so many origins, if all are there; the target's part.
    #[inline(always)]
    pub fn take(&self, origins: u64) -> bool {
        let are_there = self.count() >= origins;
        if are_there {
            self.0.fetch_sub(origins, Ordering::Relaxed);
        }
        are_there
    }

    #[inline(always)]
    pub fn count(&self) -> u64 {
        // Acquire: pairs with `add`; what the origins have put is there.
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::queue::models::Sleepers;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 2;
    const RANKS: usize = 3;

    struct Shared {
        posts: [[AtomicU64; 1]; RANKS],
        completed: [AtomicU64; RANKS],
        sleepers: Sleepers,
        /// What each rank puts at each target.
        data: [[UnsafeCell<u32>; RANKS]; RANKS],
    }

    // SAFETY: that `data` is accessed as the epochs allow is what the models check.
    unsafe impl Sync for Shared {}

    /// A rank of the model.
    struct Rank<'a>(&'a Shared, usize);

    impl Rank<'_> {
        fn wait(&self, mut holds: impl FnMut() -> bool) {
            self.0.sleepers.wait(self.1, || holds().then_some(()));
        }

        fn post(&self, origins: &[usize]) {
            for origin in origins {
                Post::of(&self.0.posts[*origin], self.1).tell();
                self.0.sleepers.wake(*origin);
            }
        }

        /// As MPI_Win_wait; each origin has put its number of the epoch.
        fn expose(&self, origins: &[usize], epoch: u32) {
            self.post(origins);
            let completions = Completions(&self.0.completed[self.1]);
            self.wait(|| completions.take(origins.len() as u64));
            for origin in origins {
                let data = &self.0.data[self.1][*origin];
                // SAFETY: as above; loom reports accesses at the same time.
                data.with_mut(|data| unsafe {
                    assert_eq!(*data, epoch);
                    *data = 0;
                });
            }
        }

        /// From MPI_Win_start to MPI_Win_complete: finds what the target has left, and puts.
        fn access(&self, targets: &[usize], epoch: u32) {
            let post = |target: usize| Post::of(&self.0.posts[self.1], target);
            let at_start: Vec<bool> = targets.iter().map(|it| post(*it).take()).collect();
            for (target, is_there) in targets.iter().zip(at_start) {
                if !is_there {
                    self.wait(|| post(*target).take());
                }
                let data = &self.0.data[*target][self.1];
                // SAFETY: as above.
                data.with_mut(|data| unsafe {
                    assert_eq!(*data, 0);
                    *data = epoch;
                });
            }
            for target in targets {
                Completions(&self.0.completed[*target]).add();
                self.0.sleepers.wake(*target);
            }
        }
    }

    /// Runs what each rank does.
    fn explore(ranks: &[fn(&Rank<'_>)], sleeps: bool) {
        let ranks = ranks.to_vec();
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(if ranks.len() > 2 { 1 } else { CHANGES });
        builder.check(move || {
            let cells = || std::array::from_fn(|_| UnsafeCell::new(0));
            let shared = Arc::new(Shared {
                posts: std::array::from_fn(|_| [AtomicU64::new(0)]),
                completed: std::array::from_fn(|_| AtomicU64::new(0)),
                sleepers: Sleepers::new(RANKS, sleeps),
                data: std::array::from_fn(|_| cells()),
            });
            let threads: Vec<_> = (1..ranks.len())
                .map(|rank| {
                    let (shared, body) = (shared.clone(), ranks[rank]);
                    thread::spawn(move || body(&Rank(&shared, rank)))
                })
                .collect();
            ranks[0](&Rank(&shared, 0));
            for thread in threads {
                thread.join().unwrap();
            }
            let words = shared.posts.iter().flatten().chain(&shared.completed);
            assert!(
                words
                    .into_iter()
                    .all(|word| word.load(Ordering::Relaxed) == 0)
            );
        });
    }

    fn exposed_twice_to_one(rank: &Rank<'_>) {
        rank.expose(&[1], 1);
        rank.expose(&[1], 2);
    }

    fn exposed_twice_to_two(rank: &Rank<'_>) {
        rank.expose(&[1, 2], 1);
        rank.expose(&[1, 2], 2);
    }

    fn exposed_to_one_of_two(rank: &Rank<'_>) {
        rank.expose(&[1], 1);
        rank.expose(&[2], 1);
    }

    fn accesses_the_first_twice(rank: &Rank<'_>) {
        rank.access(&[0], 1);
        rank.access(&[0], 2);
    }

    fn accesses_the_first_once(rank: &Rank<'_>) {
        rank.access(&[0], 1);
    }

    fn accesses_two(rank: &Rank<'_>) {
        rank.access(&[0, 1], 1);
        rank.access(&[0, 1], 2);
    }

    fn exposed_twice_to_the_last(rank: &Rank<'_>) {
        rank.expose(&[2], 1);
        rank.expose(&[2], 2);
    }

    /// Origin and target of the other at once, as halos are exchanged.
    fn both(rank: &Rank<'_>) {
        let other = 1 - rank.1;
        for epoch in 1..=2 {
            rank.post(&[other]);
            rank.access(&[other], epoch);
            let completions = Completions(&rank.0.completed[rank.1]);
            rank.wait(|| completions.take(1));
            // SAFETY: as above.
            rank.0.data[rank.1][other].with_mut(|data| unsafe {
                assert_eq!(*data, epoch);
                *data = 0;
            });
        }
    }

    #[test]
    fn epochs_of_a_pair_follow_each_other() {
        for sleeps in [false, true] {
            explore(&[exposed_twice_to_one, accesses_the_first_twice], sleeps);
            explore(&[both, both], sleeps);
        }
    }

    #[test]
    fn a_target_waits_for_both_origins() {
        let origin = accesses_the_first_twice;
        explore(&[exposed_twice_to_two, origin, origin], true);
    }

    #[test]
    fn origins_of_one_epoch_each() {
        let origin = accesses_the_first_once;
        explore(&[exposed_to_one_of_two, origin, origin], true);
    }

    /// The posts of both are bits of one word.
    #[test]
    fn an_origin_has_two_targets() {
        let target = exposed_twice_to_the_last;
        explore(&[target, target, accesses_two], true);
    }
}
