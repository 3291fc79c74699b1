//! What a window over several hosts has more than another.

use crate::sync::{AtomicU32, Ordering};

/// Rounds of a barrier of as many ranks as there can be.
const ROUNDS: usize = 32;

/// See the module.
pub struct Hosts {
    /// What messages name the window by: one on all ranks, and never used again.
    pub key: u64,
    /// Ranks on this host.
    pub near: u32,
    /// Barriers that this rank has come to.
    barriers: AtomicU32,
    /// By round: arrivals that the rank before has told.
    arrivals: [AtomicU32; ROUNDS],
}

impl Hosts {
    pub fn new(key: u64, near: u32) -> Hosts {
        Hosts {
            key,
            near,
            barriers: AtomicU32::new(0),
            arrivals: [const { AtomicU32::new(0) }; ROUNDS],
        }
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
        let hosts = Hosts::new(1, 1);
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
