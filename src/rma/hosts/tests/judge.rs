//! What all ranks of a job have done, past the library: who has which lock, and what operations on shared words have returned.

use crate::rma::epoch::LockType;
use std::collections::{BTreeMap, BTreeSet};

/// How often something was reached.
pub type Reached = BTreeMap<&'static str, u64>;

/// See the module.
#[derive(Default)]
pub struct Judge {
    pub reached: Reached,
    /// By target: who has it alone, and who shares it.
    exclusive: BTreeMap<usize, usize>,
    shared: BTreeMap<usize, BTreeSet<usize>>,
    /// By target: what the counter was and how much was added, as each origin got it.
    fetched: BTreeMap<(usize, u64), u64>,
    /// By target: swaps that have succeeded, from one value to the next.
    swapped: BTreeMap<(usize, u64), u64>,
    /// By target: how often the pair was counted up at least, and at most.
    pub pairs_done: BTreeMap<usize, u64>,
    pub pairs_begun: BTreeMap<usize, u64>,
}

impl Judge {
    pub fn note(&mut self, what: &'static str) {
        *self.reached.entry(what).or_default() += 1;
    }

    /// A lock was granted.
    pub fn locked(&mut self, me: usize, target: usize, kind: LockType) {
        let holder = self.exclusive.get(&target);
        assert_eq!(holder, None, "rank {me} gets the lock of {target}, too");
        let sharers = self.shared.entry(target).or_default();
        match kind {
            LockType::Shared => assert!(sharers.insert(me)),
            LockType::Exclusive => {
                assert!(
                    sharers.is_empty(),
                    "rank {me} gets {target} besides {sharers:?}"
                );
                self.exclusive.insert(target, me);
            }
        }
    }

    /// A lock is about to be given back.
    pub fn unlocks(&mut self, me: usize, target: usize) {
        if self.exclusive.get(&target) == Some(&me) {
            self.exclusive.remove(&target);
            return;
        }
        let sharers = self.shared.entry(target).or_default();
        assert!(sharers.remove(&me));
    }

    /// A counter had this value before something was added.
    pub fn fetched(&mut self, target: usize, old: u64, added: u64) {
        let before = self.fetched.insert((target, old), added);
        assert_eq!(before, None, "two have found {old} at {target}");
    }

    /// A swap has found a value and replaced it. New values are never used again.
    pub fn swapped(&mut self, target: usize, old: u64, new: u64) {
        let before = self.swapped.insert((target, old), new);
        assert_eq!(before, None, "two have replaced {old} at {target}");
    }

    /// Compares the last value of a target's counter with the operations that were told; `all`: there were no others.
    pub fn check_counter(&self, target: usize, last: u64, all: bool) {
        let mut sum = 0;
        for ((_, old), added) in self.fetched.range((target, 0)..=(target, u64::MAX)) {
            assert!(
                if all { *old == sum } else { *old >= sum },
                "{old} and {sum}"
            );
            sum = old + added;
        }
        assert!(
            if all { last == sum } else { last >= sum },
            "{last} and {sum}"
        );
    }

    /// As [`Judge::check_counter`], of the word that is swapped.
    pub fn check_swaps(&self, target: usize, last: u64, all: bool) {
        if !all {
            return;
        }
        let (mut value, mut steps) = (0, 0);
        while let Some(next) = self.swapped.get(&(target, value)) {
            (value, steps) = (*next, steps + 1);
        }
        let told = self.swapped.range((target, 0)..=(target, u64::MAX)).count();
        assert_eq!((value, steps), (last, told));
    }
}
