//! Ranks that are stuck although others go on: the largest set of ranks that wait, each of which needs one of the set (`docs/verdict.md`).
//!
//! Invariants: the proof is that of `proof.rs`, over these ranks alone; the clock only keeps it from being said too early, for the others may mean
//! to end the job.

use super::proof::{Passive, Proof, RULES, Records, Rules, Seen};
use std::time::{Duration, Instant};

/// For how long ranks have not moved before they can be called stuck.
const PATIENCE: Duration = Duration::from_secs(10);

/// Strangers are but some more of those that go on. Records are those among the ranks of the set.
const OF_PART: Rules = Rules {
    strangers: false,
    ..RULES
};

/// What a proof of this kind takes beside [`Rules`]. The model tries with less.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Whether each rank must need ranks of the set.
    pub is_closed: bool,
    /// Whether nothing may be under way from one of them to another by the fabric.
    pub is_near: bool,
}

pub const BOUNDS: Bounds = Bounds {
    is_closed: true,
    is_near: true,
};

/// The sweeps so far.
pub struct Partial {
    patience: Duration,
    bounds: Bounds,
    /// How each rank is, and since when it has not moved.
    ranks: Vec<Option<(Passive, Instant)>>,
    /// Which have not moved for long.
    old: Vec<bool>,
    /// The set of the last sweep.
    set: Vec<bool>,
    proof: Proof,
}

impl Default for Partial {
    fn default() -> Partial {
        Partial {
            patience: PATIENCE,
            bounds: BOUNDS,
            ranks: Vec::new(),
            old: Vec::new(),
            set: Vec::new(),
            proof: Proof::by(OF_PART),
        }
    }
}

impl Partial {
    #[cfg(test)]
    pub fn by(rules: Rules, bounds: Bounds) -> Partial {
        Partial {
            patience: Duration::ZERO,
            bounds,
            proof: Proof::by(Rules {
                strangers: false,
                ..rules
            }),
            ..Partial::default()
        }
    }

    /// Whether a rank has not moved for so long that more has to be known of it.
    pub fn is_judged(&self, rank: usize) -> bool {
        self.old.get(rank) == Some(&true)
    }

    /// Whether a proof has begun.
    pub fn has_begun(&self) -> bool {
        self.proof.has_begun()
    }

    /// Begins anew.
    pub fn forget(&mut self) {
        self.ranks.clear();
        self.old.clear();
        self.set.clear();
        self.proof.forget();
    }

    /// The next sweep. Which ranks can never go on, proved, while others may; `None`: no such are known.
    pub fn sweep(&mut self, all: &[Seen], now: Instant) -> Option<&[bool]> {
        self.ranks.resize(all.len(), None);
        for (known, seen) in self.ranks.iter_mut().zip(all) {
            *known = match (known.take(), seen) {
                (Some((before, since)), Seen::Passive(passive)) if before.is_still(passive) => {
                    Some((passive.clone(), since))
                }
                (_, Seen::Passive(passive)) => Some((passive.clone(), now)),
                _ => None,
            };
        }
        let patience = self.patience;
        let is_old = |since: Instant| now.saturating_duration_since(since) >= patience;
        let known = self.ranks.iter();
        let old = known.map(|known| known.as_ref().is_some_and(|(_, since)| is_old(*since)));
        self.old = old.collect();
        let set = self.closed();
        let is_part = |(is_in, seen): (&bool, &Seen)| !is_in && !matches!(seen, Seen::Gone(_));
        let others = set.iter().zip(all).any(is_part);
        if !others || !set.contains(&true) {
            self.set.clear();
            self.proof.forget();
            return None;
        }
        if self.set != set {
            self.proof.forget();
            self.set = set;
        }
        let masked = self
            .set
            .iter()
            .zip(all)
            .map(|(is_in, seen)| match (is_in, seen) {
                (true, Seen::Passive(passive)) => Seen::Passive(Passive {
                    records: match self.bounds.is_near {
                        true => passive.records_within(&self.set),
                        false => Records::default(),
                    },
                    ..passive.clone()
                }),
                _ => Seen::Apart,
            });
        let masked: Vec<Seen> = masked.collect();
        self.proof.sweep(&masked).then_some(&self.set[..])
    }

    /// The largest set of ranks that have not moved for long, each of which needs one of the set.
    ///
    /// Sums of records over all peers say nothing of some ranks, so a rank that has sent any is in no set if its counts by peer are not known.
    fn closed(&self) -> Vec<bool> {
        let all = self.ranks.iter().zip(&self.old);
        let needs: Vec<Option<&Vec<u32>>> = all
            .map(|(known, is_old)| {
                let (passive, _) = known.as_ref().filter(|_| *is_old)?;
                let is_counted = passive.records.sent == 0 || passive.pairs.is_some();
                let is_near = is_counted || !self.bounds.is_near;
                let needs = passive.needs.as_ref().filter(|_| is_near)?;
                (!needs.is_empty()).then_some(needs)
            })
            .collect();
        let mut set: Vec<bool> = needs.iter().map(Option::is_some).collect();
        loop {
            let is_in = |rank: &u32| set.get(*rank as usize).copied().unwrap_or(false);
            let leaves = (0..set.len()).find(|rank| {
                set[*rank]
                    && self.bounds.is_closed
                    && !needs[*rank].is_some_and(|needs| needs.iter().all(is_in))
            });
            match leaves {
                Some(rank) => set[rank] = false,
                None => return set,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::proof::Looks;
    use super::*;

    fn waits(needs: &[u32], looks: u64) -> Seen {
        Seen::Passive(Passive {
            activity: 1,
            records: Records::default(),
            waits: vec![Looks {
                slot: 0,
                looks,
                checks: looks,
            }],
            needs: (!needs.is_empty()).then(|| needs.to_vec()),
            ..Passive::default()
        })
    }

    /// What the last of some sweeps, a second apart, has proved.
    fn prove(sweeps: u64, all: impl Fn(u64) -> Vec<Seen>) -> Option<Vec<bool>> {
        let (mut partial, begin) = (Partial::default(), Instant::now());
        let mut last = None;
        for at in 0..sweeps {
            let now = begin + Duration::from_secs(at);
            last = partial.sweep(&all(4 * at), now).map(<[bool]>::to_vec);
        }
        last
    }

    #[test]
    fn ranks_that_need_each_other_are_stuck_beside_one_that_goes_on() {
        let all = |looks| vec![Seen::Open, waits(&[2], looks), waits(&[1], looks)];
        assert_eq!(prove(10, all), None, "it is early");
        assert_eq!(prove(20, all), Some(vec![false, true, true]));
        // One that waits for them is stuck, too, but not one that waits for another.
        let all = |looks| {
            let both = [waits(&[2], looks), waits(&[1], looks)];
            let others = [waits(&[1], looks), waits(&[0], looks), waits(&[], looks)];
            [vec![Seen::Open], both.into(), others.into()].concat()
        };
        let set = vec![false, true, true, true, false, false];
        assert_eq!(prove(20, all), Some(set));
    }

    #[test]
    fn nobody_is_stuck_who_needs_one_that_goes_on_or_may_need_anybody() {
        let chain = |looks| vec![Seen::Open, waits(&[2], looks), waits(&[1, 0], looks)];
        assert_eq!(prove(20, chain), None);
        let any = |looks| vec![Seen::Open, waits(&[2], looks), waits(&[], looks)];
        assert_eq!(prove(20, any), None);
        // All is the other verdict.
        let whole = |looks| vec![waits(&[1], looks), waits(&[0], looks)];
        assert_eq!(prove(20, whole), None);
    }

    #[test]
    fn a_record_under_way_within_the_set_is_no_proof_but_one_to_others_is_nothing() {
        let counted = |needs: &[u32], looks, sent: [u32; 3], handled: [u32; 3]| {
            let Seen::Passive(mut passive) = waits(needs, looks) else {
                return Seen::Open;
            };
            let sum = |counts: [u32; 3]| u64::from(counts.iter().sum::<u32>());
            passive.records = Records {
                sent: sum(sent),
                handled: sum(handled),
            };
            passive.pairs = Some([sent.to_vec(), handled.to_vec()]);
            Seen::Passive(passive)
        };
        let prove_with = |first: ([u32; 3], [u32; 3]), second: ([u32; 3], [u32; 3])| {
            prove(20, |looks| {
                let first = counted(&[2], looks, first.0, first.1);
                let second = counted(&[1], looks, second.0, second.1);
                vec![Seen::Open, first, second]
            })
        };
        let set = Some(vec![false, true, true]);
        let none = [0; 3];
        assert_eq!(
            prove_with(([9, 0, 2], none), ([7, 0, 0], [1, 2, 0])),
            set,
            "all are there"
        );
        assert_eq!(prove_with(([9, 0, 2], none), (none, [1, 1, 0])), None);
        // Without counts by peer nobody knows.
        let unknown = |looks| {
            let Seen::Passive(mut passive) = waits(&[2], looks) else {
                return Vec::new();
            };
            passive.records.sent = 1;
            vec![Seen::Open, Seen::Passive(passive), waits(&[1], looks)]
        };
        assert_eq!(prove(20, unknown), None);
    }

    #[test]
    fn what_moves_is_not_stuck() {
        let moves = |looks| {
            let Seen::Passive(mut moves) = waits(&[1], looks) else {
                return Vec::new();
            };
            moves.activity = looks;
            vec![Seen::Open, waits(&[2], looks), Seen::Passive(moves)]
        };
        assert_eq!(prove(20, moves), None);
        let without_looks = |_| vec![Seen::Open, waits(&[2], 0), waits(&[1], 0)];
        assert_eq!(prove(20, without_looks), None);
    }
}
