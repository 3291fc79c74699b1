//! A count of looks by one thread that others can read: whether it has looked again, from begin to end, since they read the count last.
//!
//! Invariant: a look that is [`whole`] between two readings has seen all that was stored before the first of them, as far as the reader had
//! seen that, directly or by a later store of whoever stored it (models below, for loom). What it does for others is seen by who sees its end.

use crate::sync::{AtomicU64, Ordering, fence};

/// See the module. Odd while there is a look.
#[derive(Default)]
#[repr(transparent)]
pub struct Looks(AtomicU64);

impl Looks {
    /// Begins a look. One that was left without an end begins once more: then the number stays.
    pub fn begin(&self) {
        let odd = self.0.load(Ordering::Relaxed) | 1;
        self.0.store(odd, Ordering::Relaxed);
        // SeqCst: pairs with `prepare`. Who reads the count without this look has read before what this look loads.
        fence(Ordering::SeqCst);
    }

    /// The look has found nothing.
    pub fn end(&self) {
        let odd = self.0.load(Ordering::Relaxed) | 1;
        self.0.store(odd + 1, Ordering::Release); // pairs with `read`
    }

    /// Another thread looks from now on.
    pub fn pass_on(&self) {
        let even = self.0.load(Ordering::Relaxed).next_multiple_of(2);
        self.0.store(even, Ordering::Relaxed);
    }

    /// To be called before counts are read: what the reader has seen so far is what looks have to see.
    pub fn prepare() {
        // SeqCst: pairs with `begin`.
        fence(Ordering::SeqCst);
    }

    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire) // pairs with `end`
    }
}

/// How many looks were begun and ended between two readings.
pub fn whole(before: u64, after: u64) -> u64 {
    (after / 2).saturating_sub(before.div_ceil(2))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_look_counts_if_it_began_and_ended_between_two_readings() {
        let looks = Looks::default();
        let before = looks.read();
        looks.begin();
        let within = looks.read();
        looks.end();
        let after = looks.read();
        assert_eq!(whole(before, within), 0);
        assert_eq!(whole(within, after), 0);
        assert_eq!(whole(before, after), 1);
        // One that moved something has no end.
        looks.begin();
        let left = looks.read();
        looks.begin();
        assert_eq!(
            (whole(after, looks.read()), whole(left, looks.read())),
            (0, 0)
        );
        looks.end();
        assert_eq!(
            (whole(after, looks.read()), whole(left, looks.read())),
            (1, 0)
        );
        looks.begin();
        looks.pass_on();
        assert_eq!(looks.read() % 2, 0);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// A rank that looks, one that sends it a message and waits then, and what both publish.
    #[derive(Default)]
    struct Shared {
        message: AtomicU64,
        looks: Looks,
        activity: [AtomicU64; 2],
    }

    /// `begin` and `prepare`, or what the model is to find wrong.
    fn explore(begin: fn(&Looks), prepare: fn()) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let shared = Arc::new(Shared::default());
            let sender = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.message.store(1, Ordering::Release);
                    // It waits from now on.
                    shared.activity[1].fetch_add(1, Ordering::AcqRel);
                })
            };
            let looker = {
                let shared = shared.clone();
                thread::spawn(move || {
                    for _ in 0..2 {
                        begin(&shared.looks);
                        if shared.message.load(Ordering::Acquire) != 0 {
                            shared.activity[0].fetch_add(1, Ordering::AcqRel);
                            return;
                        }
                        shared.looks.end();
                    }
                })
            };
            let activity = || {
                let of = |rank: usize| shared.activity[rank].load(Ordering::Acquire);
                [of(0), of(1)]
            };
            let first = activity();
            prepare();
            let before = shared.looks.read();
            let after = shared.looks.read();
            let is_proved = whole(before, after) > 0 && first[1] == 1 && activity() == first;
            assert!(!is_proved, "the message was there");
            sender.join().unwrap();
            looker.join().unwrap();
        });
    }

    #[test]
    fn a_message_that_was_sent_before_all_waited_is_found_by_a_whole_look() {
        explore(Looks::begin, Looks::prepare);
    }

    #[test]
    #[should_panic(expected = "the message was there")]
    fn the_look_must_fence() {
        let begin = |looks: &Looks| {
            let odd = looks.0.load(Ordering::Relaxed) | 1;
            looks.0.store(odd, Ordering::Relaxed);
        };
        explore(begin, Looks::prepare);
    }
}
