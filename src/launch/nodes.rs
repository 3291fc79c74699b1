//! Which node each process of the job is on.
//!
//! Invariant: all processes say the same of each. A node is a host, or the part of one that `OXMPI_PRETEND` makes a node: the
//! algorithms for several nodes, and the calls that tell nodes apart, go by this alone.

use super::map::NodeMap;
use crate::variables::pretend::PRETEND;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The nodes of a job.
pub struct JobNodes {
    number: u32,
    numbering: Numbering,
    are_hosts: bool,
}

/// How a process's node is found.
enum Numbering {
    OneNode,
    /// The launcher has numbered the hosts in the order of their lowest processes.
    AsHosts(Arc<NodeMap>),
    ByProcess(Box<[u32]>),
}

/// Of the job that this process has joined.
static JOB: OnceLock<JobNodes> = OnceLock::new();

/// The process has joined a job whose processes are on these hosts.
pub fn joined(hosts: &Arc<NodeMap>) {
    JOB.get_or_init(|| JobNodes::new(hosts, PRETEND.get().nodes.into()));
}

impl JobNodes {
    /// Of processes on these hosts, of which each is split until there are so many nodes.
    pub fn new(hosts: &Arc<NodeMap>, pretended_nodes: u64) -> JobNodes {
        let processes = hosts.ranks();
        let wanted = pretended_nodes.clamp(1, processes.max(1).into()) as u32;
        let are_hosts = (1..processes).any(|process| hosts.node_of(process) != hosts.node_of(0));
        if wanted == 1
            && let Some(number) = in_order(hosts)
        {
            let numbering = match number {
                0 | 1 => Numbering::OneNode,
                _ => Numbering::AsHosts(hosts.clone()),
            };
            return JobNodes {
                number: number.max(1),
                numbering,
                are_hosts,
            };
        }
        // By the order of their lowest processes.
        let mut known = HashMap::new();
        let mut number = |process| {
            let part = pretended(process, processes, wanted);
            let next = known.len() as u32;
            *known.entry((hosts.node_of(process), part)).or_insert(next)
        };
        let node_of: Box<[u32]> = (0..processes).map(&mut number).collect();
        let number = known.len().max(1) as u32;
        JobNodes {
            number,
            numbering: match number {
                1 => Numbering::OneNode,
                _ => Numbering::ByProcess(node_of),
            },
            are_hosts,
        }
    }

    /// The node of a process of the job.
    pub fn of(&self, process: u32) -> u32 {
        match &self.numbering {
            Numbering::OneNode => 0,
            Numbering::AsHosts(hosts) => hosts.node_of(process),
            Numbering::ByProcess(node_of) => node_of[process as usize],
        }
    }
}

/// How many nodes there are, if they are numbered in the order of their lowest processes.
fn in_order(hosts: &NodeMap) -> Option<u32> {
    (0..hosts.ranks()).try_fold(0, |next, process| match hosts.node_of(process) {
        node if node < next => Some(next),
        node if node == next => Some(next + 1),
        _ => None,
    })
}

/// How many nodes the job has.
#[inline]
pub fn number() -> u32 {
    JOB.get().map_or(1, |job| job.number)
}

/// The node of a process; 0 in a job of one node.
pub fn of(process: u32) -> u32 {
    JOB.get().map_or(0, |job| job.of(process))
}

/// Whether the job has several hosts: what one of them has, memory and cores, others know nothing of.
pub fn are_hosts() -> bool {
    JOB.get().is_some_and(|job| job.are_hosts)
}

/// Which of the nodes that `OXMPI_PRETEND` makes of a job of so many processes is a process's.
pub fn part(process: u32, processes: u32) -> u32 {
    let wanted = PRETEND.get().nodes.clamp(1, processes.max(1));
    pretended(process, processes, wanted)
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

    #[test]
    fn hosts_are_nodes_and_pretended_nodes_split_them() {
        let hosts = Arc::new(NodeMap::new(&[1, 1, 0, 1, 0, 0], &[]));
        let nodes = |wanted| {
            let nodes = JobNodes::new(&hosts, wanted);
            let all: Vec<u32> = (0..6).map(|process| nodes.of(process)).collect();
            (nodes.number, nodes.are_hosts, all)
        };
        assert_eq!(nodes(1), (2, true, vec![0, 0, 1, 0, 1, 1]));
        assert_eq!(nodes(2), (4, true, vec![0, 0, 1, 2, 3, 3]));
        // Numbered by the launcher as they are here.
        let hosts = Arc::new(NodeMap::new(&[0, 0, 1, 0, 2], &[]));
        let nodes = JobNodes::new(&hosts, 1);
        assert!(matches!(nodes.numbering, Numbering::AsHosts(_)));
        assert_eq!((nodes.number, nodes.of(2), nodes.of(4)), (3, 1, 2));
        let one = JobNodes::new(&Arc::new(NodeMap::of_one(4)), 2);
        assert_eq!((one.number, one.are_hosts, one.of(2)), (2, false, 1));
    }
}
