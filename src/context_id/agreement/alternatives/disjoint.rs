//! The mask algorithm with disjoint masks: each allocation offers a slice of the mask that no other of its process offers.
//!
//! The first refinement of paper 001. Which slice is the same on all members: the allocation's key says it. Where two meet
//! in one slice, the mask algorithm decides, which leaves out the slices that are being offered.
//! Cost: a reduction of nothing, one of an eighth of the mask, and the mask's only when slices met or are full.

use crate::context_id::agreement::base::Base;
use crate::context_id::agreement::steps::{Outcome, Steps, Turn, YES, take};
use crate::context_id::space::{Key, Space, prefixes};

/// Slices of page 0: word w belongs to slice w modulo this.
const SLICES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Together,
    Slice,
    Base,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disjoint {
    key: Key,
    stage: Stage,
    owner: bool,
    base: Base,
}

/// Offer of a slice: nothing, whether it was ours, the slice.
const MASK: usize = 2;

impl Disjoint {
    pub fn new(key: Key) -> Disjoint {
        Disjoint {
            key,
            stage: Stage::Together,
            owner: false,
            base: Base::new(key, 1, 0),
        }
    }

    fn slice(&self, space: &Space) -> (usize, usize) {
        let slices = SLICES.min(space.words());
        let Key {
            context,
            tag,
            sequence,
        } = self.key;
        let mixed = (context >> 2) ^ tag as u32 ^ sequence;
        (mixed as usize % slices, slices)
    }

    fn give_back(&mut self, space: &mut Space) {
        if std::mem::take(&mut self.owner) {
            space.slices &= !(1 << self.slice(space).0);
        }
    }

    /// Clears the slices that are being offered.
    fn withhold(space: &Space, mask: &mut [u32]) -> bool {
        let slices = SLICES.min(space.words());
        for (at, word) in mask.iter_mut().enumerate() {
            if space.slices >> (at % slices) & 1 == 1 {
                *word = 0;
            }
        }
        space.slices != 0
    }
}

impl Steps for Disjoint {
    fn offer(&mut self, space: &mut Space) -> Turn {
        match self.stage {
            Stage::Together => Turn::Offer(vec![0]),
            Stage::Base => self.base.offer(space, Self::withhold),
            Stage::Slice => {
                let (slice, slices) = self.slice(space);
                let mut words = vec![0; MASK + space.words() / slices];
                self.owner = !space.mask_taken && space.slices >> slice & 1 == 0;
                if self.owner && space.make(0) {
                    space.slices |= 1 << slice;
                    words[1] = YES;
                    let mut mask = vec![0; space.words()];
                    space.read(0, 0, &mut mask);
                    for (at, word) in words[MASK..].iter_mut().enumerate() {
                        *word = mask[at * slices + slice];
                    }
                }
                Turn::Offer(words)
            }
        }
    }

    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        match self.stage {
            Stage::Together => {
                self.stage = Stage::Slice;
                Outcome::Again
            }
            Stage::Base => self.base.settle(space, combined),
            Stage::Slice => {
                self.stage = Stage::Base;
                self.give_back(space);
                let (slice, slices) = self.slice(space);
                let of_page = |found: u32| {
                    let word = found as usize / 32 * slices + slice;
                    word as u32 * 32 + found % 32
                };
                let found: Vec<u32> = prefixes(&combined[MASK..], 0)
                    .map(of_page)
                    .take(1)
                    .collect();
                if found.is_empty() {
                    return Outcome::Again;
                }
                take(space, found)
            }
        }
    }

    fn abandon(&mut self, space: &mut Space) {
        self.give_back(space);
        self.base.abandon(space);
    }
}
