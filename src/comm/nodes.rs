//! How the ranks of a communicator are spread over several nodes.
//!
//! Invariant: nodes are numbered in the order of their lowest ranks and a node's ranks ascend, so all ranks have the same
//! picture without a message. What is made of it needs no context id: two ranks are on one node or on two, and messages of
//! one pair are never of both levels.

use super::Members;
use crate::group::Group;
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the module.
pub struct Nodes {
    number: u32,
    form: Form,
}

/// At most eight bytes a rank.
enum Form {
    /// Node after node is rank after rank: the first rank of each node, and the number of ranks.
    InOrder(Box<[u32]>),
    Mixed {
        /// By rank.
        node_of: Box<[u32]>,
        /// All ranks, node by node.
        by_node: Box<[u32]>,
    },
}

/// The ranks of a node, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks<'a> {
    /// Consecutive ranks: the first, and how many.
    Following(usize, usize),
    Listed(&'a [u32]),
}

impl<'a> Ranks<'a> {
    pub fn len(self) -> usize {
        match self {
            Ranks::Following(_, count) => count,
            Ranks::Listed(ranks) => ranks.len(),
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The rank at a position, which must be below the number of ranks.
    pub fn at(self, position: usize) -> usize {
        match self {
            Ranks::Following(first, _) => first + position,
            Ranks::Listed(ranks) => ranks[position] as usize,
        }
    }

    /// The lowest rank.
    pub fn first(self) -> usize {
        self.at(0)
    }

    /// Where a rank is among them.
    pub fn position(self, rank: usize) -> Option<usize> {
        match self {
            Ranks::Following(first, count) => {
                rank.checked_sub(first).filter(|place| *place < count)
            }
            Ranks::Listed(ranks) => ranks.binary_search(&(rank as u32)).ok(),
        }
    }

    pub fn iter(self) -> impl Iterator<Item = usize> + use<'a> {
        (0..self.len()).map(move |position| self.at(position))
    }
}

impl Nodes {
    /// `None` if all are on one node; `node_of` tells that of a process.
    pub fn of(members: &Members, node_of: impl Fn(u32) -> u32) -> Option<Nodes> {
        // A search of a list would be quadratic for ranks on a node each. No hash: its seed comes by a call where a thread can be cancelled.
        let mut known = BTreeMap::new();
        let nodes = (0..members.size()).map(|rank| {
            let next = known.len() as u32;
            let node = node_of(members.process(rank));
            *known.entry(node).or_insert(next)
        });
        let nodes: Box<[u32]> = nodes.collect();
        let number = known.len() as u32;
        drop(known);
        if number <= 1 {
            return None;
        }
        let form = if nodes.is_sorted() {
            let begins = nodes.chunk_by(|a, b| a == b).scan(0, |begin, ranks| {
                *begin += ranks.len() as u32;
                Some(*begin)
            });
            Form::InOrder([0].into_iter().chain(begins).collect())
        } else {
            let mut by_node: Box<[u32]> = (0..nodes.len() as u32).collect();
            // Stable: a node's ranks ascend.
            by_node.sort_by_key(|rank| nodes[*rank as usize]);
            Form::Mixed {
                node_of: nodes,
                by_node,
            }
        };
        Some(Nodes { number, form })
    }

    pub fn number(&self) -> usize {
        self.number as usize
    }

    pub fn node_of(&self, rank: usize) -> usize {
        match &self.form {
            Form::InOrder(begins) => begins.partition_point(|begin| *begin as usize <= rank) - 1,
            Form::Mixed { node_of, .. } => node_of[rank] as usize,
        }
    }

    /// The ranks of a node.
    pub fn ranks(&self, node: usize) -> Ranks<'_> {
        match &self.form {
            Form::InOrder(begins) => {
                let (begin, end) = (begins[node] as usize, begins[node + 1] as usize);
                Ranks::Following(begin, end - begin)
            }
            Form::Mixed { node_of, by_node } => {
                let begin = |node: usize| {
                    by_node.partition_point(|rank| (node_of[*rank as usize] as usize) < node)
                };
                Ranks::Listed(&by_node[begin(node)..begin(node + 1)])
            }
        }
    }

    /// All ranks, node by node.
    pub fn by_node(&self) -> impl Iterator<Item = usize> {
        let all = match &self.form {
            Form::InOrder(begins) => Ranks::Following(0, begins[self.number()] as usize),
            Form::Mixed { by_node, .. } => Ranks::Listed(by_node),
        };
        all.iter()
    }

    /// The most ranks of one node.
    pub fn most(&self) -> usize {
        let each = (0..self.number()).map(|node| self.ranks(node).len());
        each.max().unwrap_or(0)
    }

    /// Whether node after node is rank after rank.
    pub fn are_in_order(&self) -> bool {
        matches!(self.form, Form::InOrder(_))
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
        assert_eq!(nodes.ranks(0), Ranks::Listed(&[0, 2]));
        assert_eq!(nodes.ranks(1), Ranks::Listed(&[1, 3]));
        assert_eq!(nodes.ranks(2), Ranks::Listed(&[4]));
        assert_eq!(nodes.ranks(1).position(3), Some(1));
        assert_eq!(nodes.ranks(1).position(2), None);
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
        assert_eq!(nodes.ranks(7), Ranks::Following(7, 1));
    }

    #[test]
    fn ranks_in_blocks_follow_each_other() {
        let nodes = Nodes::of(&Members::All(10), |process| process / 4).unwrap();
        assert_eq!((nodes.number(), nodes.most()), (3, 4));
        assert_eq!(nodes.ranks(2), Ranks::Following(8, 2));
        assert_eq!(nodes.ranks(1).iter().collect::<Vec<_>>(), [4, 5, 6, 7]);
        assert_eq!((nodes.ranks(1).first(), nodes.ranks(1).at(3)), (4, 7));
        assert_eq!(nodes.ranks(1).position(6), Some(2));
        assert_eq!(
            (nodes.ranks(1).position(3), nodes.ranks(1).position(8)),
            (None, None)
        );
        let all: Vec<usize> = (0..10).map(|rank| nodes.node_of(rank)).collect();
        assert_eq!(all, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
    }
}
