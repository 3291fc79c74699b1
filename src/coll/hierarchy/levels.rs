//! The two levels of an operation on several nodes, as one rank sees them: its node's ranks, and the leaders.
//!
//! Invariant: all ranks see the same nodes and leaders.

use crate::coll::packed::{cut, cut_equally};
use crate::coll::team::Team;
use crate::comm::{Members, Nodes, Ranks, some};
use crate::datatype::{Buffer, Parts, Scratch};

/// See the module.
pub struct Levels<'a> {
    pub team: &'a Team<'a>,
    pub nodes: &'a Nodes,
    /// This rank's node.
    pub node: usize,
    /// By node.
    leads: Vec<usize>,
    inside: Members,
    leaders: Members,
}

impl<'a> Levels<'a> {
    /// With these leaders, by node. `None` on one node, which nothing here is chosen for.
    pub fn led_by(team: &'a Team<'a>, lead: impl Fn(Ranks<'_>) -> usize) -> Option<Levels<'a>> {
        let nodes = team.nodes()?;
        let node = nodes.node_of(team.rank());
        let leads = (0..nodes.number()).map(|node| lead(nodes.ranks(node)));
        let leads: Vec<usize> = leads.collect();
        let all = team.coll().members;
        Some(Levels {
            inside: some(all, nodes.ranks(node).iter()),
            leaders: some(all, leads.iter().copied()),
            team,
            nodes,
            node,
            leads,
        })
    }

    /// Each node is led by its lowest rank.
    pub fn of(team: &'a Team<'a>) -> Option<Levels<'a>> {
        Self::led_by(team, |ranks| ranks.first())
    }

    /// The root leads its node.
    pub fn to(team: &'a Team<'a>, root: usize) -> Option<Levels<'a>> {
        Self::led_by(team, |ranks| {
            let led = ranks.position(root).map(|_| root);
            led.unwrap_or_else(|| ranks.first())
        })
    }

    pub fn ranks(&self) -> Ranks<'a> {
        self.nodes.ranks(self.node)
    }

    pub fn position(&self, rank: usize) -> usize {
        self.ranks().position(rank).unwrap_or(0)
    }

    /// Those of this node.
    pub fn inside(&self) -> Team<'_> {
        let rank = self.position(self.team.rank());
        self.team.inside(&self.inside, rank)
    }

    /// The leader's rank within the node.
    pub fn leader(&self) -> usize {
        self.position(self.leads[self.node])
    }

    pub fn leads(&self) -> bool {
        self.leads[self.node] == self.team.rank()
    }

    /// The leaders, for one of them; their ranks are the nodes' numbers.
    pub fn leaders(&self) -> Option<Team<'_>> {
        let part = || self.team.part(&self.leaders, self.node, 1);
        self.leads().then(part)
    }

    /// The least ranks of a node.
    pub fn least(&self) -> usize {
        let nodes = 0..self.nodes.number();
        let ranks = nodes.map(|node| self.nodes.ranks(node).len());
        ranks.min().unwrap_or(1)
    }

    pub fn ends(&self, inside: Team<'_>, leaders: Option<Team<'_>>) {
        self.team.end_of(inside);
        if let Some(leaders) = leaders {
            self.team.end_of(leaders);
        }
    }

    /// Where each node's data begins, of `bytes` for each of its ranks, and the end.
    pub fn begins(&self, bytes: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut begins = vec![0];
        for node in 0..self.nodes.number() {
            let all: usize = self.nodes.ranks(node).iter().map(&bytes).sum();
            begins.push(begins[node] + all);
        }
        begins
    }

    /// Where the data of each rank of this node begins, if the first one's does so at `first`, and the end.
    pub fn begins_here(&self, first: usize, bytes: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut begins = vec![first];
        for rank in self.ranks().iter() {
            begins.push(begins[begins.len() - 1] + bytes(rank));
        }
        begins
    }
}

impl Levels<'_> {
    /// Parts of all ranks as one of each node, if each node's follow each other.
    pub fn by_node(&self, parts: &Parts) -> Option<Parts> {
        let ranks = (0..self.nodes.number()).map(|node| self.nodes.ranks(node));
        let parts = ranks.map(|ranks| parts.range(ranks.first(), ranks.len()));
        let parts = parts.collect::<Option<Box<[Buffer]>>>();
        parts.filter(|_| self.nodes.are_in_order()).map(Parts::Each)
    }

    /// Those of this node's ranks.
    pub fn of_node(&self, parts: &Parts) -> Parts {
        Parts::Each(self.ranks().iter().map(|rank| parts.of(rank)).collect())
    }

    /// Where a leader has equal parts of its node's ranks: among those of all, or in the memory that is returned, too.
    pub fn here(&self, parts: Option<&Parts>, each: usize) -> (Option<Parts>, Scratch) {
        let bytes = parts.map_or(self.ranks().len() * each, |_| 0);
        let memory = self.for_leader(bytes);
        let here = match parts {
            Some(parts) => Some(self.of_node(parts)),
            None => self.leads().then(|| cut_equally(&memory.buffer(), each)),
        };
        (here, memory)
    }

    /// Equal parts of all ranks as one of each node: where they are, or in memory where each node's follow each other.
    pub fn by_node_or_aside(&self, parts: &Parts, each: usize) -> (Parts, Option<Scratch>) {
        if let Some(by_node) = self.by_node(parts) {
            return (by_node, None);
        }
        let aside = Scratch::new(self.team.size() * each);
        let by_node = cut(&aside.buffer(), &self.begins(|_| each));
        (by_node, Some(aside))
    }

    /// Memory that only a leader needs.
    pub fn for_leader(&self, bytes: usize) -> Scratch {
        Scratch::new(if self.leads() { bytes } else { 0 })
    }

    /// Visits some ranks' parts in a buffer that has all node by node, with where they belong.
    pub fn each_part(
        &self,
        whole: &Buffer,
        parts: &Parts,
        of: impl Fn(usize) -> bool,
        visit: impl Fn(Buffer, Buffer),
    ) {
        let mut begin = 0;
        for rank in self.nodes.by_node() {
            let part = parts.of(rank);
            if of(rank) {
                visit(whole.slice(begin, part.len()), part);
            }
            begin += part.len();
        }
    }
}
