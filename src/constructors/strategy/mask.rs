//! The mask algorithm: one reduction of the whole mask, for one allocation of a process at a time.
//!
//! Paper 001, figure 2; with the barrier before it and the ⟨context id, tag⟩ priority of paper 000, listing 1.1. Without the
//! barrier (`together` false) it deadlocks (paper 000, figure 1); `models` finds the schedule.
//! Cost: a reduction of nothing, then one of 2 KB for each attempt. Unlike as printed, an ownership word tells "no id is
//! free everywhere" from "somebody had no turn", and the next page follows instead of retrying for ever.

use super::{Outcome, Steps, Turn, YES, least, take, wanted};
use crate::constructors::space::{Key, NO_PAGE, Space, prefixes};

/// The attempts with a mask, which other strategies fall back to.
///
/// Offer: next page with room, whether the mask was ours, whether nothing was withheld, how many are wanted, the mask.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Base {
    key: Key,
    count: usize,
    page: u32,
    /// Words of page 0 that are not for us.
    skip: usize,
    owner: bool,
}

const MASK: usize = 4;

impl Base {
    pub fn new(key: Key, count: usize, skip: usize) -> Base {
        Base {
            key,
            count,
            page: 0,
            skip,
            owner: false,
        }
    }

    /// `withhold` clears what others may be taking at this moment. True if it cleared anything.
    pub fn offer(
        &mut self,
        space: &mut Space,
        withhold: impl Fn(&Space, &mut [u32]) -> bool,
    ) -> Turn {
        if space.lowest.is_none_or(|lowest| self.key < lowest) {
            space.lowest = Some(self.key);
        }
        self.owner = !space.mask_taken && space.lowest == Some(self.key);
        let mut words = vec![0; MASK + space.words()];
        words[3] = wanted(self.count);
        if self.owner {
            space.mask_taken = true;
            words[1] = YES;
            words[2] = YES;
            if space.make(self.page) {
                words[0] = space.page_with_room(self.page + 1).unwrap_or(NO_PAGE);
                let mask = &mut words[MASK..];
                space.read(self.page, 0, mask);
                if self.page == 0 {
                    mask[..self.skip].fill(0);
                    if withhold(space, mask) {
                        words[2] = 0;
                    }
                }
            } else {
                words[0] = NO_PAGE;
            }
        }
        Turn::Offer(words)
    }

    pub fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome {
        self.give_back(space);
        if combined[1] != YES {
            return Outcome::Again;
        }
        let found: Vec<u32> = prefixes(&combined[MASK..], space.base(self.page))
            .take(least(combined[3]))
            .collect();
        if found.is_empty() {
            if combined[2] != YES {
                return Outcome::Again;
            }
            if combined[0] != NO_PAGE {
                self.page = combined[0];
                return Outcome::Again;
            }
            self.leave(space);
            return Outcome::Exhausted;
        }
        self.leave(space);
        take(space, found)
    }

    fn give_back(&mut self, space: &mut Space) {
        if std::mem::take(&mut self.owner) {
            space.mask_taken = false;
        }
    }

    pub fn abandon(&mut self, space: &mut Space) {
        self.give_back(space);
        self.leave(space);
    }

    fn leave(&self, space: &mut Space) {
        if space.lowest == Some(self.key) {
            space.lowest = None;
        }
    }
}

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
