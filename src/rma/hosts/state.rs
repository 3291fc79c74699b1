//! What a window over several hosts has more than another.

use super::flights::Queue;
use super::registered::Direct;
use crate::sync::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Rounds of a barrier of as many ranks as there can be.
const ROUNDS: usize = 32;

/// See the module.
pub struct Hosts {
    /// What messages name the window by: one on all ranks, and never used again.
    pub key: u64,
    /// Ranks on this host.
    pub near: u32,
    /// By target: calls that are under way, once there was one.
    queues: Box<[OnceLock<Arc<Queue>>]>,
    /// Where the fabric reaches memory of other hosts by itself.
    pub direct: OnceLock<Direct>,
    /// Barriers that this rank has come to.
    barriers: AtomicU32,
    /// By round: arrivals that the rank before has told.
    arrivals: [AtomicU32; ROUNDS],
}

impl Hosts {
    /// Of so many ranks, of which `near` are on this host.
    pub fn new(key: u64, ranks: usize, near: u32) -> Hosts {
        Hosts {
            key,
            near,
            queues: (0..ranks).map(|_| OnceLock::new()).collect(),
            direct: OnceLock::new(),
            barriers: AtomicU32::new(0),
            arrivals: [const { AtomicU32::new(0) }; ROUNDS],
        }
    }

    /// The calls to a target, if there was one.
    #[inline]
    pub fn queue(&self, target: usize) -> Option<&Arc<Queue>> {
        self.queues[target].get()
    }

    /// The calls to a target, which `make` begins.
    pub fn queue_of(&self, target: usize, make: impl FnOnce() -> Arc<Queue>) -> &Arc<Queue> {
        self.queues[target].get_or_init(make)
    }

    /// The number of the next barrier.
    pub fn next_barrier(&self) -> u32 {
        self.barriers
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1)
    }

    /// Counts an arrival that another rank has told.
    pub fn has_arrived(&self, round: usize) {
        if let Some(count) = self.arrivals.get(round) {
            count.fetch_add(1, Ordering::Release); // pairs with `is_there`
        }
    }

    /// Whether the arrival of a round of this barrier was told.
    pub fn is_there(&self, round: usize, barrier: u32) -> bool {
        let count = self.arrivals[round].load(Ordering::Acquire);
        count.wrapping_sub(barrier) as i32 >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_of_later_barriers_count_for_those_before() {
        let hosts = Hosts::new(1, 2, 1);
        let first = hosts.next_barrier();
        assert!(!hosts.is_there(0, first));
        hosts.has_arrived(0);
        assert!(hosts.is_there(0, first) && !hosts.is_there(1, first));
        let second = hosts.next_barrier();
        assert!(!hosts.is_there(0, second));
        hosts.has_arrived(0);
        assert!(hosts.is_there(0, second) && hosts.is_there(0, first));
        hosts.has_arrived(ROUNDS);
    }
}
