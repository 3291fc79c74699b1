//! Which process takes which place in a topology, so that neighbors share as much of the machine as they can.
//!
//! Processes are sorted by the hardware they are confined to, outermost resource first, and the topology's nodes in an order
//! in which near ones stand together: a grid by halving its longest side again and again, a graph breadth first. One is laid on
//! the other, and taken if that costs less than the ranks as they are: the sum over all edges of weight × levels of
//! hardware that the two ends do not share. All processes compute the same from the same.

use super::{Cartesian, Graph};
use std::collections::VecDeque;

/// The resources that a process is confined to, the outermost first; `None`: it may use several of a kind.
pub type Place = Vec<Option<u32>>;

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub ends: (i32, i32),
    pub weight: i32,
}

/// The process (its old rank) for each node; `None` where the ranks as they are cost no more.
///
/// `nodes` are all nodes in an order in which near ones stand together; there are no more of them than processes.
pub fn arrange(places: &[Place], nodes: &[i32], edges: &[Edge]) -> Option<Vec<i32>> {
    let mut processes: Vec<i32> = (0..places.len() as i32).collect();
    processes.sort_by_key(|process| &places[*process as usize]);
    let mut arranged = vec![0; nodes.len()];
    for (node, process) in nodes.iter().zip(processes) {
        arranged[*node as usize] = process;
    }
    let plain: Vec<i32> = (0..nodes.len() as i32).collect();
    (cost(places, &arranged, edges) < cost(places, &plain, edges)).then_some(arranged)
}

/// Whether it can matter where a node is: not if any two processes are as far from each other as any others.
pub fn may_help(places: &[Place]) -> bool {
    let mut sorted: Vec<&Place> = places.iter().collect();
    sorted.sort();
    // In this order two processes are as far apart as the farthest neighbors between them.
    let mut distances = sorted.windows(2).map(|pair| distance(pair[0], pair[1]));
    let first = distances.next();
    distances.any(|other| Some(other) != first)
}

fn cost(places: &[Place], arranged: &[i32], edges: &[Edge]) -> u64 {
    let place = |node: i32| &places[arranged[node as usize] as usize];
    let each = edges.iter().map(|edge| {
        let levels = distance(place(edge.ends.0), place(edge.ends.1));
        levels * edge.weight as u64
    });
    each.sum()
}

/// Levels that two processes do not share. A process that is not confined shares nothing that can be known.
fn distance(one: &Place, other: &Place) -> u64 {
    let levels = one.iter().zip(other);
    let shared = levels.take_while(|(one, other)| one == other && one.is_some());
    (one.len() - shared.count()) as u64
}

/// The ranks of a grid, near ones together.
pub fn nodes_of_grid(grid: &Cartesian) -> Vec<i32> {
    let mut found = Vec::with_capacity(grid.size() as usize);
    let whole: Vec<(i32, i32)> = grid.sides().iter().map(|side| (0, *side)).collect();
    halve(grid, whole, &mut found);
    found
}

fn halve(grid: &Cartesian, part: Vec<(i32, i32)>, found: &mut Vec<i32>) {
    let longest = (0..part.len())
        .rev()
        .max_by_key(|at| part[*at].1 - part[*at].0);
    match longest {
        Some(at) if part[at].1 - part[at].0 > 1 => {
            let (from, to) = part[at];
            let middle = from + (to - from) / 2;
            let (mut low, mut high) = (part.clone(), part);
            low[at] = (from, middle);
            high[at] = (middle, to);
            halve(grid, low, found);
            halve(grid, high, found);
        }
        _ => {
            let place = part.iter().zip(grid.sides());
            found.push(place.fold(0, |rank, ((from, _), side)| rank * side + from));
        }
    }
}

/// Each neighbor once from each side.
pub fn edges_of_grid(grid: &Cartesian) -> Vec<Edge> {
    let ranks = 0..grid.size();
    let edges = ranks.flat_map(|rank| {
        let neighbors = grid.neighbors(rank).flatten();
        neighbors.map(move |other| Edge {
            ends: (rank, other),
            weight: 1,
        })
    });
    edges.collect()
}

/// One for each of the graph's edges.
pub fn edges_of_graph(graph: &Graph) -> Vec<Edge> {
    let ranks = 0..graph.size();
    let edges = ranks.flat_map(|rank| {
        let neighbors = graph.neighbors(rank).iter();
        neighbors.map(move |other| Edge {
            ends: (rank, *other),
            weight: 1,
        })
    });
    edges.collect()
}

/// The nodes breadth first, each part of the graph from its node of the fewest edges.
pub fn nodes_of_edges(count: i32, edges: &[Edge]) -> Vec<i32> {
    let mut near: Vec<Vec<i32>> = vec![Vec::new(); count as usize];
    for edge in edges {
        near[edge.ends.0 as usize].push(edge.ends.1);
        near[edge.ends.1 as usize].push(edge.ends.0);
    }
    let mut starts: Vec<i32> = (0..count).collect();
    starts.sort_by_key(|node| near[*node as usize].len());
    let mut seen = vec![false; count as usize];
    let (mut found, mut queue) = (Vec::with_capacity(count as usize), VecDeque::new());
    for start in starts {
        queue.push_back(start);
        while let Some(node) = queue.pop_front() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                found.push(node);
                queue.extend(&near[node as usize]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages of two caches of two cores; process n is on core `cores[n]`.
    fn places(cores: &[u32]) -> Vec<Place> {
        let place = |core: &u32| vec![Some(core / 4), Some(core / 2), Some(*core)];
        cores.iter().map(place).collect()
    }

    fn is_permutation(arranged: &[i32]) -> bool {
        let mut sorted = arranged.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..arranged.len() as i32)
    }

    #[test]
    fn a_grid_on_scattered_processes() {
        let grid = Cartesian::new(vec![4, 2], vec![false, false], 8).unwrap();
        let places = places(&[0, 4, 1, 5, 2, 6, 3, 7]);
        let edges = edges_of_grid(&grid);
        let arranged = arrange(&places, &nodes_of_grid(&grid), &edges).unwrap();
        assert!(is_permutation(&arranged));
        let packages: Vec<u32> = arranged
            .iter()
            .map(|process| places[*process as usize][0].unwrap())
            .collect();
        assert_eq!(packages, [0, 0, 0, 0, 1, 1, 1, 1]);
        let pairs = arranged
            .chunks(2)
            .map(|pair| distance(&places[pair[0] as usize], &places[pair[1] as usize]));
        assert!(
            pairs.into_iter().all(|distance| distance == 1),
            "rows share a cache"
        );
    }

    #[test]
    fn where_nothing_can_be_gained() {
        assert!(!may_help(&places(&[5])));
        assert!(!may_help(&places(&[5, 0])));
        assert!(!may_help(&places(&[5, 5, 5])));
        assert!(!may_help(&places(&[0, 4])));
        assert!(may_help(&places(&[0, 4, 0])));
        assert!(may_help(&places(&[4, 0, 0])));
        assert!(may_help(&places(&[0, 1, 2])));
        assert!(!may_help(&[vec![None], vec![None], vec![None]]));
    }

    #[test]
    fn ranks_that_lie_well_stay() {
        let grid = Cartesian::new(vec![4, 2], vec![true, false], 8).unwrap();
        let nodes = nodes_of_grid(&grid);
        assert!(is_permutation(&nodes));
        let edges = edges_of_grid(&grid);
        assert_eq!(
            arrange(&places(&[0, 1, 2, 3, 4, 5, 6, 7]), &nodes, &edges),
            None
        );
        let free = vec![vec![None; 3]; 8];
        assert_eq!(arrange(&free, &nodes, &edges), None);
    }

    #[test]
    fn a_small_grid_takes_near_processes() {
        let grid = Cartesian::new(vec![2], vec![false], 8).unwrap();
        let edges = edges_of_grid(&grid);
        let places = places(&[0, 4, 1, 5]);
        let arranged = arrange(&places, &nodes_of_grid(&grid), &edges).unwrap();
        assert_eq!(arranged, [0, 2]);
    }

    #[test]
    fn a_graph_of_two_parts() {
        // Even and odd nodes know each other only.
        let index = (1..=8).map(|node| 3 * node).collect();
        let others =
            |node: i32| (0..8).filter(move |other| other % 2 == node % 2 && *other != node);
        let graph = Graph::new(index, (0..8).flat_map(others).collect(), 8).unwrap();
        let edges = edges_of_graph(&graph);
        let nodes = nodes_of_edges(8, &edges);
        let places = places(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let arranged = arrange(&places, &nodes, &edges).unwrap();
        assert!(is_permutation(&arranged));
        for node in 0..8 {
            let package = |node: usize| places[arranged[node] as usize][0];
            assert_eq!(package(node), package(node % 2));
        }
    }

    #[test]
    fn heavy_edges_count_more() {
        let edge = |from, to, weight| Edge {
            ends: (from, to),
            weight,
        };
        let places = places(&[0, 1, 4, 5]);
        let light = [edge(0, 1, 1), edge(0, 2, 0), edge(1, 3, 0)];
        assert_eq!(arrange(&places, &nodes_of_edges(4, &light), &light), None);
        let heavy = [edge(0, 2, 9), edge(1, 3, 9), edge(0, 1, 1)];
        let arranged = arrange(&places, &[0, 2, 1, 3], &heavy).unwrap();
        assert_eq!(arranged, [0, 2, 1, 3]);
    }
}
