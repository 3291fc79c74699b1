//! Eager allocation: the reduction that tells that all members have begun is one of a part of the mask, and mostly enough.
//!
//! Paper 000, listing 1.2: the first words of page 0 are for it, the rest is the base, where the mask algorithm goes on if
//! it fails. As printed it takes a bit without looking whether there is one, and under another lock than freeing; and it
//! retries blindly, which with several threads is most of the work once the eager part is used up. Here those that fail
//! take their turns in the queue: that all have begun they know by then.
//! Cost: one reduction of `words` words (32 of them travel as one short message); else also one of nothing and the mask's.

use super::queue::Queue;
use super::steps::{Outcome, Steps, Turn, YES, least, take, wanted};
use crate::context_id::space::{Key, Space, prefixes};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Eager {
    count: usize,
    words: usize,
    owner: bool,
    tried: bool,
    base: Queue,
}

/// Offer: nothing, whether the eager part was ours, how many are wanted, the eager part.
const MASK: usize = 3;

impl Eager {
    pub fn new(key: Key, count: usize, words: usize) -> Eager {
        Eager {
            count,
            words,
            owner: false,
            tried: false,
            base: Queue::together(key, count, words),
        }
    }
}

impl Eager {
    fn give_back(&mut self, space: &mut Space) {
        if std::mem::take(&mut self.owner) {
            space.eager_taken = false;
        }
    }
}

impl Steps for Eager {
    fn offer(&mut self, space: &mut Space) -> Turn {
        if self.tried {
            return self.base.offer(space);
        }
        self.owner = !space.eager_taken;
        let mut words = vec![0; MASK + self.words];
        words[2] = wanted(self.count);
        if self.owner {
            space.eager_taken = true;
            words[1] = YES;
            if space.make(0) {
                space.read(0, 0, &mut words[MASK..]);
            }
        }
        Turn::Offer(words)
    }

    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        if self.tried {
            return self.base.settle(space, combined);
        }
        self.tried = true;
        self.give_back(space);
        let found: Vec<u32> = prefixes(&combined[MASK..], 0)
            .take(least(combined[2]))
            .collect();
        // A member that does not own it offers no bit.
        if found.is_empty() {
            self.base.enter(space);
            return Outcome::Again;
        }
        take(space, found)
    }

    fn abandon(&mut self, space: &mut Space) {
        self.give_back(space);
        if self.tried {
            self.base.abandon(space);
        }
    }
}
