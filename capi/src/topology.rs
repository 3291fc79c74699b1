//! Process topologies, chapter 8.

use crate::constants::*;
use crate::data;
use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::comm::{self as communicator, Comm as CommObject};
use oxmpi::constructors::topology as constructors;
use oxmpi::error::{Class, Result};
use oxmpi::os::hardware;
use oxmpi::pt2pt::PROC_NULL;
use oxmpi::topology::reorder::Edge;
use oxmpi::topology::{Adjacent, Cartesian, Graph, Neighbor, Topology, dims};
use oxmpi::{fail, info};
use std::ffi::{c_int, c_void};

entry! {
    fn MPI_Dims_create(nnodes: Int, ndims: Int, dims: InOutArray<Int>) {
        let number = decode::length("ndims", ndims)?;
        let given = dims.elements(number)?;
        let mut sides: Vec<i32> = given.into_iter().map(|side| side.0).collect();
        dims::dims(nnodes.0, &mut sides)?;
        for (index, side) in sides.into_iter().enumerate() {
            dims.put(index, Int(side))?;
        }
        Ok(())
    }
}

#[cold]
fn other_topology<T>(comm: &CommObject, wanted: &str) -> Result<T> {
    let has = match comm.topology().map(|topology| &**topology) {
        None => "no topology",
        Some(Topology::Cartesian(_)) => "a Cartesian topology",
        Some(Topology::Graph(_)) => "a graph topology",
        Some(Topology::Distributed(_)) => "a distributed graph topology",
    };
    fail!(
        Class::Topology,
        "comm is {}, which has {has}; {wanted} is needed",
        comm.title()
    )
}

fn cartesian(comm: &CommObject) -> Result<&Cartesian> {
    match comm.topology().map(|topology| &**topology) {
        Some(Topology::Cartesian(grid)) => Ok(grid),
        _ => other_topology(comm, "a Cartesian one"),
    }
}

fn graph(comm: &CommObject) -> Result<&Graph> {
    match comm.topology().map(|topology| &**topology) {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => other_topology(comm, "a graph topology"),
    }
}

fn distributed(comm: &CommObject) -> Result<&Adjacent> {
    match comm.topology().map(|topology| &**topology) {
        Some(Topology::Distributed(adjacent)) => Ok(adjacent),
        _ => other_topology(comm, "a distributed graph topology"),
    }
}

/// Writes the communicator that this process is in, or MPI_COMM_NULL.
fn give(place: Out<Comm>, new: Option<&CommObject>) -> Result<()> {
    place.set(Comm(new.map_or(communicator::NULL, |new| new.handle)))
}

/// An array of ints.
macro_rules! ints {
    ($array:expr, $length:expr) => {
        $array.elements($length).map(|elements| {
            elements
                .into_iter()
                .map(|element| element.0)
                .collect::<Vec<i32>>()
        })
    };
}

fn truths(array: Array<Logical>, length: usize) -> Result<Vec<bool>> {
    let elements = array.elements(length)?;
    Ok(elements.into_iter().map(|truth| truth.0 != 0).collect())
}

/// Room for at least so many results.
fn room(name: &'static str, given: Int, needed: usize) -> Result<()> {
    if decode::length(name, given)? >= needed {
        return Ok(());
    }
    fail!(
        Class::Arg,
        "{name} is {}; the topology has {needed}",
        given.0
    )
}

fn grid_of(
    ndims: Int,
    dims: Array<Int>,
    periods: Array<Logical>,
    comm: &CommObject,
) -> Result<Cartesian> {
    let number = decode::length("ndims", ndims)?;
    let sides = ints!(dims, number)?;
    Cartesian::new(sides, truths(periods, number)?, comm.size())
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
    fn MPI_Cart_create(
        comm_old: Comm, ndims: Int, dims: Array<Int>, periods: Array<Logical>, reorder: Logical,
        comm_cart: Out<Comm>,
    ) on comm_old {
        let comm = decode::intracomm("comm_old", comm_old)?;
        let grid = comm_cart.not_null().and_then(|()| grid_of(ndims, dims, periods, comm));
        give(comm_cart, constructors::cart_create(comm, grid, reorder.0 != 0)?)
    }
}

entry! {
    fn MPI_Cart_sub(comm: Comm, remain_dims: Array<Logical>, newcomm: Out<Comm>) on comm {
        let comm = decode::comm(comm)?;
        let grid = cartesian(comm)?;
        let keep = newcomm.not_null().and_then(|()| truths(remain_dims, grid.dimensions()));
        give(newcomm, constructors::cart_sub(comm, grid, keep)?)
    }
}

entry! {
    fn MPI_Cartdim_get(comm: Comm, ndims: Out<Int>) on comm {
        ndims.set(Int(cartesian(decode::comm(comm)?)?.dimensions() as c_int))
    }
}

entry! {
    /// Fills as many places as there are.
    fn MPI_Cart_get(
        comm: Comm, maxdims: Int, dims: OutArray<Int>, periods: OutArray<Logical>,
        coords: OutArray<Int>,
    ) on comm {
        let comm = decode::comm(comm)?;
        let grid = cartesian(comm)?;
        room("maxdims", maxdims, grid.dimensions())?;
        let here = grid.coordinates(comm.rank());
        for (index, coordinate) in here.into_iter().enumerate() {
            dims.put(index, Int(grid.sides()[index]))?;
            periods.put(index, Logical(grid.periodic()[index].into()))?;
            coords.put(index, Int(coordinate))?;
        }
        Ok(())
    }
}

entry! {
    fn MPI_Cart_rank(comm: Comm, coords: Array<Int>, rank: Out<Rank>) on comm {
        let grid = cartesian(decode::comm(comm)?)?;
        rank.set(Rank(grid.rank_at(&ints!(coords, grid.dimensions())?)?))
    }
}

entry! {
    fn MPI_Cart_coords(comm: Comm, rank: Rank, maxdims: Int, coords: OutArray<Int>) on comm {
        let comm = decode::comm(comm)?;
        let grid = cartesian(comm)?;
        let rank = decode::rank_below("rank", rank, comm.size())?;
        room("maxdims", maxdims, grid.dimensions())?;
        for (index, coordinate) in grid.coordinates(rank).into_iter().enumerate() {
            coords.put(index, Int(coordinate))?;
        }
        Ok(())
    }
}

entry! {
    fn MPI_Cart_shift(
        comm: Comm, direction: Index, disp: Int, rank_source: Out<Rank>, rank_dest: Out<Rank>,
    ) on comm {
        let comm = decode::comm(comm)?;
        let grid = cartesian(comm)?;
        rank_source.not_null()?;
        rank_dest.not_null()?;
        let dimension = match usize::try_from(direction.0) {
            Ok(dimension) if dimension < grid.dimensions() => dimension,
            _ => return fail!(
                Class::Dims,
                "direction is {}; the grid has {} dimensions",
                direction.0,
                grid.dimensions()
            ),
        };
        let at = |displacement: i64| {
            let found = grid.at_distance(comm.rank(), dimension, displacement);
            Rank(found.unwrap_or(PROC_NULL))
        };
        rank_source.set(at(-i64::from(disp.0)))?;
        rank_dest.set(at(disp.0.into()))
    }
}

entry! {
    /// The ranks as they are; MPI_Cart_create may know better, because all processes talk there.
    fn MPI_Cart_map(
        comm: Comm, ndims: Int, dims: Array<Int>, periods: Array<Logical>, newrank: Out<Rank>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let grid = grid_of(ndims, dims, periods, comm)?;
        newrank.set(Rank(kept(comm, grid.size())))
    }
}

/// The rank in a topology of so many processes.
fn kept(comm: &CommObject, size: c_int) -> c_int {
    if comm.rank() < size {
        comm.rank()
    } else {
        MPI_UNDEFINED
    }
}

entry! {
    fn MPI_Graph_create(
        comm_old: Comm, nnodes: Int, indx: Array<Index>, edges: Array<Int>, reorder: Logical,
        comm_graph: Out<Comm>,
    ) on comm_old {
        let comm = decode::intracomm("comm_old", comm_old)?;
        let graph = comm_graph.not_null().and_then(|()| graph_of(nnodes, indx, edges, comm));
        give(comm_graph, constructors::graph_create(comm, graph, reorder.0 != 0)?)
    }
}

entry! {
    fn MPI_Graphdims_get(comm: Comm, nnodes: Out<Int>, nedges: Out<Int>) on comm {
        let graph = graph(decode::comm(comm)?)?;
        nnodes.not_null()?;
        nedges.set(Int(graph.edges().len() as c_int))?;
        nnodes.set(Int(graph.size()))
    }
}

entry! {
    fn MPI_Graph_get(
        comm: Comm, maxindex: Int, maxedges: Int, indx: OutArray<Index>, edges: OutArray<Int>,
    ) on comm {
        let graph = graph(decode::comm(comm)?)?;
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
    fn MPI_Graph_neighbors_count(comm: Comm, rank: Rank, nneighbors: Out<Int>) on comm {
        let comm = decode::comm(comm)?;
        let graph = graph(comm)?;
        let rank = decode::rank_below("rank", rank, comm.size())?;
        nneighbors.set(Int(graph.neighbors(rank).len() as c_int))
    }
}

entry! {
    fn MPI_Graph_neighbors(
        comm: Comm, rank: Rank, maxneighbors: Int, neighbors: OutArray<Rank>,
    ) on comm {
        let comm = decode::comm(comm)?;
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
    fn MPI_Graph_map(
        comm: Comm, nnodes: Int, indx: Array<Index>, edges: Array<Int>, newrank: Out<Int>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let graph = graph_of(nnodes, indx, edges, comm)?;
        newrank.set(Int(kept(comm, graph.size())))
    }
}

/// Weights as the caller gave them.
enum Weights {
    /// MPI_UNWEIGHTED.
    None,
    /// MPI_WEIGHTS_EMPTY: there are no edges to have any.
    Empty,
    Of(Array<Weight>),
}

impl Weights {
    fn of(array: Array<Weight>) -> Weights {
        let is = |constant: &data::Constant<data::Place<u64>>| {
            array.address() == constant.0 as *mut c_void
        };
        if is(&data::UNWEIGHTED) {
            Weights::None
        } else if is(&data::WEIGHTS_EMPTY) {
            Weights::Empty
        } else {
            Weights::Of(array)
        }
    }

    fn are_there(&self) -> bool {
        !matches!(self, Weights::None)
    }

    /// So many, or none at all.
    fn read(&self, name: &str, length: usize) -> Result<Option<Vec<i32>>> {
        match self {
            Weights::None => Ok(None),
            Weights::Empty if length > 0 => fail!(
                Class::Arg,
                "{name} is MPI_WEIGHTS_EMPTY, but there are {length} edges"
            ),
            Weights::Empty => Ok(Some(Vec::new())),
            Weights::Of(array) => ints!(array, length).map(Some),
        }
    }
}

fn neighbors_of(
    (count_name, names): (&'static str, (&'static str, &'static str)),
    degree: Int,
    ranks: Array<Rank>,
    weights: &Weights,
    comm: &CommObject,
) -> Result<Vec<Neighbor>> {
    let degree = decode::length(count_name, degree)?;
    let weights = weights.read(names.1, degree)?;
    Adjacent::list(names, ints!(ranks, degree)?, weights, comm.size())
}

entry! {
    fn MPI_Dist_graph_create_adjacent(
        comm_old: Comm, indegree: Int, sources: Array<Rank>, sourceweights: Array<Weight>,
        outdegree: Int, destinations: Array<Rank>, destweights: Array<Weight>, info: Info,
        reorder: Logical, comm_dist_graph: Out<Comm>,
    ) on comm_old {
        let comm = decode::intracomm("comm_old", comm_old)?;
        let read = || -> Result<_> {
            comm_dist_graph.not_null()?;
            let hints = info::hints(info.0)?;
            let (incoming, outgoing) = (Weights::of(sourceweights), Weights::of(destweights));
            if incoming.are_there() != outgoing.are_there() {
                return fail!(
                    Class::Arg,
                    "only one of sourceweights and destweights is MPI_UNWEIGHTED"
                );
            }
            let names = ("indegree", ("sources", "sourceweights"));
            let sources = neighbors_of(names, indegree, sources, &incoming, comm)?;
            let names = ("outdegree", ("destinations", "destweights"));
            let destinations = neighbors_of(names, outdegree, destinations, &outgoing, comm)?;
            let weighted = incoming.are_there();
            Ok((Adjacent { sources, destinations, weighted }, hints))
        };
        let (adjacent, hints) = split(read());
        let new = constructors::dist_graph_create_adjacent(comm, adjacent, reorder.0 != 0)?;
        give_with_hints(comm_dist_graph, new, hints)
    }
}

/// The hints go to the communicator, the rest to its constructor.
fn split<T>(read: Result<(T, info::Info)>) -> (Result<T>, info::Info) {
    match read {
        Ok((arguments, hints)) => (Ok(arguments), hints),
        Err(error) => (Err(error), info::Info::new()),
    }
}

fn give_with_hints(place: Out<Comm>, new: Option<&CommObject>, hints: info::Info) -> Result<()> {
    if let Some(new) = new {
        *new.info.lock() = hints;
    }
    give(place, new)
}

entry! {
    fn MPI_Dist_graph_create(
        comm_old: Comm, n: Int, sources: Array<Rank>, degrees: Array<Int>,
        destinations: Array<Rank>, weights: Array<Weight>, info: Info, reorder: Logical,
        comm_dist_graph: Out<Comm>,
    ) on comm_old {
        let comm = decode::intracomm("comm_old", comm_old)?;
        let read = || -> Result<_> {
            comm_dist_graph.not_null()?;
            let hints = info::hints(info.0)?;
            let number = decode::length("n", n)?;
            let weights = Weights::of(weights);
            let degrees = ints!(degrees, number)?;
            if let Some(at) = degrees.iter().position(|degree| *degree < 0) {
                return fail!(
                    Class::Arg,
                    "degrees[{at}] is {}; it must not be negative",
                    degrees[at]
                );
            }
            let count = degrees.iter().map(|degree| *degree as usize).sum();
            let names = ("sources", "weights");
            let sources = Adjacent::list(names, ints!(sources, number)?, None, comm.size())?;
            let ranks = ints!(destinations, count)?;
            let names = ("destinations", "weights");
            let numbers = weights.read("weights", count)?;
            let destinations = Adjacent::list(names, ranks, numbers, comm.size())?;
            let from = sources.iter().zip(degrees);
            let from = from.flat_map(|(source, degree)| {
                std::iter::repeat_n(source.rank, degree as usize)
            });
            let edges = from.zip(destinations).map(|(from, to)| Edge {
                ends: (from, to.rank),
                weight: to.weight,
            });
            Ok(((edges.collect(), weights.are_there()), hints))
        };
        let (edges, hints) = split(read());
        let new = constructors::dist_graph_create(comm, edges, reorder.0 != 0)?;
        give_with_hints(comm_dist_graph, new, hints)
    }
}

entry! {
    fn MPI_Dist_graph_neighbors_count(
        comm: Comm, indegree: Out<Int>, outdegree: Out<Int>, weighted: Out<Logical>,
    ) on comm {
        let adjacent = distributed(decode::comm(comm)?)?;
        outdegree.not_null()?;
        weighted.not_null()?;
        indegree.set(Int(adjacent.sources.len() as c_int))?;
        outdegree.set(Int(adjacent.destinations.len() as c_int))?;
        weighted.put_bool(adjacent.weighted)
    }
}

/// Writes the first neighbors, as many as there is room for, and their weights if there are any.
fn put_neighbors(
    (name, most): (&'static str, Int),
    ranks: OutArray<Rank>,
    weights: OutArray<Weight>,
    neighbors: &[Neighbor],
    weighted: bool,
) -> Result<()> {
    let ignored = weights.address() == data::UNWEIGHTED.0 as *mut c_void;
    let most = decode::length(name, most)?;
    for (at, neighbor) in neighbors.iter().take(most).enumerate() {
        ranks.put(at, Rank(neighbor.rank))?;
        if weighted && !ignored {
            weights.put(at, Weight(neighbor.weight))?;
        }
    }
    Ok(())
}

entry! {
    fn MPI_Dist_graph_neighbors(
        comm: Comm, maxindegree: Int, sources: OutArray<Rank>, sourceweights: OutArray<Weight>,
        maxoutdegree: Int, destinations: OutArray<Rank>, destweights: OutArray<Weight>,
    ) on comm {
        let adjacent = distributed(decode::comm(comm)?)?;
        let (room, weighted) = (("maxindegree", maxindegree), adjacent.weighted);
        put_neighbors(room, sources, sourceweights, &adjacent.sources, weighted)?;
        let room = ("maxoutdegree", maxoutdegree);
        put_neighbors(room, destinations, destweights, &adjacent.destinations, weighted)
    }
}

entry! {
    fn MPI_Topo_test(comm: Comm, status: Out<TopologyType>) on comm {
        let kind = match decode::comm(comm)?.topology().map(|topology| &**topology) {
            None => MPI_UNDEFINED,
            Some(Topology::Cartesian(_)) => MPI_CART,
            Some(Topology::Graph(_)) => MPI_GRAPH,
            Some(Topology::Distributed(_)) => MPI_DIST_GRAPH,
        };
        status.set(TopologyType(kind))
    }
}

entry! {
    /// The kinds of resources, and of each whether the calling process is confined to one.
    fn MPI_Get_hw_resource_info(hw_info: Out<Info>) {
        hw_info.not_null()?;
        let mut entries = info::Info::new();
        for kind in hardware::Kind::ALL {
            let confined = hardware::confined_to(kind).is_some();
            entries.set(&format!("hwloc://{}", kind.name()), &confined.to_string())?;
        }
        hw_info.set(Info(info::create(entries)?))
    }
}
