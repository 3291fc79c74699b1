//! Graphs: all edges, known to all processes (MPI_Graph_create), or of each process its own (MPI_Dist_graph_create).
//!
//! Invariant: all nodes of edges are ranks.

use crate::error::{Class, Result, fail, memory};

/// The nodes are the ranks; node n's neighbors are `edges[index[n - 1]..index[n]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    index: Vec<i32>,
    edges: Vec<i32>,
}

impl Graph {
    /// A graph of at most `most` nodes. The last of `index` says how many edges there are, which the caller has read.
    ///
    /// Errors: MPI_ERR_ARG for more nodes, or an edge to what is no node; [`Graph::check_index`] for `index`.
    pub fn new(index: Vec<i32>, edges: Vec<i32>, most: i32) -> Result<Graph> {
        if index.len() > most as usize {
            return fail!(
                Class::Arg,
                "nnodes is {}; allowed are {most}, which comm_old has",
                index.len()
            );
        }
        Graph::check_index(&index)?;
        let nodes = index.len() as i32;
        let wrong = edges.iter().position(|node| !(0..nodes).contains(node));
        match wrong {
            None => Ok(Graph { index, edges }),
            Some(at) => fail!(
                Class::Arg,
                "edges[{at}] is {}; allowed is 0 to {}",
                edges[at],
                nodes - 1
            ),
        }
    }

    /// Errors: MPI_ERR_ARG where it falls or is negative.
    pub fn check_index(index: &[i32]) -> Result<()> {
        let mut last = 0;
        for (at, end) in index.iter().enumerate() {
            if *end < last {
                return fail!(
                    Class::Arg,
                    "index[{at}] is {end}; it must not be less than {last}"
                );
            }
            last = *end;
        }
        Ok(())
    }

    /// How many processes are in the graph.
    pub fn size(&self) -> i32 {
        self.index.len() as i32
    }

    pub fn index(&self) -> &[i32] {
        &self.index
    }

    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// Of a rank in the graph.
    pub fn neighbors(&self, rank: i32) -> &[i32] {
        let rank = rank as usize;
        let from = if rank == 0 { 0 } else { self.index[rank - 1] };
        &self.edges[from as usize..self.index[rank] as usize]
    }
}

/// An edge of a distributed graph, seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbor {
    pub rank: i32,
    /// 1 where the graph has no weights.
    pub weight: i32,
}

/// The edges of one process: those that come in, and those that go out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adjacent {
    pub sources: Vec<Neighbor>,
    pub destinations: Vec<Neighbor>,
    pub weighted: bool,
}

impl Adjacent {
    /// Neighbors from the caller's arrays; without weights there are none to check.
    ///
    /// Errors: MPI_ERR_RANK for what is no rank below `size`, MPI_ERR_ARG for a negative weight, MPI_ERR_NO_MEM.
    pub fn list(
        names: (&str, &str),
        ranks: Vec<i32>,
        weights: Option<Vec<i32>>,
        size: i32,
    ) -> Result<Vec<Neighbor>> {
        if let Some(at) = ranks.iter().position(|rank| !(0..size).contains(rank)) {
            return fail!(
                Class::Rank,
                "{}[{at}] is {}; allowed is 0 to {}",
                names.0,
                ranks[at],
                size - 1
            );
        }
        let weights = match weights {
            None => memory::filled(ranks.len(), 1, "weights")?,
            Some(weights) => weights,
        };
        if let Some(at) = weights.iter().position(|weight| *weight < 0) {
            return fail!(
                Class::Arg,
                "{}[{at}] is {}; it must not be negative",
                names.1,
                weights[at]
            );
        }
        let neighbors = ranks.into_iter().zip(weights);
        memory::collected(
            neighbors.map(|(rank, weight)| Neighbor { rank, weight }),
            "neighbors",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_of_the_standards_example() {
        // MPI 5.0, example 8.3
        let graph = Graph::new(vec![2, 3, 4, 6], vec![1, 3, 0, 3, 0, 2], 4).unwrap();
        assert_eq!(graph.size(), 4);
        let neighbors: Vec<&[i32]> = (0..4).map(|rank| graph.neighbors(rank)).collect();
        assert_eq!(neighbors, [&[1, 3][..], &[0], &[3], &[0, 2]]);
    }

    #[test]
    fn what_is_no_graph() {
        let class = |index: &[i32], edges: &[i32]| {
            let graph = Graph::new(index.to_vec(), edges.to_vec(), 2);
            graph.unwrap_err().class()
        };
        assert_eq!(class(&[1, 2, 3], &[0, 0, 0]), Class::Arg);
        assert_eq!(class(&[2, 1], &[0, 0]), Class::Arg);
        assert_eq!(class(&[-1, 1], &[0]), Class::Arg);
        assert_eq!(class(&[1, 2], &[0, 2]), Class::Arg);
        assert_eq!(class(&[1, 2], &[-1, 0]), Class::Arg);
        let (ranks, weights) = (("sources", "sourceweights"), Some(vec![1, -1]));
        let wrong = Adjacent::list(ranks, vec![0, 2], None, 2);
        assert_eq!(wrong.unwrap_err().class(), Class::Rank);
        let wrong = Adjacent::list(ranks, vec![0, 1], weights, 2);
        assert_eq!(wrong.unwrap_err().class(), Class::Arg);
    }
}
