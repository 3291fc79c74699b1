//! Which stores to fill cells with, learned from what they cost.
//!
//! Between cores that share a cache ordinary stores are best, between others those that go past the caches, by factors
//! of three to ten either way; and a virtual machine's host moves the cores while a job runs. So both are measured, on
//! the real data: the sender times the filling, the reader the reading. Invariant: outside of a trial the cheaper kind is used.

use crate::os::ticks;

/// How a cell is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    Ordinary = 0,
    /// Past the caches.
    Streaming = 1,
}

/// Cells of a trial that count: the last ones, when the cells before have been filled in the same way.
const COUNTED: u32 = 8;
/// Ticks between trials of the other kind, about 100 ms: a trial costs a millisecond at worst.
const INTERVAL: u64 = 250_000_000;
/// Ordinary stores are given up when they cost more than this share of the others. Measured: 0.3 to 0.5 between cores
/// with a common cache, 1 to 4 between others.
const SHARE: f32 = 0.9;
/// One cell of so many is measured between trials.
const SAMPLE: u32 = 8;

/// What is known of one peer.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    current: Stores,
    /// Ticks a kilobyte, smoothed; zero is unknown.
    cost: [f32; 2],
    /// Cells left of a trial of `current`.
    trial: u32,
    next_trial: u64,
    count: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            current: Stores::Ordinary,
            cost: [0.0; 2],
            trial: 0,
            next_trial: 0,
            count: 0,
        }
    }
}

/// What to do with the next cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub stores: Stores,
    /// Whether sender and reader are to measure it.
    pub measured: bool,
}

impl Pace {
    /// Plans the next cell; `lap` is how many cells there are.
    #[inline]
    pub fn plan(&mut self, lap: u32) -> Plan {
        self.count = self.count.wrapping_add(1);
        let measured = if self.trial > 0 {
            self.trial -= 1;
            self.trial < COUNTED
        } else {
            self.count.is_multiple_of(SAMPLE)
        };
        let plan = Plan {
            stores: self.current,
            measured,
        };
        if measured && self.trial == 0 {
            self.decide(lap);
        }
        plan
    }

    /// Ends a trial, or begins one when it is time.
    #[cold]
    fn decide(&mut self, lap: u32) {
        let other = match self.current {
            Stores::Ordinary => Stores::Streaming,
            Stores::Streaming => Stores::Ordinary,
        };
        let now = ticks();
        if self.cost[self.current as usize] == 0.0 {
            // Nothing has come back of this kind: go on with it.
            return;
        }
        if self.cost[other as usize] == 0.0 || now >= self.next_trial {
            self.next_trial = now + INTERVAL;
            self.cost[other as usize] = 0.0;
            self.current = other;
            self.trial = lap + COUNTED;
        } else {
            let [ordinary, streaming] = self.cost;
            self.current = if ordinary > streaming * SHARE {
                Stores::Streaming
            } else {
                Stores::Ordinary
            };
        }
    }

    /// What a cell of this kind has cost, ticks a kilobyte.
    #[inline]
    pub fn learn(&mut self, stores: Stores, cost: u32) {
        let cost = (cost.max(1)) as f32;
        let known = &mut self.cost[stores as usize];
        *known = if *known == 0.0 {
            cost
        } else {
            // A preempted reader is no reason to change: what is far off counts little.
            *known + (cost.min(*known * 4.0) - *known) / 8.0
        };
    }

    /// Whether larger rounds of cells are worth their memory: ordinary stores like lines that no core's own cache has.
    pub fn wants_more_cells(&self) -> bool {
        self.current == Stores::Ordinary && self.trial == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `cells` cells whose costs are given; returns how many were filled with each kind.
    fn run(pace: &mut Pace, cells: u32, costs: [u32; 2]) -> [u32; 2] {
        let mut used = [0; 2];
        for _ in 0..cells {
            let plan = pace.plan(16);
            used[plan.stores as usize] += 1;
            if plan.measured {
                pace.learn(plan.stores, costs[plan.stores as usize]);
            }
        }
        used
    }

    #[test]
    fn the_cheaper_kind_is_found_and_found_again() {
        for costs in [[100, 1000], [1000, 100]] {
            let mut pace = Pace::default();
            run(&mut pace, 200, costs);
            let cheap = usize::from(costs[1] < costs[0]);
            assert_eq!(run(&mut pace, 500, costs)[1 - cheap], 0);
            // The host moves the cores.
            pace.next_trial = 0;
            let moved = [costs[1], costs[0]];
            run(&mut pace, 200, moved);
            assert_eq!(run(&mut pace, 500, moved)[cheap], 0);
        }
    }
}
