//! Communicators with a topology: MPI_Cart_create, MPI_Cart_sub, MPI_Graph_create, MPI_Dist_graph_create(_adjacent).
//!
//! Everybody tells whether its arguments are good and, where ranks may be reordered, which hardware it is confined to.
//! Cost: one allreduce and the agreement on an id; with reordering an allgather of the places. The edges of MPI_Dist_graph_create go
//! to the processes at their ends, in messages whose lengths an alltoall of a number for each rank tells.

use super::both_groups::Ids;
use super::dup::or_release;
use super::exchange::everywhere;
use crate::coll::{CollContext, allgather_on, alltoall_on, bcast_on, block_on, exchange_on};
use crate::comm::job;
use crate::comm::{self, Comm, Made, Maker, Members};
use crate::context_id::offer::{bytes, words};
use crate::context_id::{self, Creation};
use crate::datatype::Buffer;
use crate::engine::node_of;
use crate::error::{Class, Result, fail};
use crate::os::hardware::{Binding, Kind};
use crate::topology::reorder::{self, Edge, Place};
use crate::topology::{Adjacent, Cartesian, Graph, Neighbor, Topology};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hardware within a node by which processes are placed, the outermost first.
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
    let coll = CollContext::new(parent, "MPI_Cart_create");
    let (grid, reorder) = agreed(parent, &coll, grid, reorder)?;
    let arranged = || {
        let (nodes, edges) = (reorder::nodes_of_grid(&grid), reorder::edges_of_grid(&grid));
        arrange(&coll, &nodes, &edges)
    };
    let members = members(reorder, grid.size(), arranged)?;
    let by = Maker::CartCreate;
    make(parent, (&coll, by), &members, || Topology::Cartesian(grid))
}

/// MPI_Graph_create: `None` for who is not in the graph.
///
/// Errors: on all ranks when the arguments of one are wrong.
pub fn graph_create(
    parent: &Comm,
    graph: Result<Graph>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let coll = CollContext::new(parent, "MPI_Graph_create");
    let (graph, reorder) = agreed(parent, &coll, graph, reorder)?;
    let arranged = || {
        let edges = reorder::edges_of_graph(&graph);
        arrange(
            &coll,
            &reorder::nodes_of_edges(graph.size(), &edges),
            &edges,
        )
    };
    let members = members(reorder, graph.size(), arranged)?;
    let by = Maker::GraphCreate;
    make(parent, (&coll, by), &members, || Topology::Graph(graph))
}

/// MPI_Cart_sub on a communicator with this grid: the slice that this process is in.
///
/// Errors: on all ranks when the arguments of one are wrong.
pub fn cart_sub(
    parent: &Comm,
    grid: &Cartesian,
    keep: Result<Vec<bool>>,
) -> Result<Option<&'static Comm>> {
    let coll = CollContext::new(parent, "MPI_Cart_sub");
    let (keep, _) = agreed(parent, &coll, keep, false)?;
    let (slice, members) = grid.slice(&keep, parent.rank());
    let by = Maker::CartSub;
    make(parent, (&coll, by), &members, || Topology::Cartesian(slice))
}

/// MPI_Dist_graph_create_adjacent: each process knows its own neighbors.
///
/// Errors: on all ranks when the arguments of one are wrong, or only some have weights.
pub fn dist_graph_create_adjacent(
    parent: &Comm,
    adjacent: Result<Adjacent>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let coll = CollContext::new(parent, "MPI_Dist_graph_create_adjacent");
    let (mut adjacent, reorder) = agreed(parent, &coll, adjacent, reorder)?;
    let edges = adjacent.sources.len() + adjacent.destinations.len();
    let weighted = all_or_none_weighted(parent, &coll, adjacent.weighted, edges > 0)?;
    adjacent.weighted = weighted;
    let rank = parent.rank();
    let edges = adjacent.destinations.iter().map(|to| Edge {
        ends: (rank, to.rank),
        weight: to.weight,
    });
    let holders = block_on(holders(&coll, reorder, || edges.collect()))?;
    let holder = holders[rank as usize];
    if reorder {
        let counts = [adjacent.sources.len() as u32];
        let lists = adjacent.sources.iter().chain(&adjacent.destinations);
        let said = counts.into_iter().chain(lists.flat_map(encode));
        let out = BTreeMap::from([(holder as usize, said.collect())]);
        for said in block_on(messages_on(&coll, out))?.into_values() {
            adjacent.sources = said[1..].chunks_exact(2).map(decode).collect();
            adjacent.destinations = adjacent.sources.split_off(said[0] as usize);
        }
    }
    let by = Maker::DistGraphCreateAdjacent;
    make(parent, (&coll, by), &holders, || {
        Topology::Distributed(adjacent)
    })
}

/// MPI_Dist_graph_create: each process brings edges, of whichever nodes.
///
/// Errors: on all ranks when the arguments of one are wrong, or only some have weights.
pub fn dist_graph_create(
    parent: &Comm,
    edges: Result<(Vec<Edge>, bool)>,
    reorder: bool,
) -> Result<Option<&'static Comm>> {
    let coll = CollContext::new(parent, "MPI_Dist_graph_create");
    let ((mine, weighted), reorder) = agreed(parent, &coll, edges, reorder)?;
    let weighted = all_or_none_weighted(parent, &coll, weighted, !mine.is_empty())?;
    let holders = block_on(holders(&coll, reorder, || mine.clone()))?;
    // Each edge goes to the processes at its two ends.
    let mut out: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for Edge { ends, weight } in mine {
        for (side, end, other) in [(LEAVES, ends.0, ends.1), (COMES, ends.1, ends.0)] {
            let said = out.entry(holders[end as usize] as usize).or_default();
            said.extend([side, other as u32, weight as u32]);
        }
    }
    let (mut sources, mut destinations) = (Vec::new(), Vec::new());
    for said in block_on(messages_on(&coll, out))?.into_values() {
        for edge in said.chunks_exact(3) {
            match edge[0] {
                LEAVES => destinations.push(decode(&edge[1..])),
                _ => sources.push(decode(&edge[1..])),
            }
        }
    }
    let adjacent = Adjacent {
        sources,
        destinations,
        weighted,
    };
    let by = Maker::DistGraphCreate;
    make(parent, (&coll, by), &holders, || {
        Topology::Distributed(adjacent)
    })
}

/// Ends of an edge, as a process sees it.
const LEAVES: u32 = 0;
const COMES: u32 = 1;

/// The process (its old rank) for each node of a graph of which each process knows some edges. Only where the machine makes a
/// difference do the edges come together, at rank 0.
async fn holders(
    coll: &CollContext<'_>,
    reorder: bool,
    edges: impl FnOnce() -> Vec<Edge>,
) -> Result<Vec<i32>> {
    let as_they_are = (0..coll.size()).collect();
    if !reorder {
        return Ok(as_they_are);
    }
    let places = places(coll).await?;
    if !reorder::may_help(&places) {
        return Ok(as_they_are);
    }
    let numbers = |edge: Edge| [edge.ends.0, edge.ends.1, edge.weight];
    let said = edges().into_iter().flat_map(numbers);
    let said = said.map(|number| number as u32).collect();
    let all = messages_on(coll, BTreeMap::from([(0, said)])).await?;
    let mut chosen = bytes(as_they_are.iter().map(|rank| *rank as u32));
    if coll.rank() == 0 {
        let edges = all.values().flat_map(|said| said.chunks_exact(3));
        let edges: Vec<Edge> = edges
            .map(|said| Edge {
                ends: (said[0] as i32, said[1] as i32),
                weight: said[2] as i32,
            })
            .collect();
        let nodes = reorder::nodes_of_edges(coll.size(), &edges);
        if let Some(better) = reorder::arrange(&places, &nodes, &edges) {
            chosen = bytes(better.into_iter().map(|rank| rank as u32));
        }
    }
    bcast_on(coll, Buffer::of_copy(&mut chosen), 0).await?;
    Ok(words(&chosen).into_iter().map(|rank| rank as i32).collect())
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
    coll: &CollContext<'_>,
    arguments: Result<T>,
    reorder: bool,
) -> Result<(T, bool)> {
    let [good, reorder] = block_on(everywhere(coll, [arguments.is_ok(), reorder]))?;
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

/// Whether there are weights. A member without edges has no say.
fn all_or_none_weighted(
    parent: &Comm,
    coll: &CollContext<'_>,
    weighted: bool,
    edges: bool,
) -> Result<bool> {
    let said = [weighted || !edges, !weighted || !edges, weighted];
    match block_on(everywhere(coll, said))? {
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
    let better = if reorder && count > 0 {
        arranged()?
    } else {
        None
    };
    Ok(better.unwrap_or_else(|| (0..count).collect()))
}

/// [`reorder::arrange`] of what all processes know.
fn arrange(coll: &CollContext<'_>, nodes: &[i32], edges: &[Edge]) -> Result<Option<Vec<i32>>> {
    let places = block_on(places(coll))?;
    Ok(reorder::arrange(&places, nodes, edges))
}

/// Where all processes are.
async fn places(coll: &CollContext<'_>) -> Result<Vec<Place>> {
    const WORDS: usize = 1 + LEVELS.len();
    const BYTES: usize = WORDS * 4;
    const NOT_CONFINED: u32 = u32::MAX;
    let node = node_of(coll.process(coll.rank()));
    let binding = Binding::now();
    let inside = LEVELS.map(|kind| binding.confined_to(kind).unwrap_or(NOT_CONFINED));
    let mine = [node].into_iter().chain(inside);
    let mut all = vec![0; coll.size() as usize * BYTES].into_boxed_slice();
    all[coll.rank() as usize * BYTES..][..BYTES].copy_from_slice(&bytes(mine));
    allgather_on(coll, &mut all, BYTES).await?;
    let mut words = words(&all);
    // Numbers of nodes that all agree on, also where processes of several jobs number them differently.
    let mut nodes = Vec::new();
    for (place, rank) in words.chunks_exact_mut(WORDS).zip(0..) {
        let node = node_of(coll.process(rank));
        let number = nodes.iter().position(|it| *it == node);
        place[0] = number.unwrap_or_else(|| {
            nodes.push(node);
            nodes.len() - 1
        }) as u32;
    }
    let known = |number: &u32| (*number != NOT_CONFINED).then_some(*number);
    let places = words.chunks_exact(WORDS);
    Ok(places
        .map(|place| place.iter().map(known).collect())
        .collect())
}

/// A message to each of some processes, maybe oneself; those that come, by the senders' ranks.
async fn messages_on(
    coll: &CollContext<'_>,
    out: BTreeMap<usize, Vec<u32>>,
) -> Result<BTreeMap<usize, Vec<u32>>> {
    let of_rank = |rank| out.get(&rank).map_or(0, |said| said.len() as u32);
    let mut lengths = bytes((0..coll.size() as usize).map(of_rank));
    let lengths = words(&alltoall_on(coll, &mut lengths, 4).await?);
    let leaving = out.into_iter().filter(|(_, said)| !said.is_empty());
    let mut out: Vec<(usize, Box<[u8]>)> = leaving.map(|(to, said)| (to, bytes(said))).collect();
    let coming = lengths
        .iter()
        .enumerate()
        .filter(|(_, length)| **length > 0);
    let mut into: Vec<(usize, Box<[u8]>)> = coming
        .map(|(from, length)| (from, vec![0; *length as usize * 4].into_boxed_slice()))
        .collect();
    exchange_on(coll, &mut out, &mut into).await?;
    let came = into.iter().map(|(from, said)| (*from, words(said)));
    Ok(came.collect())
}

/// A communicator of these ranks of the parent, for who is one of them.
fn make(
    parent: &Comm,
    (coll, by): (&CollContext<'_>, Maker),
    members: &[i32],
    topology: impl FnOnce() -> Topology,
) -> Result<Option<&'static Comm>> {
    if members.is_empty() {
        return Ok(None);
    }
    let ids = Ids::one(block_on(context_id::allocate(
        coll,
        Creation::whole(parent),
    ))?);
    let Some(rank) = members.iter().position(|rank| *rank == parent.rank()) else {
        context_id::release(ids.receive);
        return Ok(None);
    };
    let as_they_are = members.iter().copied().eq(0..parent.size());
    let members = if as_they_are {
        parent.members().clone()
    } else {
        let processes = members.iter().map(|rank| parent.process(*rank));
        Members::of(Arc::new(processes.collect()), job())
    };
    let parts = ids.parts(rank as i32, members, Made::of(by, parent));
    let new = or_release(comm::add(parts, parent.errhandler.copy()), ids)?;
    new.set_topology(Arc::new(topology()));
    Ok(Some(new))
}
