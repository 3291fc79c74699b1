//! The proof that nothing can move, from what sweeps over all ranks have found (`docs/verdict.md`).
//!
//! Invariant: no clock decides anything here. What is proved is that every wait has looked again, everywhere, after all ranks were seen to wait
//! at one time, and that nothing has moved in between, nor is under way.

use oxmpi::queue::looks::whole;
use serde::{Deserialize, Serialize};

/// A wait, as a sweep has found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    pub slot: u32,
    pub looks: u64,
    pub checks: u64,
}

/// Records over the fabric that a rank has sent, and that it has handled of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    pub sent: u64,
    pub handled: u64,
}

/// What a rank has sent and handled that has ended, and the other jobs that may have a part in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchanged {
    pub records: Records,
    pub jobs: Vec<u64>,
}

/// A rank all of whose threads that may call MPI wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passive {
    pub activity: u64,
    pub records: Records,
    /// The same by peer: what was sent to each rank of its job, and handled of each. `None`: some were exchanged with others, or nobody knows.
    pub pairs: Option<[Vec<u32>; 2]>,
    pub waits: Vec<Looks>,
    /// Processes one of which has to do something before this one can. `None`: any may be. As the page has them, until [`super::family`] has made
    /// numbers in the family of them.
    pub needs: Option<Vec<u32>>,
    /// Other jobs whose processes may end its waits, by their numbers on the page.
    pub jobs: Vec<u64>,
    /// Whether it waits in an operation that the death of a process that is not awaited may end.
    pub is_collective: bool,
    /// Processes that no sweep sees may end its waits, those that are not awaited by name.
    pub has_strangers: bool,
}

/// A rank, as a sweep has found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen {
    /// It may do something, or nobody knows.
    Open,
    /// It has ended, and the others can know that.
    Gone(Records),
    /// As `Gone`, if all jobs that it has met are seen; which [`super::family`] knows.
    Met(Exchanged),
    Passive(Passive),
    /// Whatever it does, nothing depends on it.
    Apart,
}

impl Records {
    pub fn and(self, other: Records) -> Records {
        Records {
            sent: self.sent.wrapping_add(other.sent),
            handled: self.handled.wrapping_add(other.handled),
        }
    }
}

impl Seen {
    fn records(&self) -> Records {
        match self {
            Seen::Gone(records) => *records,
            Seen::Passive(passive) => passive.records,
            Seen::Open | Seen::Met(_) | Seen::Apart => Records::default(),
        }
    }
}

impl Passive {
    /// Whether nothing has moved between two sweeps.
    pub fn is_still(&self, now: &Passive) -> bool {
        self.activity == now.activity && self.has_same_waits(now)
    }

    /// Whether the counts by peer, in a job of so many ranks, are those of all records.
    pub fn are_pairs_whole(&self, ranks: usize) -> bool {
        let totals = [self.records.sent, self.records.handled];
        let is_whole = |(counts, total): (&Vec<u32>, u64)| {
            let sum = counts
                .iter()
                .fold(0, |sum: u32, count| sum.wrapping_add(*count));
            counts.len() <= ranks && sum == total as u32
        };
        let pairs = self.pairs.as_ref();
        pairs.is_some_and(|pairs| pairs.iter().zip(totals).all(is_whole))
    }

    /// Records that it has exchanged with the ranks of a set, by number; none if that is not known.
    pub fn records_within(&self, set: &[bool]) -> Records {
        let [sent, handled] = match &self.pairs {
            Some(pairs) => pairs.each_ref().map(|counts| {
                let counts = counts.iter().zip(set).filter(|(_, is_in)| **is_in);
                counts.map(|(count, _)| u64::from(*count)).sum()
            }),
            None => [0, 0],
        };
        Records { sent, handled }
    }

    fn has_same_waits(&self, now: &Passive) -> bool {
        let slots = |passive: &Passive| -> Vec<u32> {
            let waits = passive.waits.iter();
            waits.map(|wait| wait.slot).collect()
        };
        slots(self) == slots(now)
    }
}

/// What a proof takes. The model tries with less, and must find each of them needed.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Whole looks of each wait.
    pub looks: u64,
    /// Whole liveness checks of each wait.
    pub checks: u64,
    /// Whether looks are counted from the second sweep on, and not from the first.
    pub second: bool,
    /// Whether a look counts only if it began and ended in between.
    pub are_whole: bool,
    /// Whether activity is compared.
    pub activity: bool,
    /// Whether all records that were sent must have been handled.
    pub records: bool,
    /// Whether sweeps must see all processes that may end waits.
    pub strangers: bool,
}

pub const RULES: Rules = Rules {
    looks: 1,
    checks: 2,
    second: true,
    are_whole: true,
    activity: true,
    records: true,
    strangers: true,
};

/// What the next sweep of a proof is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Whether all wait.
    Begin,
    /// Whether nothing has moved since, and what looks are counted from.
    Again,
    /// Whether each wait has looked since.
    Looks,
}

/// The sweeps so far.
pub struct Proof {
    rules: Rules,
    /// The first sweep that found what all since then have found.
    first: Option<Vec<Seen>>,
    /// The sweep from which on looks are counted.
    second: Option<Vec<Seen>>,
}

impl Default for Proof {
    fn default() -> Proof {
        Proof::by(RULES)
    }
}

impl Proof {
    pub fn by(rules: Rules) -> Proof {
        Proof {
            rules,
            first: None,
            second: None,
        }
    }

    /// Whether all waited in the last sweep.
    pub fn has_begun(&self) -> bool {
        self.next() != Next::Begin
    }

    /// What the next sweep is for.
    pub fn next(&self) -> Next {
        match (&self.first, &self.second) {
            (None, _) => Next::Begin,
            (Some(_), None) => Next::Again,
            (Some(_), Some(_)) => Next::Looks,
        }
    }

    /// Begins anew.
    pub fn forget(&mut self) {
        (self.first, self.second) = (None, None);
    }

    /// The next sweep. True: nothing can move any more, proved.
    pub fn sweep(&mut self, all: &[Seen]) -> bool {
        let may_move = |seen: &Seen| match seen {
            Seen::Open | Seen::Met(_) => true,
            Seen::Passive(passive) => passive.has_strangers && self.rules.strangers,
            Seen::Gone(_) | Seen::Apart => false,
        };
        if all.is_empty() || all.iter().any(may_move) {
            self.forget();
            return false;
        }
        // The job is over, or about to be.
        if all.iter().all(|rank| matches!(rank, Seen::Gone(_))) {
            return false;
        }
        let is_same = |before: &Vec<Seen>| self.are_same(before, all);
        if !self.first.as_ref().is_some_and(is_same) {
            self.first = Some(all.to_vec());
            self.second = (!self.rules.second).then(|| all.to_vec());
            return false;
        }
        match &self.second {
            Some(before) => self.have_looked(before, all) && self.are_handled(all),
            None => {
                self.second = Some(all.to_vec());
                false
            }
        }
    }

    /// Whether nothing has moved between two sweeps.
    fn are_same(&self, before: &[Seen], now: &[Seen]) -> bool {
        let is_same = |(before, now): (&Seen, &Seen)| match (before, now) {
            (Seen::Gone(before), Seen::Gone(now)) => before == now,
            (Seen::Passive(before), Seen::Passive(now)) => {
                let is_still = match self.rules.activity {
                    true => before.is_still(now),
                    false => before.has_same_waits(now),
                };
                is_still && (before.records == now.records || !self.rules.records)
            }
            (Seen::Apart, Seen::Apart) => true,
            _ => false,
        };
        before.len() == now.len() && before.iter().zip(now).all(is_same)
    }

    /// Whether every wait has looked and checked in between.
    fn have_looked(&self, before: &[Seen], now: &[Seen]) -> bool {
        let rules = self.rules;
        let count = |before: u64, now: u64| match rules.are_whole {
            true => whole(before, now),
            false => now.saturating_sub(before),
        };
        let has_looked = |(before, now): (&Looks, &Looks)| {
            count(before.looks, now.looks) >= rules.looks
                && count(before.checks, now.checks) >= rules.checks
        };
        before.iter().zip(now).all(|pair| match pair {
            (Seen::Passive(before), Seen::Passive(now)) => {
                before.waits.iter().zip(&now.waits).all(has_looked)
            }
            _ => true,
        })
    }

    /// Whether no record is under way. Of each pair no more was handled than was sent, so equal sums say that of each pair all was.
    fn are_handled(&self, now: &[Seen]) -> bool {
        let sum = |count: fn(Records) -> u64| {
            now.iter()
                .fold(0, |sum: u64, rank| sum.wrapping_add(count(rank.records())))
        };
        !self.rules.records || sum(|records| records.sent) == sum(|records| records.handled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: Seen = Seen::Gone(Records {
        sent: 0,
        handled: 0,
    });

    fn passive(activity: u64, looks: u64, checks: u64) -> Seen {
        passive_after(activity, looks, checks, Records::default())
    }

    fn passive_after(activity: u64, looks: u64, checks: u64, records: Records) -> Seen {
        let slot = 0;
        Seen::Passive(Passive {
            activity,
            records,
            waits: vec![Looks {
                slot,
                looks,
                checks,
            }],
            ..Passive::default()
        })
    }

    fn prove(sweeps: &[[Seen; 2]]) -> Vec<bool> {
        let mut proof = Proof::default();
        sweeps.iter().map(|all| proof.sweep(all)).collect()
    }

    #[test]
    fn three_sweeps_with_looks_in_between_are_a_proof() {
        let at = |looks, checks| [passive(1, looks, checks), passive(5, looks, checks)];
        assert_eq!(prove(&[at(0, 0), at(0, 0), at(2, 4)]), [false, false, true]);
        // Looks before the second sweep are none.
        assert_eq!(
            prove(&[at(0, 0), at(2, 4), at(2, 4), at(3, 7), at(4, 8)]),
            [false, false, false, false, true]
        );
        // A check that had begun before is none either.
        assert_eq!(
            prove(&[at(0, 1), at(0, 1), at(8, 4), at(8, 6)]),
            [false, false, false, true]
        );
    }

    #[test]
    fn what_moves_begins_a_proof_anew() {
        let first = [passive(1, 0, 0), passive(5, 0, 0)];
        let moved = [passive(1, 9, 9), passive(6, 9, 9)];
        let later = [passive(1, 12, 14), passive(6, 12, 14)];
        let sweeps = [first.clone(), first.clone(), moved.clone(), moved, later];
        assert_eq!(prove(&sweeps), [false, false, false, false, true]);
        let open = [passive(1, 4, 4), Seen::Open];
        let after = [passive(1, 8, 8), passive(5, 8, 8)];
        assert_eq!(
            prove(&[first.clone(), first.clone(), open, after]),
            [false; 4]
        );
        let gone = [passive(1, 4, 4), GONE];
        assert_eq!(prove(&[first.clone(), first, gone]), [false; 3]);
    }

    #[test]
    fn who_has_ended_is_not_waited_for_but_a_job_that_has_ended_is_not_stuck() {
        let at = |looks| [passive(1, looks, looks), GONE];
        assert_eq!(prove(&[at(0), at(0), at(4)]), [false, false, true]);
        let over = || [GONE, GONE];
        assert_eq!(prove(&[over(), over(), over()]), [false; 3]);
        assert!(!Proof::default().sweep(&[]));
    }

    #[test]
    fn a_record_under_way_is_no_proof_nor_one_that_comes_between_sweeps() {
        let count = |sent, handled| Records { sent, handled };
        let at = |looks, first, second| {
            [
                passive_after(1, looks, looks, first),
                passive_after(5, looks, looks, second),
            ]
        };
        let run = |first, second| prove(&[0, 0, 4, 8].map(|looks| at(looks, first, second)));
        assert_eq!(
            run(count(3, 1), count(1, 3)),
            [false, false, true, true],
            "all are there"
        );
        assert_eq!(run(count(3, 1), count(1, 2)), [false; 4]);
        let comes = [
            at(0, count(3, 1), count(1, 2)),
            at(0, count(3, 1), count(1, 2)),
            at(4, count(3, 1), count(1, 3)),
            at(8, count(3, 1), count(1, 3)),
            at(12, count(3, 1), count(1, 3)),
        ];
        assert_eq!(prove(&comes), [false, false, false, false, true]);
        let left = |looks| {
            [
                passive_after(1, looks, looks, count(2, 0)),
                Seen::Gone(count(0, 2)),
            ]
        };
        assert_eq!(prove(&[left(0), left(0), left(4)]), [false, false, true]);
    }

    #[test]
    fn one_that_strangers_may_wake_is_no_proof() {
        let stranger = |looks| {
            let Seen::Passive(passive) = passive(5, looks, looks) else {
                return Seen::Open;
            };
            Seen::Passive(Passive {
                has_strangers: true,
                ..passive
            })
        };
        let at = |looks| [passive(1, looks, looks), stranger(looks)];
        assert_eq!(prove(&[at(0), at(0), at(4)]), [false; 3]);
    }

    #[test]
    fn who_is_apart_may_do_as_it_likes() {
        let at = |looks| [passive(1, looks, looks), Seen::Apart];
        assert_eq!(prove(&[at(0), at(0), at(4)]), [false, false, true]);
    }
}
