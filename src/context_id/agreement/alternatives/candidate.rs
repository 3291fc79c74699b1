//! One candidate at a time: the members' largest proposal is confirmed by all, or they try further on.
//!
//! Paper 002: algorithm 1 (Open MPI's) proposes the lowest id that is free, algorithm 3 (Highest-CID) the one after the highest
//! in use, which is mostly free everywhere. What is proposed or confirmed is taken by the operation itself, not in the
//! parent's name: several operations may run on one parent. As printed (`together` false) a process that waits for its
//! turn may be waited for by the one whose turn it is.
//! Cost: a reduction of nothing, then two of one and two words for each attempt; no mask travels.

use crate::context_id::agreement::steps::{Outcome, Steps, Turn, YES};
use crate::context_id::space::{Key, Space, in_order};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Together,
    /// Waits for its turn and proposes.
    Propose,
    /// Says whether the largest proposal, an index in the order of ids, could be taken here.
    Confirm(u32),
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    key: Key,
    stage: Stage,
    highest: bool,
    /// One thread everywhere: the largest proposal is free.
    alone: bool,
    /// Places before this one have been tried.
    start: u32,
    /// What is taken: own proposal, and the largest one.
    proposal: Option<u32>,
    largest: Option<u32>,
}

/// The proposal of a process that has no id left.
const NOTHING: u32 = u32::MAX;

impl Candidate {
    pub fn lowest(key: Key, together: bool) -> Candidate {
        Candidate {
            key,
            stage: if together {
                Stage::Together
            } else {
                Stage::Propose
            },
            highest: false,
            alone: false,
            start: 0,
            proposal: None,
            largest: None,
        }
    }

    pub fn highest(key: Key, together: bool, alone: bool) -> Candidate {
        Candidate {
            highest: true,
            alone,
            ..Candidate::lowest(key, together)
        }
    }

    /// Takes an id to propose.
    fn propose(&mut self, space: &mut Space) -> Option<u32> {
        let from = if self.highest {
            space.after_highest().max(self.start)
        } else {
            self.start
        };
        let index = space.free_from(from)?;
        space.take(in_order(index)).then_some(index)
    }

    fn give_back(&mut self, space: &mut Space) {
        for index in [self.proposal.take(), self.largest.take()]
            .into_iter()
            .flatten()
        {
            space.free(in_order(index));
        }
    }

    fn agreed(&mut self, space: &mut Space, index: u32) -> Outcome {
        space.queue.remove(&self.key);
        if let Some(proposal) = self.proposal.take()
            && proposal != index
        {
            space.free(in_order(proposal));
        }
        Outcome::Agreed(vec![in_order(index)])
    }
}

impl Steps for Candidate {
    fn offer(&mut self, space: &mut Space) -> Turn {
        match self.stage {
            Stage::Together => Turn::Offer(vec![0]),
            Stage::Propose => {
                space.queue.insert(self.key);
                if space.queue.first() != Some(&self.key) {
                    return Turn::Wait;
                }
                self.proposal = self.propose(space);
                Turn::Offer(vec![self.proposal.unwrap_or(NOTHING)])
            }
            Stage::Confirm(index) => {
                let taken = self.proposal == Some(index) || self.largest == Some(index);
                Turn::Offer(vec![0, if taken { YES } else { 0 }])
            }
        }
    }

    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        match self.stage {
            Stage::Together => {
                space.queue.insert(self.key);
                self.stage = Stage::Propose;
                Outcome::Again
            }
            Stage::Propose if combined[0] == NOTHING => {
                self.give_back(space);
                if self.highest {
                    // Nothing above: go on below.
                    self.highest = false;
                    self.start = 0;
                    return Outcome::Again;
                }
                space.queue.remove(&self.key);
                Outcome::Exhausted
            }
            Stage::Propose => {
                let index = combined[0];
                if self.proposal != Some(index) && space.is_free(in_order(index)) {
                    self.largest = space.take(in_order(index)).then_some(index);
                }
                if self.alone {
                    self.largest = None;
                    return self.agreed(space, index);
                }
                self.stage = Stage::Confirm(index);
                Outcome::Again
            }
            Stage::Confirm(index) if combined[1] == YES => {
                self.largest = None;
                self.agreed(space, index)
            }
            Stage::Confirm(index) => {
                self.give_back(space);
                self.start = index + 1;
                self.stage = Stage::Propose;
                Outcome::Again
            }
        }
    }

    fn abandon(&mut self, space: &mut Space) {
        self.give_back(space);
        space.queue.remove(&self.key);
    }
}
