//! Attempts with the whole mask of a page, one allocation of a process at a time: what is left when nothing cheaper has agreed.
//!
//! Invariant: a process offers its mask for one allocation at a time, the lowest by key, and takes the mask back when the
//! offers are combined.

use super::steps::{Outcome, Turn, YES, least, take, wanted};
use crate::context_id::space::{Key, NO_PAGE, Space, prefixes};

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
