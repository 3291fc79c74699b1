//! Models for loom: every interleaving of the ring and the event count, within loom's bounds: `make check-loom`.
use super::bulk_ring;
use super::channel::{Receiver, Sender};
use super::eventcount::EventCount;
use super::ring::{self, Claim, Consumer, Producer, Ring, SlotHeader, fresh};
use crate::sync::{AtomicU32, Ordering, fence};
use loom::sync::Notify;
use loom::thread;
use std::sync::Arc;

/// What the ranks of a model sleep on, each by its number.
pub struct Sleepers {
    all: Vec<(EventCount, Notify)>,
    /// Whether waiters sleep, or look again and again: three that do that get loom nowhere.
    sleeps: bool,
}

impl Sleepers {
    pub fn new(ranks: usize, sleeps: bool) -> Sleepers {
        let new = |_| (EventCount::new(), Notify::new());
        Sleepers {
            all: (0..ranks).map(new).collect(),
            sleeps,
        }
    }

    /// Returns what `looks` gives, at some time.
    pub fn wait<T>(&self, rank: usize, mut looks: impl FnMut() -> Option<T>) -> T {
        let (notifier, futex) = &self.all[rank];
        loop {
            if let Some(found) = looks() {
                return found;
            }
            if !self.sleeps {
                thread::yield_now();
                continue;
            }
            notifier.announce();
            fence(Ordering::SeqCst);
            let found = looks();
            if found.is_none() {
                // Loom reports a sleeper that nobody wakes.
                futex.wait();
            }
            notifier.leave();
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// The half of whoever wakes. Loom has no fence for all cores, so both are full ones; there is none where nobody sleeps, for it would
    /// order what the library does not.
    pub fn light_fence(&self) {
        if self.sleeps {
            fence(Ordering::SeqCst);
        }
    }

    /// Wakes a rank if it sleeps, after a fence.
    pub fn wake(&self, rank: usize) {
        let (notifier, futex) = &self.all[rank];
        if self.sleeps && notifier.has_sleepers() {
            futex.notify();
        }
    }

    pub fn wake_all(&self) {
        (0..self.all.len()).for_each(|rank| self.wake(rank));
    }
}

fn ends(slots: usize) -> (Producer<'static>, Consumer<'static>) {
    let (control, slots) = fresh(slots);
    ring::ends(Box::leak(control), slots.leak())
}

fn shared(slots: usize) -> (Ring<'static>, Consumer<'static>) {
    let (control, slots) = fresh(slots);
    ring::shared(Box::leak(control), slots.leak())
}

fn push(producer: &mut Producer<'_>, tag: i32, length: u16) -> bool {
    let header = SlotHeader {
        tag,
        length,
        ..SlotHeader::default()
    };
    producer.push(&header, |_, piece| piece.fill(tag as u8))
}

#[test]
fn one_producer_and_the_consumer() {
    loom::model(|| {
        let (mut producer, mut consumer) = ends(4);
        let sender = thread::spawn(move || {
            for tag in 1..=3 {
                // The second packet has a continuation slot.
                while !push(&mut producer, tag, if tag == 2 { 20 } else { 8 }) {
                    thread::yield_now();
                }
            }
        });
        for tag in 1..=3 {
            let header = loop {
                match consumer.peek() {
                    Some(header) => break header,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(header.tag, tag);
            consumer.payload(header.length as usize, |_, piece| {
                assert!(piece.iter().all(|byte| i32::from(*byte) == tag));
            });
            consumer.advance(header.length as usize);
        }
        sender.join().unwrap();
    });
}

#[test]
fn two_producers_share_a_ring() {
    loom::model(|| {
        let (ring, mut consumer) = shared(4);
        let senders: Vec<_> = [10, 20]
            .map(|tag| {
                let mut producer = ring.producer(Box::leak(Box::new(Claim::fresh())), 0);
                thread::spawn(move || assert!(push(&mut producer, tag, 8)))
            })
            .into();
        let mut sum = 0;
        for _ in 0..2 {
            let header = loop {
                match consumer.peek() {
                    Some(header) => break header,
                    None => thread::yield_now(),
                }
            };
            consumer.payload(8, |_, piece| assert_eq!(i32::from(piece[0]), header.tag));
            consumer.advance(8);
            sum += header.tag;
        }
        assert_eq!(sum, 30);
        for sender in senders {
            sender.join().unwrap();
        }
    });
}

/// One producer dies at any step up to its commit. What the other one sends comes, and nothing is taken for a packet that is none.
#[test]
fn a_producer_may_die_before_its_commit() {
    for dies_after_claim in [false, true] {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let (ring, mut consumer) = shared(8);
            let claims: &'static [Claim; 2] = Box::leak(Box::new([Claim::fresh(), Claim::fresh()]));
            let dead = Arc::new(AtomicU32::new(0));
            let (mut dies, is_dead) = (ring.producer(&claims[0], 5), dead.clone());
            let first = thread::spawn(move || {
                match dies_after_claim {
                    true => assert!(dies.leave_open(2)),
                    false => dies.tells(2),
                }
                is_dead.store(1, Ordering::Release);
            });
            let mut lives = ring.producer(&claims[1], 5);
            let second = thread::spawn(move || assert!(push(&mut lives, 9, 8)));
            let header = loop {
                if let Some(header) = consumer.peek() {
                    break header;
                }
                let told = || {
                    let lives = dead.load(Ordering::Acquire) == 0;
                    vec![(claims[0].read(), lives), (claims[1].read(), true)]
                };
                if let Some(slots) = consumer.abandoned(5, told) {
                    assert_eq!(slots, 2);
                    consumer.pass_over(slots);
                }
                thread::yield_now();
            };
            assert_eq!(header.tag, 9);
            first.join().unwrap();
            second.join().unwrap();
        });
    }
}

#[test]
fn a_sleeper_never_misses_a_notification() {
    loom::model(|| {
        let shared = Arc::new((EventCount::new(), AtomicU32::new(0)));
        let other = shared.clone();
        let waker = thread::spawn(move || {
            other.1.store(1, Ordering::Release);
            // The sleeper's membarrier acts as a fence on this core too.
            fence(Ordering::SeqCst);
            if other.0.has_sleepers() {
                other.0.bump();
            }
        });
        let (event_count, message) = (&shared.0, &shared.1);
        let ticket = event_count.ticket();
        event_count.announce();
        fence(Ordering::SeqCst);
        if message.load(Ordering::Acquire) == 0 {
            // The futex: sleeps while the word is the ticket. Nobody would ever wake a sleeper that was missed.
            while event_count.word.load(Ordering::Acquire) == ticket {
                thread::yield_now();
            }
        }
        event_count.leave();
        assert_eq!(message.load(Ordering::Acquire), 1);
        waker.join().unwrap();
    });
}

/// A thread completes another's request while it has the engine's lock, and checks for sleepers there without any fence.
#[test]
fn who_completes_under_the_lock_wakes_the_sleeper() {
    loom::model(|| {
        let shared = Arc::new((EventCount::new(), loom::sync::Mutex::new(false)));
        let other = shared.clone();
        let helper = thread::spawn(move || {
            let mut done = other.1.lock().unwrap();
            *done = true;
            if other.0.has_sleepers() {
                other.0.bump();
            }
        });
        let (event_count, done) = (&shared.0, &shared.1);
        let ticket = event_count.ticket();
        event_count.announce();
        let seen = *done.lock().unwrap();
        if !seen {
            while event_count.word.load(Ordering::Acquire) == ticket {
                thread::yield_now();
            }
        }
        event_count.leave();
        assert!(*done.lock().unwrap());
        helper.join().unwrap();
    });
}

/// A thread takes a further engine into use while another goes to sleep for those that it knows: it sleeps for all, or not.
#[test]
fn nobody_sleeps_without_a_new_engine() {
    loom::model(|| {
        let shared = Arc::new((EventCount::new(), AtomicU32::new(0b01)));
        let other = shared.clone();
        let activator = thread::spawn(move || {
            other.1.fetch_or(0b10, Ordering::AcqRel);
            fence(Ordering::SeqCst);
            if other.0.has_sleepers() {
                other.0.bump();
            }
        });
        let (event_count, in_use) = (&shared.0, &shared.1);
        let all = in_use.load(Ordering::Acquire);
        let ticket = event_count.ticket();
        event_count.announce();
        fence(Ordering::SeqCst);
        if in_use.load(Ordering::Acquire) == all && all == 0b01 {
            while event_count.word.load(Ordering::Acquire) == ticket {
                thread::yield_now();
            }
        }
        event_count.leave();
        activator.join().unwrap();
    });
}

#[test]
fn a_producer_that_wants_space_is_told_of_room() {
    loom::model(|| {
        let (mut producer, mut consumer) = ends(4);
        let woken = Arc::new(AtomicU32::new(0));
        let told = woken.clone();
        for tag in 0..4 {
            assert!(push(&mut producer, tag, 8));
        }
        let reader = thread::spawn(move || {
            assert!(consumer.peek().is_some());
            if consumer.advance(8) {
                told.store(1, Ordering::Release);
            }
        });
        if !push(&mut producer, 4, 8) {
            producer.request_space();
            if !push(&mut producer, 4, 8) {
                while woken.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                assert!(push(&mut producer, 4, 8));
            }
        }
        reader.join().unwrap();
    });
}

#[test]
fn a_channel_goes_from_ring_to_bulk_ring_and_back() {
    loom::model(|| {
        let (ring_in, ring_out) = ends(2);
        let (control, slots) = bulk_ring::fresh(bulk_ring::LEAST_SLOTS);
        let (bulk_in, bulk_out) = bulk_ring::ends(Box::leak(control), slots.leak());
        let lengths = [200u16, 150, 8, 8];
        let writer = thread::spawn(move || {
            let mut sender = Sender::new(ring_in);
            sender.set_bulk_ring(bulk_in);
            for (tag, length) in (1..).zip(lengths) {
                let header = SlotHeader {
                    tag,
                    length,
                    ..SlotHeader::default()
                };
                while !sender.push(&header, |_, piece| piece.fill(tag as u8)) {
                    thread::yield_now();
                }
            }
        });
        let mut receiver = Receiver::new(ring_out);
        receiver.set_bulk_ring(bulk_out);
        for (tag, length) in (1..).zip(lengths) {
            let header = loop {
                match receiver.peek() {
                    Some(header) => break header,
                    None => thread::yield_now(),
                }
            };
            assert_eq!((header.tag, header.length), (tag, length));
            receiver.payload(&header, |_, piece| {
                assert!(piece.iter().all(|byte| i32::from(*byte) == tag));
            });
            receiver.advance(&header);
        }
        writer.join().unwrap();
    });
}
