//! The mask algorithm: one reduction of the whole mask, for one allocation of a process at a time.
//!
//! Paper 001, figure 2; with the barrier before it and the ⟨context id, tag⟩ priority of paper 000, listing 1.1. Without the
//! barrier (`together` false) it deadlocks (paper 000, figure 1); `models` finds the schedule.
//! Cost: a reduction of nothing, then one of 2 KB for each attempt. Unlike as printed, an ownership word tells "no id is
//! free everywhere" from "somebody had no turn", and the next page follows instead of retrying for ever.

use crate::context_id::agreement::base::Base;
use crate::context_id::agreement::steps::{Outcome, Steps, Turn};
use crate::context_id::space::{Key, Space};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mask {
    /// All members have begun.
    together: bool,
    base: Base,
}

impl Mask {
    pub fn new(key: Key, together: bool) -> Mask {
        Mask {
            together: !together,
            base: Base::new(key, 1, 0),
        }
    }
}

impl Steps for Mask {
    fn offer(&mut self, space: &mut Space) -> Turn {
        if !self.together {
            return Turn::Offer(vec![0]);
        }
        self.base.offer(space, |_, _| false)
    }

    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        if !self.together {
            self.together = true;
            return Outcome::Again;
        }
        self.base.settle(space, combined)
    }

    fn abandon(&mut self, space: &mut Space) {
        self.base.abandon(space);
    }
}
