//! A LogGP clock for simulated ranks: each has a time of its own, and messages take time.
//! Alexandrov, Ionescu, Schauser, Scheiman: LogGP: incorporating long messages into the LogP model, 1995.
//!
//! A message of b bytes keeps its sender busy for o, the sender's and the receiver's link for max(g, bG) each, is under way for L,
//! and keeps its receiver busy for o. Copies and reductions take no time. Invariant: times do not depend on the schedule, for a rank
//! takes messages in the order of its own steps.

/// LogGP parameters of a pair of ranks, picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// L
    pub latency: u64,
    /// o
    pub overhead: u64,
    /// g
    pub gap: u64,
    /// G
    pub byte: u64,
}

impl Costs {
    /// How long a message keeps a link busy.
    pub fn link(&self, bytes: usize) -> u64 {
        self.gap.max(bytes as u64 * self.byte)
    }
}

#[derive(Clone, Copy, Default)]
struct Rank {
    now: u64,
    /// When its links are free again.
    sends_from: u64,
    receives_from: u64,
}

/// A message under way.
#[derive(Clone, Copy)]
pub struct Flight {
    /// When its first byte is there.
    head: u64,
    bytes: usize,
    costs: Costs,
}

/// See the module.
pub struct Clock {
    between: Costs,
    inside: Costs,
    ranks_a_node: usize,
    ranks: Vec<Rank>,
}

impl Clock {
    /// For so many ranks, each on a node of its own.
    pub fn new(ranks: usize, costs: Costs) -> Clock {
        Clock {
            between: costs,
            inside: costs,
            ranks_a_node: 1,
            ranks: vec![Rank::default(); ranks],
        }
    }

    /// With so many ranks on each node in turn, and the costs of messages within.
    pub fn with_nodes(self, ranks_a_node: usize, inside: Costs) -> Clock {
        Clock {
            inside,
            ranks_a_node,
            ..self
        }
    }

    /// A rank begins to send.
    pub fn send(&mut self, from: usize, to: usize, bytes: usize) -> Flight {
        let costs = match from / self.ranks_a_node == to / self.ranks_a_node {
            true => self.inside,
            false => self.between,
        };
        let rank = &mut self.ranks[from];
        rank.now = (rank.now + costs.overhead).max(rank.sends_from);
        rank.sends_from = rank.now + costs.link(bytes);
        Flight {
            head: rank.now + costs.latency,
            bytes,
            costs,
        }
    }

    /// A rank has waited for a message, and takes it.
    pub fn receive(&mut self, to: usize, flight: Flight) {
        let Flight { head, bytes, costs } = flight;
        let rank = &mut self.ranks[to];
        let begin = head.max(rank.receives_from);
        rank.receives_from = begin + costs.link(bytes);
        rank.now = rank.now.max(begin + bytes as u64 * costs.byte) + costs.overhead;
    }

    /// When the last rank is done, picoseconds after all began.
    pub fn end(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.now).max().unwrap_or(0)
    }
}
