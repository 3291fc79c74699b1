//! Which node each process of the job is on.
//!
//! Invariant: all processes say the same of each. Jobs of several nodes are not started yet, so what there is to know is what
//! `OXMPI_PRETEND_NODES` says: the algorithms for several nodes, and the calls that tell nodes apart, go by this alone.

use super::job;
use crate::variables::Variable;

pub static PRETEND_NODES: Variable<u64> = Variable::new(
    "PRETEND_NODES",
    1,
    "The ranks of MPI_COMM_WORLD behave as if they were on so many nodes, about the same number of following ranks on each: \
     MPI_Comm_split_type tells them apart, and collective operations go from node to node, without memory that nodes \
     share. To try out programs and the library itself.",
)
.same_on_all();

/// How many nodes the job has.
#[inline]
pub fn number() -> u32 {
    let pretended = PRETEND_NODES.get().clamp(1, u32::MAX.into()) as u32;
    if pretended == 1 {
        return 1;
    }
    job().map_or(1, |job| pretended.min(job.size))
}

/// The node of a process; 0 in a job of one node.
pub fn of(process: u32) -> u32 {
    match (number(), job()) {
        (1, _) | (_, None) => 0,
        (nodes, Some(job)) => place(process, job.size, nodes),
    }
}

fn place(process: u32, processes: u32, nodes: u32) -> u32 {
    (u64::from(process) * u64::from(nodes) / u64::from(processes)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_processes_that_follow_each_other() {
        for processes in 1..20 {
            for nodes in 1..=processes {
                let places = (0..processes).map(|process| place(process, processes, nodes));
                let mut found: Vec<u32> = places.collect();
                assert!(found.is_sorted());
                found.dedup();
                assert_eq!(found, (0..nodes).collect::<Vec<_>>());
            }
        }
    }
}
