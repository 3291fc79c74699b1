//! Models for loom: threads that use objects in calls, and one that ends an object when it has heard of the use.
//!
//! Changes of the protocol that a model has been seen to catch: Relaxed in [`Thread::advance`], in [`GracePeriod::is_over`] or in
//! [`Threads::calls`]; no look at births, or one that is off by one; a call in another one that keeps the births of that; an end of a thread
//! that does not advance the epoch, or advances it outside of calls; an index that does not follow; a grace period that ends with its first
//! call; a communicator that is freed in a callback of a call that uses it, or whose grace period has the call that frees it.

use super::*;
use crate::sync::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// What loom gets through in seconds.
const CHANGES: usize = 3;
const CHANGES_OF_THREE: usize = 2;

/// A flag of the program's or a message.
struct News(AtomicU32);

impl News {
    fn tell(&self) {
        self.0.store(1, Ordering::Release);
    }

    fn is_told(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    fn wait(&self) {
        while !self.is_told() {
            thread::yield_now();
        }
    }
}

/// An object, with news of its uses.
struct Object {
    born: u64,
    memory: UnsafeCell<u32>,
    news: [News; 2],
}

// SAFETY: that nobody uses an object when it is ended is what the models check.
#[allow(unsafe_code)]
unsafe impl Sync for Object {}

impl Object {
    fn is_used(&self) {
        // SAFETY: as above; loom reports accesses at the same time.
        #[allow(unsafe_code)]
        let is_there = self.memory.with(|memory| unsafe { *memory } == 0);
        assert!(is_there);
    }

    fn ends(&self) {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        self.memory.with_mut(|memory| unsafe { *memory = 1 });
    }
}

struct Shared {
    threads: Threads,
    births: AtomicU64,
    /// The first two were made before the program's threads began.
    objects: [Object; 3],
    /// Where one thread is.
    news: [News; 2],
}

const MADE: u64 = 2;

fn news() -> News {
    News(AtomicU32::new(0))
}

impl Shared {
    fn new() -> Shared {
        Shared {
            threads: Threads::empty(),
            births: AtomicU64::new(MADE),
            objects: [0, 1, MADE].map(|born| Object {
                born,
                memory: UnsafeCell::new(0),
                news: [news(), news()],
            }),
            news: [news(), news()],
        }
    }

    fn births(&self) -> Births {
        let made = self.births.load(Ordering::Acquire);
        Births {
            datatypes: made,
            communicators: made,
        }
    }

    fn pin(&self, own: &Thread) {
        own.call(true, || self.births());
    }

    fn unpin(&self, own: &Thread) {
        own.call(false, || self.births());
    }

    /// In a call: uses an object, tells of it, and goes on using it.
    fn uses(&self, object: usize, news: usize) {
        let object = &self.objects[object];
        object.is_used();
        object.news[news].tell();
        object.is_used();
    }

    /// A thread with a call that uses an object, and one that does not.
    fn calls(&self, object: usize, news: usize) {
        let own = self.threads.begin(false);
        self.pin(own);
        self.uses(object, news);
        self.unpin(own);
        self.pin(own);
        self.unpin(own);
        self.threads.end(own);
    }

    /// Ends a datatype that has been freed, when no call uses it.
    fn collects(&self, object: usize) {
        let object = &self.objects[object];
        let grace = self.threads.with_datatype(object.born);
        while !grace.is_over() {
            thread::yield_now();
        }
        object.ends();
    }
}

/// The program's first thread is the last of them.
fn explore<const THREADS: usize>(threads: [fn(&Shared); THREADS]) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(match THREADS {
        3.. => CHANGES_OF_THREE,
        _ => CHANGES,
    });
    builder.check(move || {
        let shared = Arc::new(Shared::new());
        let [others @ .., last] = &threads[..] else {
            return;
        };
        let others: Vec<_> = others
            .iter()
            .map(|runs| {
                let (shared, runs) = (shared.clone(), *runs);
                thread::spawn(move || runs(&shared))
            })
            .collect();
        last(&shared);
        others.into_iter().for_each(|it| it.join().unwrap());
        assert!(!shared.threads.in_callback());
        assert!(shared.threads.lists().live.is_empty());
    });
}

#[test]
fn an_object_stays_as_long_as_a_call_uses_it() {
    explore([
        |all| all.calls(0, 0),
        |all| {
            if all.objects[0].news[0].is_told() {
                all.collects(0);
            }
        },
    ]);
}

#[test]
fn an_object_stays_for_all_calls_that_use_it() {
    explore([
        |all| all.calls(0, 0),
        |all| all.calls(0, 1),
        |all| {
            if all.objects[0].news.iter().all(News::is_told) {
                all.collects(0);
            }
        },
    ]);
}

/// The call that frees it does not wait for itself, unless it is in a callback of another call.
#[test]
fn a_communicator_may_end_in_the_call_that_frees_it() {
    explore([
        |all| all.calls(0, 0),
        |all| {
            let own = all.threads.begin(false);
            all.pin(own);
            let object = &all.objects[0];
            if object.news[0].is_told() {
                let grace = all.threads.with_communicator(object.born, Some(own));
                while !grace.is_over() {
                    thread::yield_now();
                }
                object.ends();
            }
            all.pin(own);
            let in_another = all.threads.with_communicator(1, Some(own));
            all.unpin(own);
            assert!(!in_another.is_over());
            all.unpin(own);
            while !in_another.is_over() {
                thread::yield_now();
            }
            all.threads.end(own);
        },
    ]);
}

/// A call that began before an object was made cannot be using it, and may last.
#[test]
fn a_call_is_not_waited_for_by_what_was_made_later() {
    explore([
        |all| {
            let own = all.threads.begin(false);
            all.pin(own);
            all.news[0].tell();
            all.news[1].wait();
            all.unpin(own);
            all.threads.end(own);
        },
        |all| {
            all.news[0].wait();
            let born = all.births.fetch_add(1, Ordering::AcqRel);
            assert!(all.threads.with_datatype(born).is_over());
            assert!(all.threads.with_communicator(born, None).is_over());
            assert!(!all.threads.with_datatype(born - 1).is_over());
            assert!(!all.threads.with_communicator(born - 1, None).is_over());
            all.news[1].tell();
        },
    ]);
}

/// A callback of a call may use what was made since that began.
#[test]
fn a_call_in_a_callback_uses_what_is_new() {
    explore([
        |all| {
            let own = all.threads.begin(false);
            all.pin(own);
            all.news[0].tell();
            all.threads.begin_callback(own);
            all.news[1].wait();
            all.pin(own);
            all.uses(2, 0);
            all.unpin(own);
            // Still in the other call.
            all.objects[2].is_used();
            all.threads.end_callback(own);
            all.unpin(own);
            all.threads.end(own);
        },
        |all| {
            all.news[0].wait();
            let born = all.births.fetch_add(1, Ordering::AcqRel);
            assert_eq!(born, all.objects[2].born);
            all.news[1].tell();
            if all.objects[2].news[0].is_told() {
                all.collects(2);
            }
        },
    ]);
}

/// A thread ends in a callback of a call. The next one may have its words, and objects of its own.
#[test]
fn a_thread_may_end_in_a_call() {
    explore([
        |all| {
            let own = all.threads.begin(false);
            all.pin(own);
            all.threads.begin_callback(own);
            all.uses(0, 0);
            all.threads.end(own);
        },
        |all| all.calls(1, 0),
        |all| {
            for object in 0..2 {
                if all.objects[object].news[0].is_told() {
                    all.collects(object);
                }
            }
        },
    ]);
}

/// The words of an ended thread: calls of the next one are seen, and the others' words stay where they are looked for.
#[test]
fn a_new_thread_has_the_words_of_an_ended_one() {
    explore([
        |all| {
            let first = all.threads.begin(false);
            let second = all.threads.begin(false);
            all.pin(first);
            all.threads.end(first);
            let third = all.threads.begin(false);
            assert!(std::ptr::eq(third, first));
            all.pin(third);
            all.threads.end(second);
            all.uses(0, 0);
            all.unpin(third);
            all.threads.end(third);
        },
        |all| {
            if all.objects[0].news[0].is_told() {
                all.collects(0);
            }
        },
    ]);
}

/// A thread with nothing under way takes part in no grace period, ends without a new epoch, and its words serve the next.
#[test]
fn a_thread_may_end_outside_of_calls() {
    explore([
        |all| {
            let own = all.threads.begin(true);
            assert!(own.is_ending() && !own.is_busy());
            all.threads.end(own);
            all.calls(0, 0);
        },
        |all| {
            if all.objects[0].news[0].is_told() {
                all.collects(0);
            }
        },
    ]);
}

/// What the invariant asks of the library is needed: loom finds a call that tells of its use before it is pinned.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_call_that_tells_too_early_is_found() {
    explore([
        |all| {
            let own = all.threads.begin(false);
            all.objects[0].news[0].tell();
            all.pin(own);
            all.objects[0].is_used();
            all.unpin(own);
            all.threads.end(own);
        },
        |all| {
            if all.objects[0].news[0].is_told() {
                all.collects(0);
            }
        },
    ]);
}
