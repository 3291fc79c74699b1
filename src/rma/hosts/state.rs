//! What a window over several hosts has more than another.

use super::flights::Queue;
use super::registered::Direct;
use std::sync::{Arc, OnceLock};

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
}

impl Hosts {
    /// Of so many ranks, of which `near` are on this host.
    pub fn new(key: u64, ranks: usize, near: u32) -> Hosts {
        Hosts {
            key,
            near,
            queues: (0..ranks).map(|_| OnceLock::new()).collect(),
            direct: OnceLock::new(),
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
}
