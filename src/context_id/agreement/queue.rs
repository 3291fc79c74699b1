//! The mask algorithm with a queue: who is not the lowest of its process sleeps until it is, instead of retrying blindly.
//!
//! The second refinement of paper 001. As printed (`together` false) two operations that begin in different order on two
//! processes wait for each other. It takes two things to be safe: nobody waits before all members have begun, and nobody
//! who waits lets another member hold a mask; so the members first tell each other, holding nothing, that each is the
//! lowest, and then all offer at once.
//! Cost: a reduction of nothing, then one of nothing and one of 2 KB for each attempt; waiting costs no message.

use super::base::Base;
use super::steps::{Outcome, Steps, Turn};
use crate::context_id::space::{Key, Space};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    #[cfg(feature = "papers")]
    Together,
    /// Waits to be the lowest; holds nothing.
    Lowest,
    Mask,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queue {
    key: Key,
    #[cfg(feature = "papers")]
    printed: bool,
    stage: Stage,
    base: Base,
}

impl Queue {
    #[cfg(feature = "papers")]
    pub fn new(key: Key, together: bool) -> Queue {
        Queue {
            key,
            printed: !together,
            stage: if together {
                Stage::Together
            } else {
                Stage::Mask
            },
            base: Base::new(key, 1, 0),
        }
    }

    /// On up to `count` ids that are not in the first `skip` words, for a strategy whose own reduction has told that all
    /// members have begun. [`Queue::enter`] comes first.
    pub fn together(key: Key, count: usize, skip: usize) -> Queue {
        Queue {
            key,
            #[cfg(feature = "papers")]
            printed: false,
            stage: Stage::Lowest,
            base: Base::new(key, count, skip),
        }
    }

    /// In the queue from now on, so that who comes later and is higher lets us go first.
    pub fn enter(&self, space: &mut Space) {
        space.queue.insert(self.key);
    }

    fn is_printed(&self) -> bool {
        #[cfg(feature = "papers")]
        return self.printed;
        #[cfg(not(feature = "papers"))]
        false
    }

    fn is_lowest(&self, space: &mut Space) -> bool {
        self.enter(space);
        space.queue.first() == Some(&self.key)
    }
}

impl Steps for Queue {
    fn offer(&mut self, space: &mut Space) -> Turn {
        match self.stage {
            #[cfg(feature = "papers")]
            Stage::Together => Turn::Offer(vec![0]),
            // The owner of the mask offers it, so that it ends by itself: to wait for it is safe, and to offer nothing again and
            // again while one of its members gets no core is most of the work where threads share cores.
            Stage::Lowest if !self.is_lowest(space) || space.mask_taken => Turn::Wait,
            Stage::Lowest => Turn::Offer(vec![0]),
            Stage::Mask if self.is_printed() && !self.is_lowest(space) => Turn::Wait,
            Stage::Mask => self.base.offer(space, |_, _| false),
        }
    }

    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        match self.stage {
            #[cfg(feature = "papers")]
            Stage::Together => {
                self.enter(space);
                self.stage = Stage::Lowest;
                Outcome::Again
            }
            Stage::Lowest => {
                self.stage = Stage::Mask;
                Outcome::Again
            }
            Stage::Mask => {
                let outcome = self.base.settle(space, combined);
                if outcome != Outcome::Again {
                    space.queue.remove(&self.key);
                } else if !self.is_printed() {
                    self.stage = Stage::Lowest;
                }
                outcome
            }
        }
    }

    fn abandon(&mut self, space: &mut Space) {
        space.queue.remove(&self.key);
        self.base.abandon(space);
    }
}
