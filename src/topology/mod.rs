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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    Cartesian(Cartesian),
    Graph(Graph),
    /// What this process knows of a distributed graph: its own neighbors.
    Distributed(Adjacent),
}
