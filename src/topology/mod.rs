//! Virtual topologies (MPI 5.0, chapter 8): grids, graphs and distributed graphs as plain data, and who is whose neighbor.
//!
//! Invariant: a topology never changes after it was checked, so communicators share it. Ranks are those of the
//! communicator that has the topology.

mod cartesian;
pub mod dims;
mod graph;
pub mod reorder;

pub use cartesian::Cartesian;
pub use graph::{Adjacent, Graph, Neighbor};

/// Of a communicator.
///
/// Neighbors are `None` beyond the border of a grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    Cartesian(Cartesian),
    Graph(Graph),
    /// What this process knows of a distributed graph: its own neighbors.
    Distributed(Adjacent),
}

impl Topology {
    /// Whom a neighbourhood operation at this rank receives from, in the order of its buffer.
    pub fn sources(&self, rank: i32) -> Vec<Option<i32>> {
        match self {
            Topology::Cartesian(grid) => grid.neighbors(rank).collect(),
            Topology::Graph(graph) => graph.neighbors(rank).iter().copied().map(Some).collect(),
            Topology::Distributed(adjacent) => ranks(&adjacent.sources),
        }
    }

    /// Whom it sends to, in the order of its buffer.
    pub fn destinations(&self, rank: i32) -> Vec<Option<i32>> {
        match self {
            Topology::Cartesian(_) | Topology::Graph(_) => self.sources(rank),
            Topology::Distributed(adjacent) => ranks(&adjacent.destinations),
        }
    }

    /// The source whose data comes at this index, of several that are one process: processes send in the order of their
    /// destinations, and in a grid what leaves downwards comes from above.
    pub fn arrival(&self, index: usize) -> usize {
        match self {
            Topology::Cartesian(_) => index ^ 1,
            Topology::Graph(_) | Topology::Distributed(_) => index,
        }
    }
}

fn ranks(neighbors: &[Neighbor]) -> Vec<Option<i32>> {
    neighbors
        .iter()
        .map(|neighbor| Some(neighbor.rank))
        .collect()
}
