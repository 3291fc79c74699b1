//! Communicators with a topology: MPI_Cart_create, MPI_Cart_sub, MPI_Graph_create, MPI_Dist_graph_create(_adjacent).
//!
//! Everybody tells whether its arguments are good and, where ranks may be reordered, which hardware it is confined to.
//! Cost: one allreduce and the agreement on an id; with reordering, or for MPI_Dist_graph_create, the edges go round a ring.

use super::context::{self, Creation};
use super::dup::made;
use super::sides::Ids;
use super::{bytes, everywhere, words};
use crate::coll::{Lane, allgather_on, now};
use crate::comm::job;
use crate::comm::{self, Comm, Members, Parts};
use crate::datatype::Buffer;
use crate::error::{Class, Result, fail};
use crate::os::hardware::{Kind, confined_to};
use crate::topology::reorder::{self, Edge, Place};
use crate::topology::{Adjacent, Cartesian, Graph, Neighbor, Topology};
use std::sync::Arc;

/// What is compared to place processes, the outermost first.
const LEVELS: [Kind; 5] = [
    Kind::Package,
    Kind::NumaNode,
    Kind::L3Cache,
    Kind::L2Cache,
    Kind::Core,
];

/// MPI_Cart_create: `None` for who is not in the grid.
///
/// Errors: on all ranks when the arguments of one are wrong.
pub fn cart_create(
    parent: &Comm,
    grid: Result<Cartesian>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let lane = Lane::new(parent, "MPI_Cart_create");
    let (grid, reorder) = agreed(parent, &lane, grid, reorder)?;
    let arranged = || {
        let (nodes, edges) = (reorder::nodes_of_grid(&grid), reorder::edges_of_grid(&grid));
        arrange(&lane, &nodes, &edges)
    };
    let members = members(reorder, grid.size(), arranged)?;
    make(parent, &lane, &members, || Topology::Cartesian(grid))
}

/// MPI_Graph_create: `None` for who is not in the graph.
///
/// Errors: on all ranks when the arguments of one are wrong.
pub fn graph_create(
    parent: &Comm,
    graph: Result<Graph>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let lane = Lane::new(parent, "MPI_Graph_create");
    let (graph, reorder) = agreed(parent, &lane, graph, reorder)?;
    let arranged = || {
        let edges = reorder::edges_of_graph(&graph);
        arrange(
            &lane,
            &reorder::nodes_of_edges(graph.size(), &edges),
            &edges,
        )
    };
    let members = members(reorder, graph.size(), arranged)?;
    make(parent, &lane, &members, || Topology::Graph(graph))
}

/// MPI_Cart_sub on a communicator with this grid: the slice that this process is in.
///
/// Errors: on all ranks when the arguments of one are wrong.
pub fn cart_sub(
    parent: &Comm,
    grid: &Cartesian,
    keep: Result<Vec<bool>>,
) -> Result<Option<&'static Comm>> {
    let lane = Lane::new(parent, "MPI_Cart_sub");
    let (keep, _) = agreed(parent, &lane, keep, false)?;
    let (slice, members) = grid.slice(&keep, parent.rank());
    make(parent, &lane, &members, || Topology::Cartesian(slice))
}

/// MPI_Dist_graph_create_adjacent: each process knows its own neighbors.
///
/// Errors: on all ranks when the arguments of one are wrong, or only some have weights.
pub fn dist_graph_create_adjacent(
    parent: &Comm,
    adjacent: Result<Adjacent>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let lane = Lane::new(parent, "MPI_Dist_graph_create_adjacent");
    let (mut adjacent, reorder) = agreed(parent, &lane, adjacent, reorder)?;
    let edges = adjacent.sources.len() + adjacent.destinations.len();
    let weighted = all_or_none_weighted(parent, &lane, adjacent.weighted, edges > 0)?;
    adjacent.weighted = weighted;
    if !reorder {
        let everybody: Vec<i32> = (0..parent.size()).collect();
        return make(parent, &lane, &everybody, || {
            Topology::Distributed(adjacent)
        });
    }
    let counts = [adjacent.sources.len() as u32];
    let lists = adjacent.sources.iter().chain(&adjacent.destinations);
    let said = counts.into_iter().chain(lists.flat_map(encode));
    let all = now(gather(&lane, said.collect()))?;
    let adjacent_of = |rank: i32| {
        let said = &all[rank as usize];
        let mut sources: Vec<Neighbor> = said[1..].chunks_exact(2).map(decode).collect();
        let destinations = sources.split_off(said[0] as usize);
        Adjacent {
            sources,
            destinations,
            weighted,
        }
    };
    let edges = (0..parent.size()).flat_map(|rank| {
        let neighbors = adjacent_of(rank).destinations;
        neighbors.into_iter().map(move |to| Edge {
            ends: (rank, to.rank),
            weight: to.weight,
        })
    });
    make_distributed(parent, &lane, true, edges.collect(), adjacent_of)
}

/// MPI_Dist_graph_create: each process brings edges, of whichever nodes.
///
/// Errors: on all ranks when the arguments of one are wrong, or only some have weights.
pub fn dist_graph_create(
    parent: &Comm,
    edges: Result<(Vec<Edge>, bool)>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let lane = Lane::new(parent, "MPI_Dist_graph_create");
    let ((mine, weighted), reorder) = agreed(parent, &lane, edges, reorder)?;
    let weighted = all_or_none_weighted(parent, &lane, weighted, !mine.is_empty())?;
    let said = mine.iter().flat_map(|edge| {
        let numbers = [edge.ends.0, edge.ends.1, edge.weight];
        numbers.map(|number| number as u32)
    });
    let all = now(gather(&lane, said.collect()))?;
    let edges = all.iter().flat_map(|said| said.chunks_exact(3));
    let edges: Vec<Edge> = edges
        .map(|said| Edge {
            ends: (said[0] as i32, said[1] as i32),
            weight: said[2] as i32,
        })
        .collect();
    let adjacent_of = |rank: i32| {
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        for Edge { ends, weight } in &edges {
            let neighbor = |rank: i32| Neighbor {
                rank,
                weight: *weight,
            };
            if ends.0 == rank {
                destinations.push(neighbor(ends.1));
            }
            if ends.1 == rank {
                sources.push(neighbor(ends.0));
            }
        }
        Adjacent {
            sources,
            destinations,
            weighted,
        }
    };
    make_distributed(parent, &lane, reorder, edges.clone(), adjacent_of)
}

fn make_distributed(
    parent: &Comm,
    lane: &Lane<'_>,
    reorder: bool,
    edges: Vec<Edge>,
    adjacent_of: impl Fn(i32) -> Adjacent,
) -> Result<Option<&'static Comm>> {
    let count = parent.size();
    let arranged = || arrange(lane, &reorder::nodes_of_edges(count, &edges), &edges);
    let members = members(reorder, count, arranged)?;
    let node = members.iter().position(|rank| *rank == parent.rank());
    let node = node.map_or(parent.rank(), |node| node as i32);
    make(parent, lane, &members, || {
        Topology::Distributed(adjacent_of(node))
    })
}

fn encode(neighbor: &Neighbor) -> [u32; 2] {
    [neighbor.rank as u32, neighbor.weight as u32]
}

fn decode(words: &[u32]) -> Neighbor {
    Neighbor {
        rank: words[0] as i32,
        weight: words[1] as i32,
    }
}

/// This process's arguments if all are right, and whether all want to be reordered.
fn agreed<T>(
    parent: &Comm,
    lane: &Lane<'_>,
    arguments: Result<T>,
    reorder: bool,
) -> Result<(T, bool)> {
    let [good, reorder] = now(everywhere(lane, [arguments.is_ok(), reorder]))?;
    let arguments = arguments?;
    if !good {
        return fail!(
            Class::Topology,
            "the arguments are wrong on another rank of {}, so nothing was made",
            parent.title()
        );
    }
    Ok((arguments, reorder))
}

/// Whether there are weights. Who brings no edges has no say.
fn all_or_none_weighted(
    parent: &Comm,
    lane: &Lane<'_>,
    weighted: bool,
    edges: bool,
) -> Result<bool> {
    let said = [weighted || !edges, !weighted || !edges, weighted];
    match now(everywhere(lane, said))? {
        [true, true, all] => return Ok(all), // nobody brings any
        [true, false, _] => return Ok(true),
        [false, true, _] => return Ok(false),
        [false, false, _] => {}
    }
    fail!(
        Class::Arg,
        "the weights are MPI_UNWEIGHTED on some ranks of {} and not on others",
        parent.title()
    )
}

/// The ranks in the parent of the first `count` new ones.
fn members(
    reorder: bool,
    count: i32,
    arranged: impl FnOnce() -> Result<Option<Vec<i32>>>,
) -> Result<Vec<i32>> {
    let better = if reorder { arranged()? } else { None };
    Ok(better.unwrap_or_else(|| (0..count).collect()))
}

/// [`reorder::arrange`] with the places of all processes.
fn arrange(lane: &Lane<'_>, nodes: &[i32], edges: &[Edge]) -> Result<Option<Vec<i32>>> {
    const BYTES: usize = LEVELS.len() * 4;
    const NOT_CONFINED: u32 = u32::MAX;
    let mine = LEVELS.map(|kind| confined_to(kind).unwrap_or(NOT_CONFINED));
    let mut all = vec![0; lane.size() as usize * BYTES].into_boxed_slice();
    all[lane.rank() as usize * BYTES..][..BYTES].copy_from_slice(&bytes(mine));
    now(allgather_on(lane, &mut all, BYTES))?;
    let words = words(&all);
    let known = |number: &u32| (*number != NOT_CONFINED).then_some(*number);
    let places = words.chunks_exact(LEVELS.len());
    let places: Vec<Place> = places
        .map(|place| place.iter().map(known).collect())
        .collect();
    Ok(reorder::arrange(&places, nodes, edges))
}

/// What all say, by rank, of any length: size - 1 steps round a ring.
async fn gather(lane: &Lane<'_>, mine: Vec<u32>) -> Result<Vec<Vec<u32>>> {
    const BYTES: usize = 4;
    let (rank, size) = (lane.rank() as usize, lane.size() as usize);
    let mut lengths = vec![0; size * BYTES].into_boxed_slice();
    lengths[rank * BYTES..][..BYTES].copy_from_slice(&bytes([mine.len() as u32]));
    allgather_on(lane, &mut lengths, BYTES).await?;
    let lengths = words(&lengths);
    let mut all: Vec<Box<[u8]>> = lengths
        .iter()
        .map(|length| vec![0; *length as usize * 4].into_boxed_slice())
        .collect();
    all[rank] = bytes(mine);
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    for step in 0..size - 1 {
        let (out, into) = ((rank + size - step) % size, (before + size - step) % size);
        let out = Buffer::of_copy(&mut all[out]);
        let into = Buffer::of_copy(&mut all[into]);
        lane.exchange(out, next as i32, into, before as i32).await?;
    }
    Ok(all.iter().map(|said| words(said)).collect())
}

/// A communicator of these ranks of the parent, for who is one of them.
fn make(
    parent: &Comm,
    lane: &Lane<'_>,
    members: &[i32],
    topology: impl FnOnce() -> Topology,
) -> Result<Option<&'static Comm>> {
    if members.is_empty() {
        return Ok(None);
    }
    let ids = Ids::one(now(context::allocate(lane, Creation::whole(parent)))?);
    let Some(rank) = members.iter().position(|rank| *rank == parent.rank()) else {
        context::release(ids.receive);
        return Ok(None);
    };
    let as_they_are = members.iter().copied().eq(0..parent.size());
    let parts = Parts {
        context: ids.send,
        receive_context: ids.receive,
        rank: rank as i32,
        members: if as_they_are {
            parent.members().clone()
        } else {
            let processes = members.iter().map(|rank| parent.world(*rank));
            Members::of(Arc::new(processes.collect()), job())
        },
        remote: None,
    };
    let new = made(comm::add(parts, parent.errhandler()), ids)?;
    new.set_topology(Arc::new(topology()));
    Ok(Some(new))
}
