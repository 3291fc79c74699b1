//! Walks over the requests of a slab: what they cost follows from how many requests there are, not from how many there were.
//!
//! The slots are taken in blocks. A walk that finds most of them free *parks* blocks without a request: their slots leave the
//! queue of free ones, and walks pass them by. They come back, a block at a time, when that queue runs short, so a request
//! pays nothing for it. Invariant: a parked block has free slots only, and none of them is in the queue.

use super::{Index, Phase, RESERVE, Request, Slab, number, own_slot};

/// Slots of a block.
const BLOCK: usize = 64;
/// A walk over fewer slots parks nothing.
const FEW: usize = 2 * BLOCK;
/// Blocks that are parked at one time, at least.
const LEAST: usize = 2;

/// The blocks of a slab.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// What walks look at.
    walked: Vec<u32>,
    parked: Vec<u32>,
}

impl Slab {
    /// The slots of a block that there are.
    fn slots_of(&self, block: u32) -> std::ops::Range<usize> {
        let first = block as usize * BLOCK;
        first..self.slots.len().min(first + BLOCK)
    }

    fn parked(&self) -> usize {
        self.blocks.parked.len() * BLOCK
    }

    /// How many requests there are.
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len() - self.parked()
    }

    /// How many slots a walk looks at; zero if there is no request.
    pub fn in_use_at_most(&self) -> usize {
        match self.count() {
            0 => 0,
            _ => self.slots.len() - self.parked(),
        }
    }

    /// The slots that may be in use, with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (Index, &Request)> {
        let slots = self.blocks.walked.iter();
        let slots = slots.flat_map(|block| self.slots_of(*block));
        slots.map(|slot| (number(self.first, slot), &self.slots[slot]))
    }

    /// The requests there are.
    pub fn in_use(&self) -> impl Iterator<Item = &Request> {
        let requests = self.numbered().map(|(_, request)| request);
        let in_use = requests.filter(|request| request.phase != Phase::Free);
        in_use.take(self.count())
    }

    /// A walk over all requests, which makes the next one shorter if it found few. Returns how many slots it looked at.
    pub fn visit(&mut self, mut visit: impl FnMut(&Request)) -> usize {
        let looks = self.in_use_at_most();
        let mut empty = Vec::new();
        let mut blocks = std::mem::take(&mut self.blocks.walked);
        if looks > 0 {
            for block in &blocks {
                let slots = &self.slots[self.slots_of(*block)];
                let in_use = slots.iter().filter(|request| request.phase != Phase::Free);
                if in_use.inspect(|request| visit(request)).count() == 0 {
                    empty.push(*block);
                }
            }
        } else if blocks.len() >= FEW / BLOCK + LEAST {
            empty.clone_from(&blocks);
        }
        // Some stay for the next requests, and the last block, which may still grow. To park few would not be worth the time.
        empty.retain(|block| (*block as usize + 1) * BLOCK <= self.slots.len());
        empty.drain(..empty.len().min(FEW / BLOCK));
        if empty.len() >= LEAST.max(blocks.len() / 2) {
            self.park(&empty, &mut blocks);
        }
        self.blocks.walked = blocks;
        looks
    }

    fn park(&mut self, empty: &[u32], walked: &mut Vec<u32>) {
        let mut parked = vec![false; self.slots.len().div_ceil(BLOCK)];
        for block in empty.iter().rev() {
            parked[*block as usize] = true;
            self.blocks.parked.push(*block);
        }
        walked.retain(|block| !parked[*block as usize]);
        let stays = |index: &Index| !parked[own_slot(*index) / BLOCK];
        self.free.retain(stays);
        self.free.shrink_to(2 * self.free.len());
    }

    pub(super) fn has_parked(&self) -> bool {
        !self.blocks.parked.is_empty()
    }

    /// A slot for one more request than the queue of free ones is long enough for.
    #[cold]
    #[inline(never)]
    pub(super) fn more(&mut self) -> Option<Index> {
        let Some(block) = self.blocks.parked.pop() else {
            if self.slots.len().is_multiple_of(BLOCK) {
                self.blocks.walked.push((self.slots.len() / BLOCK) as u32);
            }
            return None;
        };
        self.blocks.walked.push(block);
        let (first, slots) = (self.first, self.slots_of(block));
        self.free.extend(slots.map(|slot| number(first, slot)));
        debug_assert!(self.free.len() > RESERVE);
        self.free.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::pack::Buffer;
    use crate::engine::requests::Kind;
    use std::collections::BTreeMap;

    fn request(tag: i32) -> Request {
        let mut request = Request::new(Kind::Receive, Buffer::empty(), 0, 0, 0);
        request.tag = tag;
        request
    }

    fn tags(slab: &mut Slab) -> Vec<i32> {
        let mut tags = Vec::new();
        slab.visit(|request| tags.push(request.tag));
        tags.sort_unstable();
        tags
    }

    #[test]
    fn a_walk_costs_what_is_in_use_and_not_what_was() {
        let mut slab = Slab::new(2);
        let many: Vec<Index> = (0..100_000).map(|tag| slab.insert(request(tag))).collect();
        let stay = [7, 8, 50_000, 99_999];
        for (tag, index) in many.iter().enumerate() {
            if !stay.contains(&(tag as i32)) {
                slab.release(*index);
            }
        }
        assert_eq!(slab.visit(|_| {}), 100_000);
        assert_eq!(tags(&mut slab), stay);
        assert!(slab.in_use_at_most() <= FEW + stay.len() * BLOCK);
        // Few requests after another take no more.
        for tag in 0..10_000 {
            let index = slab.insert(request(tag));
            slab.release(index);
        }
        assert!(slab.in_use_at_most() <= FEW + stay.len() * BLOCK);
        // Many at one time do, without new slots, until the next walk.
        let again: Vec<Index> = (0..90_000).map(|tag| slab.insert(request(tag))).collect();
        assert_eq!(slab.slots.len(), 100_000);
        assert_eq!(slab.count(), 90_004);
        again.iter().for_each(|index| slab.release(*index));
        slab.visit(|_| {});
        assert!(slab.in_use_at_most() <= FEW + stay.len() * BLOCK);
        // Without a request there is nothing to look at, and the next ones are near each other.
        stay.iter()
            .for_each(|tag| slab.release(many[*tag as usize]));
        assert_eq!((slab.visit(|_| {}), slab.count()), (0, 0));
        assert!(slab.free.len() <= FEW + BLOCK);
    }

    #[test]
    fn random_lives() {
        for seed in 0..8u64 {
            let mut state = seed;
            let mut random = |below: usize| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below
            };
            let mut slab = Slab::new(1);
            let mut model: BTreeMap<Index, i32> = BTreeMap::new();
            for step in 0..100 {
                // More or fewer, by a burst.
                let most = [5_000, 50, 50, 50][random(4)];
                for tag in 0..random(most) as i32 {
                    let index = slab.insert(request(tag));
                    assert_eq!(model.insert(index, tag), None, "{seed} {step}");
                }
                let goal = random(1 + model.len()) / (1 + random(40));
                while model.len() > goal {
                    let (first, last) = (model.first_key_value(), model.last_key_value());
                    let (first, last) = (*first.unwrap().0, *last.unwrap().0);
                    let from = first + random((last - first) as usize + 1) as u32;
                    let index = *model.range(from..).next().unwrap().0;
                    model.remove(&index);
                    slab.release(index);
                    assert!(slab.get(index).is_none());
                }
                let mut wanted: Vec<i32> = model.values().copied().collect();
                wanted.sort_unstable();
                if random(3) == 0 {
                    assert_eq!(tags(&mut slab), wanted, "{seed} {step}");
                }
                let mut found: Vec<i32> = slab.in_use().map(|request| request.tag).collect();
                found.sort_unstable();
                assert_eq!(found, wanted, "{seed} {step}");
                assert_eq!(slab.count(), model.len());
                for (index, tag) in model.iter().step_by(1 + model.len() / 100) {
                    assert_eq!(slab.get(*index).map(|request| request.tag), Some(*tag));
                }
            }
        }
    }
}
