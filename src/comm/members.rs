//! The members of a communicator: numbers of processes, by rank.
//!
//! Invariant: members never change. The ranks of the world, whose numbers are those of the processes, need no table.

use crate::engine::shares_memory;
use crate::group::Group;
use std::sync::Arc;

/// The processes of a communicator, or of one side of it, by rank.
#[derive(Clone)]
pub enum Members {
    /// Rank and process number are the same, for so many processes: the one case that most messages meet.
    All(u32),
    Of(Arc<Group>),
}

impl Members {
    #[inline]
    pub fn size(&self) -> i32 {
        match self {
            Members::All(size) => *size as i32,
            Members::Of(group) => group.size(),
        }
    }

    /// The process number of a rank, which must be one of the members'.
    #[inline(always)]
    pub fn process(&self, rank: i32) -> u32 {
        match self {
            Members::All(_) => rank as u32,
            Members::Of(group) => group.member(rank),
        }
    }

    /// Whether all are in this process's segment.
    pub fn share_memory(&self) -> bool {
        (0..self.size()).all(|rank| shares_memory(self.process(rank)))
    }

    /// Whether processes of other jobs are among them.
    pub fn has_foreign(&self) -> bool {
        match self {
            Members::All(_) => false,
            Members::Of(group) => group.has_foreign(),
        }
    }

    pub fn group(&self) -> Arc<Group> {
        match self {
            Members::All(size) => Arc::new(Group::range(0, *size)),
            Members::Of(group) => group.clone(),
        }
    }

    /// A group as members of a job with so many processes.
    pub fn of(group: Arc<Group>, job: u32) -> Members {
        if *group == Group::range(0, job) {
            Members::All(job)
        } else {
            Members::Of(group)
        }
    }
}
