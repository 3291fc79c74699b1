//! Graphs that all processes know: MPI_Graph_create and all that asks about them.

use super::{give, ints, kept, other_topology, room};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::constructors::with_topology as constructors;
use oxmpi::error::Result;
use oxmpi::topology::{Graph, Topology};
use std::ffi::c_int;

fn graph(comm: &CommObject) -> Result<&Graph> {
    match comm.topology().map(|topology| &**topology) {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => other_topology(comm, "a graph topology"),
    }
}

fn graph_of(
    nnodes: Int,
    index: Array<Index>,
    edges: Array<Int>,
    comm: &CommObject,
) -> Result<Graph> {
    let nodes = decode::length("nnodes", nnodes)?;
    // No more than there can be are read.
    let most = nodes.min(comm.size() as usize);
    let mut index = ints!(index, most)?;
    Graph::check_index(&index)?;
    let edges = match index.last() {
        Some(edges_there) => ints!(edges, *edges_there as usize)?,
        None => Vec::new(),
    };
    index.resize(nodes, edges.len() as i32);
    Graph::new(index, edges, comm.size())
}

entry! {
    Own fn MPI_Graph_create(
        comm_old: Comm, nnodes: Int, indx: Array<Index>, edges: Array<Int>, reorder: Logical,
        comm_graph: Out<Comm>,
    ) on comm_old {
        let comm = decode::intracomm("comm_old", comm_old)?;
        let graph = comm_graph.not_null().and_then(|()| graph_of(nnodes, indx, edges, comm));
        give(comm.handle, comm_graph, constructors::graph_create(comm, graph, reorder.0 != 0)?)
    }
}

entry! {
    AccessOnly fn MPI_Graphdims_get(comm: Comm, nnodes: Out<Int>, nedges: Out<Int>) on comm {
        let graph = graph(decode::any_comm(comm)?)?;
        nnodes.not_null()?;
        nedges.set(Int(graph.edges().len() as c_int))?;
        nnodes.set(Int(graph.size()))
    }
}

entry! {
    AccessOnly fn MPI_Graph_get(
        comm: Comm, maxindex: Int, maxedges: Int, indx: OutArray<Index>, edges: OutArray<Int>,
    ) on comm {
        let graph = graph(decode::any_comm(comm)?)?;
        room("maxindex", maxindex, graph.index().len())?;
        room("maxedges", maxedges, graph.edges().len())?;
        for (at, end) in graph.index().iter().enumerate() {
            indx.put(at, Index(*end))?;
        }
        for (at, node) in graph.edges().iter().enumerate() {
            edges.put(at, Int(*node))?;
        }
        Ok(())
    }
}

entry! {
    AccessOnly fn MPI_Graph_neighbors_count(comm: Comm, rank: Rank, nneighbors: Out<Int>) on comm {
        let comm = decode::any_comm(comm)?;
        let graph = graph(comm)?;
        let rank = decode::rank_below("rank", rank, comm.size())?;
        nneighbors.set(Int(graph.neighbors(rank).len() as c_int))
    }
}

entry! {
    AccessOnly fn MPI_Graph_neighbors(
        comm: Comm, rank: Rank, maxneighbors: Int, neighbors: OutArray<Rank>,
    ) on comm {
        let comm = decode::any_comm(comm)?;
        let graph = graph(comm)?;
        let found = graph.neighbors(decode::rank_below("rank", rank, comm.size())?);
        room("maxneighbors", maxneighbors, found.len())?;
        for (at, node) in found.iter().enumerate() {
            neighbors.put(at, Rank(*node))?;
        }
        Ok(())
    }
}

entry! {
    /// As MPI_Cart_map.
    AccessOnly fn MPI_Graph_map(
        comm: Comm, nnodes: Int, indx: Array<Index>, edges: Array<Int>, newrank: Out<Int>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let graph = graph_of(nnodes, indx, edges, comm)?;
        newrank.set(Int(kept(comm, graph.size())))
    }
}
