//! Models for loom: `make check-loom`. They fail, as they should, where
//!
//! - the outcome is made of contributions that were read before the loss was;
//! - `contribute` stores the number before the acknowledged members, or `flag_of` reads it relaxed;
//! - each member has one place instead of two;
//! - `contribute` has no fence: two members that sleep wait for each other.

use super::*;
use crate::queue::models::Sleepers;
use crate::sync::{AtomicU32, fence};
use loom::sync::Arc;
use loom::thread;
use std::sync::Mutex;

/// What the members of a model share.
struct Shared {
    words: Vec<AtomicU64>,
    died: Vec<AtomicU32>,
    sleepers: Sleepers,
    /// The outcome of each agreement, from whoever had it first. No part of the model.
    outcomes: Mutex<Vec<Option<Outcome>>>,
}

struct Member<'a>(&'a Shared, usize);

impl Member<'_> {
    fn desk(&self) -> Desk<'_> {
        Desk::new(&self.0.words, self.0.died.len())
    }

    /// Contributes; each member has a bit, which its flag lacks in odd agreements, and has acknowledged the last member in even ones.
    fn contribute(&self, number: u32) {
        let last = self.0.died.len() - 1;
        let flag = if number % 2 == 1 { !(1 << self.1) } else { !0 };
        self.desk().contribute(self.1, number, flag, |other| {
            other == last && number % 2 == 0
        });
    }

    /// Agrees, and checks that all have the same outcome.
    fn agree(&self, number: u32) -> Outcome {
        self.contribute(number);
        let is_lost = |member: usize| self.0.died[member].load(Ordering::Acquire) != 0;
        let mut seen = 0;
        let mut look = || {
            let is_settled = self.desk().is_settled(number, &mut seen, is_lost);
            is_settled.then_some(())
        };
        match look() {
            // Those who sleep are woken by whoever contributes last.
            Some(()) => self.0.sleepers.wake_all(),
            None => self.0.sleepers.wait(self.1, look),
        }
        let outcome = self.desk().outcome(number, self.0.died.len());
        let mut outcomes = self.0.outcomes.lock().unwrap();
        let known = outcomes[number as usize].get_or_insert_with(|| outcome.clone());
        assert_eq!(*known, outcome);
        outcome
    }

    fn die(&self) {
        self.0.died[self.1].store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        self.0.sleepers.wake_all();
    }
}

/// Runs what each member does.
fn explore(members: usize, sleeps: bool, body: impl Fn(&Member<'_>) + Send + Sync + 'static) {
    let body = std::sync::Arc::new(body);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(if members > 2 { 1 } else { 2 });
    builder.check(move || {
        let shared = Arc::new(Shared {
            words: (0..words(members)).map(|_| AtomicU64::new(0)).collect(),
            died: (0..members).map(|_| AtomicU32::new(0)).collect(),
            sleepers: Sleepers::new(members, sleeps),
            outcomes: Mutex::new(vec![None; 5]),
        });
        let threads: Vec<_> = (1..members)
            .map(|member| {
                let (shared, body) = (shared.clone(), body.clone());
                thread::spawn(move || body(&Member(&shared, member)))
            })
            .collect();
        body(&Member(&shared, 0));
        threads.into_iter().for_each(|it| it.join().unwrap());
    });
}

#[test]
fn every_member_has_the_flags_of_all() {
    for sleeps in [false, true] {
        explore(2, sleeps, |member| {
            for number in 1..=4 {
                let flags = if number % 2 == 1 { !3 } else { !0 };
                let outcome = member.agree(number);
                assert_eq!(outcome.flags[0], flags);
                assert!(outcome.absent.is_empty() && outcome.is_acknowledged);
            }
        });
    }
    explore(3, true, |member| {
        assert_eq!(member.agree(1).flags[0], !7);
        assert_eq!(member.agree(2).flags[0], !0);
    });
}

/// The last member dies after so many agreements, in the next one behind its contribution or in front of it.
fn lose(members: usize, sleeps: bool, after: u32, contributes: bool) {
    explore(members, sleeps, move |member| {
        let dies = member.1 == members - 1;
        for number in 1..=after {
            assert!(member.agree(number).absent.is_empty());
        }
        if dies {
            if contributes {
                member.contribute(after + 1);
            }
            return member.die();
        }
        let outcome = member.agree(after + 1);
        // What it has contributed counts.
        assert_eq!(outcome.absent.is_empty(), contributes);
        if members == 2 || after == 0 {
            let outcome = member.agree(after + 2);
            assert_eq!(outcome.absent, [members - 1]);
            assert_eq!(outcome.is_acknowledged, after % 2 == 0);
        }
    });
}

#[test]
fn members_agree_on_who_has_died() {
    for sleeps in [false, true] {
        lose(2, sleeps, 0, false);
        lose(2, sleeps, 2, false);
    }
    lose(3, true, 0, false);
    lose(3, true, 1, false);
}

#[test]
fn a_contribution_of_the_dead_counts_for_all() {
    for sleeps in [false, true] {
        lose(2, sleeps, 0, true);
        lose(2, sleeps, 1, true);
    }
    lose(3, true, 0, true);
    lose(3, true, 1, true);
}
