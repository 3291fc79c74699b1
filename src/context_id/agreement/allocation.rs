//! The allocation of one id: from a lease where there is one, else by an agreement among the members.

#[cfg(feature = "papers")]
use super::alternatives::Alternative;
use super::eager::Eager;
use super::lease::{Lease, Place, Taken};
use super::steps::{Outcome, Steps, Turn};
use super::strategy::{Settings, Strategy};
use crate::context_id::space::{Key, Space};

/// An agreement on new ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Agreement {
    Eager(Eager),
    #[cfg(feature = "papers")]
    Alternative(Alternative),
}

impl Agreement {
    /// On up to `count` ids; strategies that know no more agree on one.
    fn new(settings: &Settings, key: Key, count: usize) -> Agreement {
        #[cfg(feature = "papers")]
        if let Some(other) = Alternative::new(settings, key) {
            return Agreement::Alternative(other);
        }
        Agreement::Eager(Eager::new(key, count, settings.eager_words))
    }

    fn steps(&mut self) -> &mut dyn Steps {
        match self {
            Agreement::Eager(steps) => steps,
            #[cfg(feature = "papers")]
            Agreement::Alternative(steps) => steps,
        }
    }
}

/// What the allocation of one id does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// That is the communicator's.
    Done(Taken),
    Offer(Vec<u32>),
    Wait,
    Exhausted,
}

/// The allocation of one id: from the parent's lease where that is the strategy, else by an agreement of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Allocation {
    settings: Settings,
    key: Key,
    /// The number that the lease gave.
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
                    Place::Id(taken) => return Step::Done(taken),
                    Place::Wait => return Step::Wait,
                    Place::Open(count) if self.settings.seeds => 2 * count,
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
            .map(|agreement| agreement.steps().offer(space))
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
        let outcome = agreement.steps().settle(space, combined);
        let leases = self.settings.strategy == Strategy::Lease;
        match outcome {
            Outcome::Again => {}
            Outcome::Agreed(prefixes) if leases => {
                self.agreement = None;
                lease.opened(&prefixes, self.settings.seeds);
            }
            Outcome::Agreed(prefixes) => {
                self.settled = Some(Step::Done(Taken::only(prefixes[0])));
            }
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
    use crate::context_id::agreement::ALL;

    /// However far it has come, an allocation that is given up leaves nothing behind.
    #[test]
    fn who_gives_up_holds_nothing() {
        for strategy in ALL {
            let mut settings = Settings::PLAIN;
            settings.strategy = strategy;
            settings.eager_words = 1;
            settings.seeds = true;
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
