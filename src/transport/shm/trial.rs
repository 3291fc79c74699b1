//! Which of two ways costs less, learned from what they cost on the real data.
//!
//! Where the cores are decides it, and the host of a virtual machine moves them while a job runs: so the other way is tried
//! again now and then. Invariant: outside of a trial the cheaper way is used.

use crate::os::ticks;

/// Measurements of a trial, when those before have gone the same way.
const COUNTED: u32 = 8;
/// Bytes of a trial before that: more than a core's own caches, so that lines are where this way leaves them.
const SETTLING: u32 = 1 << 20;
/// Ticks between trials of the other way, about 100 ms: a trial costs a millisecond at worst.
const INTERVAL: u64 = 250_000_000;
/// A way that was so many times dearer is tried again after four intervals only.
const FAR_OFF: f32 = 3.0;
/// One of so many is measured between trials.
const SAMPLE: u32 = 64;

/// What something cost, ticks a kilobyte.
pub fn cost(since: u64, bytes: usize) -> u32 {
    let ticks = ticks().saturating_sub(since).saturating_mul(1024) / bytes.max(1) as u64;
    ticks.clamp(1, u64::from(u32::MAX)) as u32
}

/// What is known of two ways, 0 and 1.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    current: usize,
    /// Ticks a kilobyte, smoothed; zero is unknown.
    cost: [f32; 2],
    /// Way 0 is given up when it costs more than this share of the other.
    share: f32,
    /// Bytes left of a trial of `current` until it counts.
    settling: u32,
    /// Measurements of a trial still to come.
    trial: u32,
    next_trial: u64,
    count: u32,
}

impl Trial {
    /// Nothing is known yet; so many bytes do not count.
    pub fn of_fresh(settling: usize, share: f32) -> Self {
        Self {
            current: 0,
            cost: [0.0; 2],
            share,
            settling: settling as u32,
            trial: COUNTED,
            next_trial: 0,
            count: 0,
        }
    }

    /// The way to go.
    #[inline]
    pub fn current(&self) -> usize {
        self.current
    }

    /// So many bytes go the current way: whether that is to be measured.
    #[inline]
    pub fn is_measured(&mut self, bytes: usize) -> bool {
        self.count = self.count.wrapping_add(1);
        if self.settling > 0 {
            self.settling = self.settling.saturating_sub(bytes as u32);
            return false;
        }
        self.trial > 0 || self.count.is_multiple_of(SAMPLE)
    }

    /// Whether it is time to look for what a measurement said.
    #[inline]
    pub fn wants_news(&self) -> bool {
        self.trial > 0 || self.count % SAMPLE == SAMPLE / 2
    }

    /// What it has cost to go this way, ticks a kilobyte.
    pub fn learn(&mut self, way: usize, cost: u32) {
        let cost = (cost.max(1)) as f32;
        let known = &mut self.cost[way];
        *known = if *known == 0.0 {
            cost
        } else {
            // Somebody who was preempted is no reason to change: what is far off counts little.
            let weight = if self.trial > 0 { 0.5 } else { 0.125 };
            *known + (cost.min(*known * 4.0) - *known) * weight
        };
        if way == self.current {
            self.trial = self.trial.saturating_sub(1);
            if self.trial == 0 {
                self.decide();
            }
        }
    }

    /// After a trial, or when it is time for one.
    #[cold]
    fn decide(&mut self) {
        let other = 1 - self.current;
        let now = ticks();
        let [first, second] = self.cost;
        if self.cost[other] == 0.0 || now >= self.next_trial {
            let known = first > 0.0 && second > 0.0;
            let far_off = known && first.max(second) > FAR_OFF * first.min(second);
            self.next_trial = now + if far_off { 4 * INTERVAL } else { INTERVAL };
            self.cost[other] = 0.0;
            self.current = other;
            self.settling = SETTLING;
            self.trial = COUNTED;
        } else {
            self.current = usize::from(first > second * self.share);
        }
    }
}

#[cfg(test)]
impl Trial {
    /// It is time for the next trial.
    pub fn expire(&mut self) {
        self.next_trial = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes so many times, each with a megabyte; returns how often each way.
    fn run(trial: &mut Trial, times: u32, costs: [u32; 2]) -> [u32; 2] {
        let mut used = [0; 2];
        for _ in 0..times {
            let way = trial.current();
            used[way] += 1;
            if trial.is_measured(16 << 10) {
                trial.learn(way, costs[way]);
            }
        }
        used
    }

    #[test]
    fn the_cheaper_way_is_found_and_found_again() {
        for costs in [[100, 1000], [1000, 100]] {
            let mut trial = Trial::of_fresh(1 << 20, 1.0);
            run(&mut trial, 2000, costs);
            let cheap = usize::from(costs[1] < costs[0]);
            assert_eq!(run(&mut trial, 500, costs)[1 - cheap], 0);
            // The host moves the cores.
            trial.expire();
            let moved = [costs[1], costs[0]];
            run(&mut trial, 2000, moved);
            assert_eq!(run(&mut trial, 500, moved)[cheap], 0);
        }
    }
}
