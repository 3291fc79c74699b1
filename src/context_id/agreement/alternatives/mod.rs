//! The papers' other strategies, for comparison: `OXMPI_CONTEXT_STRATEGY` chooses one in a library with the feature `papers`.

mod candidate;
mod choice;
mod disjoint;
mod mask;

use super::queue::Queue;
use super::steps::{Outcome, Steps, Turn};
use super::strategy::Settings;
use crate::context_id::space::{Key, Space};
use candidate::Candidate;
pub use choice::{ALL, Strategy};
use disjoint::Disjoint;
use mask::Mask;

/// An agreement by another strategy than the default one, on one id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Alternative {
    Mask(Mask),
    Queue(Queue),
    Disjoint(Disjoint),
    Candidate(Candidate),
}

impl Alternative {
    /// `None` where the default strategy or its first half is chosen.
    pub fn new(settings: &Settings, key: Key) -> Option<Alternative> {
        let together = !settings.printed;
        Some(match settings.strategy {
            Strategy::Lease | Strategy::Eager => return None,
            Strategy::Mask => Alternative::Mask(Mask::new(key, together)),
            Strategy::Queue => Alternative::Queue(Queue::new(key, together)),
            Strategy::Disjoint => Alternative::Disjoint(Disjoint::new(key)),
            Strategy::Candidate => Alternative::Candidate(Candidate::lowest(key, together)),
            Strategy::Highest => {
                Alternative::Candidate(Candidate::highest(key, together, settings.alone))
            }
        })
    }

    fn steps(&mut self) -> &mut dyn Steps {
        match self {
            Alternative::Mask(steps) => steps,
            Alternative::Queue(steps) => steps,
            Alternative::Disjoint(steps) => steps,
            Alternative::Candidate(steps) => steps,
        }
    }
}

impl Steps for Alternative {
    fn offer(&mut self, space: &mut Space) -> Turn {
        self.steps().offer(space)
    }

    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        self.steps().settle(space, combined)
    }

    fn abandon(&mut self, space: &mut Space) {
        self.steps().abandon(space);
    }
}
