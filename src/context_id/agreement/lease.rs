//! Leases: a parent's members agree on several ids at once and use them up without talking.
//!
//! Creations on one parent are begun in the same order on all members, so the n-th of them takes the n-th id of the lease,
//! on each member by itself, in a few nanoseconds. A block is twice as large as the last one, up to [`LARGEST`]. An id that
//! is given back goes to the process's space, not to the lease: when its members free a communicator is known to nobody
//! but them. A message may come before its communicator exists here: it is kept by its context, which is leased to this
//! parent and so used by nothing else here.
//! Half of a block are seeds: with its id a communicator gets the id of the first creation on it, so that a duplicate of a duplicate
//! needs no message either.
//! Invariant: `ready[0]` belongs to creation number `first`; one block is agreed on at a time, by the first creation that
//! has none, and that is the same one on all members.

use std::collections::VecDeque;

/// Creations of a block at most.
pub const LARGEST: usize = 128;
/// Creations of a block of a group at most; a parent may have many groups.
pub const LARGEST_OF_GROUP: usize = 32;

/// What a creation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taken {
    /// The communicator's.
    pub prefix: u32,
    /// For the first creation on it.
    pub seed: Option<u32>,
}

impl Taken {
    /// Without a seed.
    pub fn only(prefix: u32) -> Taken {
        Taken { prefix, seed: None }
    }

    fn prefixes(self) -> impl Iterator<Item = u32> {
        [Some(self.prefix), self.seed].into_iter().flatten()
    }
}

/// The creations on one parent (or of one group and tag on it).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Creations begun.
    begun: u32,
    first: u32,
    /// `None` where the creation has taken it.
    ready: VecDeque<Option<Taken>>,
    /// Creations of the last block.
    block: usize,
    opening: bool,
    /// Creations of a block at most.
    most: usize,
    /// How many engines every member has offered, when they have last talked.
    pub engines: u32,
}

impl Default for Lease {
    fn default() -> Lease {
        Lease::of_at_most(LARGEST)
    }
}

/// What a creation finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Id(Taken),
    /// Agree on ids for so many creations.
    Open(usize),
    /// A creation before this one is agreeing.
    Wait,
}

impl Lease {
    /// Asks for the ids of so many creations a block at most; members agree on the smallest wish.
    pub const fn of_at_most(most: usize) -> Lease {
        Lease {
            begun: 0,
            first: 0,
            ready: VecDeque::new(),
            block: 0,
            opening: false,
            most,
            engines: 1,
        }
    }

    /// Of a communicator that got a seed; `engines` is what its parent's lease says.
    pub fn seeded(seed: u32, engines: u32) -> Lease {
        Lease {
            ready: [Some(Taken::only(seed))].into(),
            engines,
            ..Lease::default()
        }
    }

    /// The number of a creation that begins.
    pub fn begin(&mut self) -> u32 {
        self.begun = self.begun.wrapping_add(1);
        self.begun.wrapping_sub(1)
    }

    /// What is there for creation `number`.
    pub fn at(&mut self, number: u32) -> Place {
        let at = number.wrapping_sub(self.first) as usize;
        if let Some(slot) = self.ready.get_mut(at) {
            let Some(taken) = slot.take() else {
                unreachable!("creation {number} takes its id a second time");
            };
            self.trim();
            return Place::Id(taken);
        }
        if self.opening || at > self.ready.len() {
            return Place::Wait;
        }
        self.opening = true;
        self.block = (self.block * 2).clamp(1, self.most);
        Place::Open(self.block)
    }

    /// A block was agreed on. Which of its ids are seeds follows from their number alone, which may be smaller than what was asked for:
    /// as many as there are creations, or one less.
    pub fn opened(&mut self, prefixes: &[u32], seeds: bool) {
        self.opening = false;
        let creations = if seeds {
            prefixes.len().div_ceil(2)
        } else {
            prefixes.len()
        };
        let (own, rest) = prefixes.split_at(creations);
        let taken = own.iter().enumerate().map(|(creation, prefix)| Taken {
            prefix: *prefix,
            seed: rest.get(creation).copied(),
        });
        self.ready.extend(taken.map(Some));
    }

    /// There is no block, and the creation that wanted it gives up.
    pub fn missed(&mut self) {
        self.opening = false;
        self.block /= 2;
        self.ready.push_back(None);
        self.trim();
    }

    fn trim(&mut self) {
        while let Some(None) = self.ready.front() {
            self.ready.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Ids that are leased and not used, which the parent's end gives back.
    pub fn drain(&mut self) -> impl Iterator<Item = u32> {
        let taken = std::mem::take(&mut self.ready).into_iter().flatten();
        taken.flat_map(Taken::prefixes)
    }

    /// Whether it can be forgotten: no id is left, and every creation begun has got one.
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.first == self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creations_take_ids_by_their_number_whatever_their_order() {
        let id = |prefix| Place::Id(Taken::only(prefix));
        let mut lease = Lease::default();
        let numbers: Vec<u32> = (0..4).map(|_| lease.begin()).collect();
        assert_eq!(lease.at(numbers[2]), Place::Wait, "it is not the first");
        assert_eq!(lease.at(numbers[0]), Place::Open(1));
        assert_eq!(lease.at(numbers[1]), Place::Wait, "one is agreeing");
        lease.opened(&[31], false);
        assert_eq!(lease.at(numbers[1]), Place::Open(2));
        assert_eq!(lease.at(numbers[0]), id(31));
        lease.opened(&[30, 29], false);
        assert_eq!(lease.at(numbers[2]), id(29));
        assert_eq!(lease.at(numbers[3]), Place::Open(4));
        lease.missed();
        assert_eq!(lease.at(numbers[1]), id(30));
        let next = lease.begin();
        assert_eq!(lease.at(next), Place::Open(4));
        lease.opened(&[1, 2, 3], false);
        assert_eq!(lease.at(next), id(1));
        assert_eq!(lease.drain().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn half_of_a_block_are_seeds() {
        for (prefixes, expected) in [
            (&[5][..], &[(5, None)][..]),
            (&[5, 4], &[(5, Some(4))]),
            // Less than was asked for.
            (&[5, 4, 3], &[(5, Some(3)), (4, None)]),
            (&[5, 4, 3, 2], &[(5, Some(3)), (4, Some(2))]),
        ] {
            let mut lease = Lease::default();
            lease.opened(prefixes, true);
            let whole = lease.clone().drain().collect::<Vec<_>>();
            assert_eq!(whole.len(), prefixes.len(), "{whole:?}");
            for (prefix, seed) in expected {
                let number = lease.begin();
                let (prefix, seed) = (*prefix, *seed);
                assert_eq!(lease.at(number), Place::Id(Taken { prefix, seed }));
            }
            assert!(lease.is_idle());
        }
        let mut child = Lease::seeded(4, 3);
        assert_eq!(child.engines, 3);
        let numbers = [child.begin(), child.begin()];
        assert_eq!(child.at(numbers[0]), Place::Id(Taken::only(4)));
        assert_eq!(child.at(numbers[1]), Place::Open(1));
    }
}
