//! How the ranks of a communicator are spread over several nodes.
//!
//! Invariant: nodes are numbered in the order of their lowest ranks and a node's ranks ascend, so all ranks have the same
//! picture without a message. What is made of it needs no context id: two ranks are on one node or on two, and messages of
//! one pair are never of both levels.

use super::Members;
use crate::group::Group;
use std::collections::HashMap;
use std::sync::Arc;

/// See the module.
pub struct Nodes {
    /// By rank.
    node_of: Box<[usize]>,
    /// By node.
    ranks: Box<[Box<[usize]>]>,
}

impl Nodes {
    /// `None` if all are on one node; `node_of` tells that of a process.
    pub fn of(members: &Members, node_of: impl Fn(u32) -> u32) -> Option<Nodes> {
        // By hash: a search of a list would be quadratic for ranks on a node each.
        let (mut known, mut ranks) = (HashMap::new(), Vec::new());
        let places = (0..members.size()).map(|rank| {
            let node = node_of(members.process(rank));
            let at = *known.entry(node).or_insert_with(|| {
                ranks.push(Vec::new());
                ranks.len() - 1
            });
            ranks[at].push(rank as usize);
            at
        });
        let node_of = places.collect();
        (ranks.len() > 1).then(|| Nodes {
            node_of,
            ranks: ranks.into_iter().map(Vec::into_boxed_slice).collect(),
        })
    }

    pub fn number(&self) -> usize {
        self.ranks.len()
    }

    pub fn node_of(&self, rank: usize) -> usize {
        self.node_of[rank]
    }

    /// The ranks of a node.
    pub fn ranks(&self, node: usize) -> &[usize] {
        &self.ranks[node]
    }

    /// All ranks, node by node.
    pub fn by_node(&self) -> impl Iterator<Item = usize> {
        self.ranks.iter().flatten().copied()
    }

    /// The most ranks of one node.
    pub fn most(&self) -> usize {
        let each = self.ranks.iter().map(|ranks| ranks.len());
        each.max().unwrap_or(0)
    }

    /// Whether node after node is rank after rank.
    pub fn are_in_order(&self) -> bool {
        self.node_of.is_sorted()
    }
}

/// Some ranks of a communicator as members.
pub fn some(members: &Members, ranks: impl IntoIterator<Item = usize>) -> Members {
    let processes = ranks.into_iter().map(|rank| members.process(rank as i32));
    Members::Of(Arc::new(processes.collect::<Group>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_lowest_ranks() {
        let members = some(&Members::All(9), [8, 1, 7, 0, 3]);
        let nodes = Nodes::of(&members, |process| process / 3 + 10).unwrap();
        assert_eq!(nodes.number(), 3);
        assert_eq!(nodes.ranks(0), [0, 2]);
        assert_eq!(nodes.ranks(1), [1, 3]);
        assert_eq!(nodes.ranks(2), [4]);
        assert_eq!(nodes.by_node().collect::<Vec<_>>(), [0, 2, 1, 3, 4]);
        assert_eq!((nodes.node_of(3), nodes.most()), (1, 2));
        assert!(!nodes.are_in_order());
        assert!(Nodes::of(&members, |_| 4).is_none());
    }

    #[test]
    fn ranks_may_be_on_a_node_each() {
        let size = 100_000;
        let nodes = Nodes::of(&Members::All(size), |process| size - process).unwrap();
        assert_eq!((nodes.number(), nodes.most()), (size as usize, 1));
        assert!(nodes.by_node().eq(0..size as usize));
        assert!(nodes.are_in_order());
    }
}
