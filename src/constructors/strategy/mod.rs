//! How processes agree on a context id: strategies as plain steps between reductions, for one process each.
//!
//! A strategy offers words, which are combined with those of the other members ([`combine`]), and settles on the result.
//! It knows neither messages nor threads: the library, the models and the simulation drive the same steps under a lock of
//! their own. Invariant: all members of an allocation make the same kind of offer in the same order, because what comes
//! next depends on nothing but the results.

mod candidate;
mod disjoint;
mod eager;
pub mod lease;
mod mask;
mod queue;

use super::space::{Key, Space};
use candidate::Candidate;
use disjoint::Disjoint;
use eager::Eager;
use lease::{Lease, Place};
use mask::Mask;
use queue::Queue;

crate::choice! {
    /// The strategies that a job can choose.
    pub enum Strategy {
        Lease = "lease",
        Eager = "eager",
        Mask = "mask",
        Queue = "queue",
        Disjoint = "disjoint",
        Candidate = "candidate",
        Highest = "highest",
    }
}

/// All of them, for tests and comparisons.
pub const ALL: [Strategy; 7] = [
    Strategy::Lease,
    Strategy::Eager,
    Strategy::Mask,
    Strategy::Queue,
    Strategy::Disjoint,
    Strategy::Candidate,
    Strategy::Highest,
];

/// What one process does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// These words are to be combined with the other members'.
    Offer(Vec<u32>),
    /// Another allocation of this process goes first. All members have begun this one, so nobody waits for who waits.
    Wait,
}

/// What the combined offers led to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The next offer.
    Again,
    /// These prefixes are taken, on all members.
    Agreed(Vec<u32>),
    /// No id can be found on all members, which all know; nothing is taken.
    Exhausted,
}

/// The interface of a strategy.
trait Steps {
    fn offer(&mut self, space: &mut Space) -> Turn;
    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome;
    /// Gives back what is offered or taken, because nothing follows.
    fn abandon(&mut self, space: &mut Space);
}

/// Combines two offers of the same kind: the first word is the larger one, of the others common bits stay.
pub fn combine(into: &mut [u32], other: &[u32]) {
    for (at, (into, other)) in into.iter_mut().zip(other).enumerate() {
        *into = if at == 0 {
            (*into).max(*other)
        } else {
            *into & *other
        };
    }
}

/// All bits: "yes" where offers are combined by common bits.
const YES: u32 = u32::MAX;

/// How many ids are wanted, a power of two, as a word of which common bits stay: the fewest wins.
fn wanted(count: usize) -> u32 {
    count as u32 - 1
}

/// The other way.
fn least(combined: u32) -> usize {
    combined as usize + 1
}

/// Takes prefixes that all members have offered: nothing else can have taken them meanwhile.
fn take(space: &mut Space, found: Vec<u32>) -> Outcome {
    for prefix in &found {
        let free = space.take(*prefix);
        debug_assert!(free, "prefix {prefix} was taken behind the owner's back");
    }
    Outcome::Agreed(found)
}

/// Settings that all members share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub strategy: Strategy,
    /// Words of page 0 for eager allocation.
    pub eager_words: usize,
    /// The strategy as its paper prints it: nobody makes sure that all members have begun. These deadlock; they are here
    /// for the models and for the comparison, and no job can choose them.
    pub printed: bool,
    /// Only with `printed`: the members have one thread each and one allocation at a time, so what needs confirmation
    /// among threads needs none.
    pub alone: bool,
}

/// An agreement on new ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Agreement {
    Eager(Eager),
    Mask(Mask),
    Queue(Queue),
    Disjoint(Disjoint),
    Candidate(Candidate),
}

impl Agreement {
    /// On up to `count` ids; strategies that know no more agree on one.
    pub fn new(settings: &Settings, key: Key, count: usize) -> Agreement {
        let together = !settings.printed;
        match settings.strategy {
            Strategy::Lease | Strategy::Eager => {
                Agreement::Eager(Eager::new(key, count, settings.eager_words))
            }
            Strategy::Mask => Agreement::Mask(Mask::new(key, together)),
            Strategy::Queue => Agreement::Queue(Queue::new(key, together)),
            Strategy::Disjoint => Agreement::Disjoint(Disjoint::new(key)),
            Strategy::Candidate => Agreement::Candidate(Candidate::lowest(key, together)),
            Strategy::Highest => {
                Agreement::Candidate(Candidate::highest(key, together, settings.alone))
            }
        }
    }

    fn steps(&mut self) -> &mut dyn Steps {
        match self {
            Agreement::Eager(steps) => steps,
            Agreement::Mask(steps) => steps,
            Agreement::Queue(steps) => steps,
            Agreement::Disjoint(steps) => steps,
            Agreement::Candidate(steps) => steps,
        }
    }

    pub fn offer(&mut self, space: &mut Space) -> Turn {
        self.steps().offer(space)
    }

    pub fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        self.steps().settle(space, combined)
    }
}

/// What the allocation of one id does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// This prefix is the communicator's.
    Done(u32),
    Offer(Vec<u32>),
    Wait,
    Exhausted,
}

/// The allocation of one id: from the parent's lease where that is the strategy, else by an agreement of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Allocation {
    settings: Settings,
    key: Key,
    /// The place that the lease gave.
    number: u32,
    agreement: Option<Agreement>,
    settled: Option<Step>,
}

impl Allocation {
    /// `number` is the place that the lease gave.
    pub fn new(settings: &Settings, key: Key, number: u32) -> Allocation {
        Allocation {
            settings: *settings,
            key,
            number,
            agreement: None,
            settled: None,
        }
    }

    pub fn step(&mut self, space: &mut Space, lease: &mut Lease) -> Step {
        if let Some(step) = self.settled.take() {
            return step;
        }
        if self.agreement.is_none() {
            let count = if self.settings.strategy == Strategy::Lease {
                match lease.at(self.number) {
                    Place::Id(prefix) => return Step::Done(prefix),
                    Place::Wait => return Step::Wait,
                    Place::Open(count) => count,
                }
            } else {
                1
            };
            self.agreement = Some(Agreement::new(&self.settings, self.key, count));
        }
        match self
            .agreement
            .as_mut()
            .map(|agreement| agreement.offer(space))
        {
            Some(Turn::Offer(words)) => Step::Offer(words),
            Some(Turn::Wait) | None => Step::Wait,
        }
    }

    /// Takes the combined offers; [`Allocation::step`] says what follows. Others of this process may be able to go on now.
    pub fn settle(&mut self, space: &mut Space, lease: &mut Lease, combined: &[u32]) {
        let Some(agreement) = &mut self.agreement else {
            return;
        };
        let outcome = agreement.settle(space, combined);
        let leases = self.settings.strategy == Strategy::Lease;
        match outcome {
            Outcome::Again => {}
            Outcome::Agreed(prefixes) if leases => {
                self.agreement = None;
                lease.opened(&prefixes);
            }
            Outcome::Agreed(prefixes) => self.settled = Some(Step::Done(prefixes[0])),
            Outcome::Exhausted => {
                if leases {
                    lease.missed();
                }
                self.settled = Some(Step::Exhausted);
            }
        }
    }

    /// The members cannot be reached any more: what is offered or taken here is given back, and who waits goes on.
    pub fn abandon(&mut self, space: &mut Space, lease: &mut Lease) {
        let Some(agreement) = &mut self.agreement else {
            return;
        };
        agreement.steps().abandon(space);
        if self.settings.strategy == Strategy::Lease {
            lease.missed();
        }
        self.agreement = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However far it has come, an allocation that is given up leaves nothing behind.
    #[test]
    fn who_gives_up_holds_nothing() {
        for strategy in ALL {
            let settings = Settings {
                strategy,
                eager_words: 1,
                printed: false,
                alone: false,
            };
            let mut before = Space::new(8, 4);
            assert!(before.make(0));
            for steps in 0..4 {
                let (mut space, mut lease) = (before.clone(), Lease::default());
                let key = Key {
                    context: 16,
                    tag: -1,
                    sequence: 0,
                };
                let mut allocation = Allocation::new(&settings, key, lease.begin());
                for _ in 0..steps {
                    if let Step::Offer(mut words) = allocation.step(&mut space, &mut lease) {
                        // Somebody has no bit in common with us.
                        words[1..].fill(0);
                        allocation.settle(&mut space, &mut lease, &words);
                    }
                }
                let under_way = matches!(allocation.step(&mut space, &mut lease), Step::Offer(_));
                if under_way {
                    allocation.abandon(&mut space, &mut lease);
                    assert_eq!(space, before, "{strategy} after {steps} steps");
                    assert!(lease.is_idle() || strategy != Strategy::Lease);
                }
            }
        }
    }
}
