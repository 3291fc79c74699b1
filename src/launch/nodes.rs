//! Which node each process of the job is on.
//!
//! Invariant: all processes say the same of each. Jobs of several nodes are not started yet, so what there is to know is what
//! `OXMPI_PRETEND_NODES` says: the algorithms for several nodes, and the calls that tell nodes apart, go by this alone.

use crate::variables::Variable;
use std::sync::OnceLock;

/// The nodes and the processes of the job, when this process has joined it.
static JOB: OnceLock<(u32, u32)> = OnceLock::new();

pub static PRETEND_NODES: Variable<u64> = Variable::new(
    "PRETEND_NODES",
    1,
    "The ranks of MPI_COMM_WORLD behave as if they were on so many nodes, about the same number of following ranks on each: \
     MPI_Comm_split_type tells them apart, and collective operations go from node to node, without memory that nodes \
     share. To try out programs and the library itself.",
)
.same_on_all();

/// The process has joined a job of so many.
pub fn joined(processes: u32) {
    let nodes = PRETEND_NODES.get().clamp(1, processes.max(1).into());
    JOB.get_or_init(|| (nodes as u32, processes));
}

/// How many nodes the job has.
#[inline]
pub fn number() -> u32 {
    JOB.get().map_or(1, |(nodes, _)| *nodes)
}

/// The node of a process; 0 in a job of one node.
pub fn of(process: u32) -> u32 {
    match JOB.get() {
        None | Some((1, _)) => 0,
        Some((nodes, processes)) => pretended(process, *processes, *nodes),
    }
}

fn pretended(process: u32, processes: u32, nodes: u32) -> u32 {
    (u64::from(process) * u64::from(nodes) / u64::from(processes)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_processes_that_follow_each_other() {
        for processes in 1..20 {
            for nodes in 1..=processes {
                let assigned = (0..processes).map(|process| pretended(process, processes, nodes));
                let mut found: Vec<u32> = assigned.collect();
                assert!(found.is_sorted());
                found.dedup();
                assert_eq!(found, (0..nodes).collect::<Vec<_>>());
            }
        }
    }
}
