//! MPI_Win_shared_query.

use super::window::{Flavor, Target, Way, Window};
use crate::engine;
use crate::error::{Class, Result, fail};

/// Memory that this process can address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressed {
    pub base: usize,
    pub bytes: u64,
    pub unit: u64,
}

impl Window {
    /// What this process can address of a target's memory: all of it, or nothing. An empty part of consecutive memory has an address, too.
    /// MPI_PROC_NULL means the lowest rank that has some, of all hosts.
    ///
    /// Errors: MPI_ERR_RMA_FLAVOR for a dynamic window, MPI_ERR_RANK.
    pub fn shared_query(&self, rank: i32) -> Result<Addressed> {
        if self.flavor == Flavor::Dynamic {
            return fail!(
                Class::RmaFlavor,
                "{} was made by MPI_Win_create_dynamic and has no memory of its own",
                self.title()
            );
        }
        let nothing = |unit| Addressed {
            base: 0,
            bytes: 0,
            unit,
        };
        let Some(rank) = self.target("rank", rank)? else {
            let mut all = (0..self.size()).map(|rank| &self.targets[rank]);
            let first = all.find(|target| target.bytes > 0);
            let first = first.filter(|target| self.can_address(target));
            return Ok(first.map_or(nothing(self.targets[self.rank].unit), addressed));
        };
        let target = &self.targets[rank];
        Ok(match self.can_address(target) {
            true => addressed(target),
            false => nothing(target.unit),
        })
    }

    fn can_address(&self, target: &Target) -> bool {
        let own = &self.targets[self.rank];
        let is_near = engine::node_of(target.process) == engine::node_of(own.process);
        target.way == Way::Direct && is_near
    }
}

fn addressed(target: &Target) -> Addressed {
    Addressed {
        base: target.base,
        bytes: target.bytes,
        unit: target.unit,
    }
}
