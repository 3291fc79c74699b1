//! Distributed graphs: MPI_Dist_graph_create, MPI_Dist_graph_create_adjacent and all that asks about them.

use super::{give, ints, other_topology};
use crate::data;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::constructors::{hints, with_topology as constructors};
use oxmpi::error::{Class, Result};
use oxmpi::topology::reorder::Edge;
use oxmpi::topology::{Adjacent, Neighbor, Topology};
use oxmpi::{fail, info};
use std::ffi::{c_int, c_void};

fn distributed(comm: &CommObject) -> Result<&Adjacent> {
    match comm.topology().map(|topology| &**topology) {
        Some(Topology::Distributed(adjacent)) => Ok(adjacent),
        _ => other_topology(comm, "a distributed graph topology"),
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
        let is = |constant: &data::Constant<data::Storage<u64>>| {
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

/// Ranks, none of which may be a special value: as the program has them, for the texts of errors.
fn named(ranks: Array<Rank>, number: usize) -> Result<Vec<i32>> {
    let ranks = ranks.elements(number)?;
    Ok(ranks.into_iter().map(Rank::to_c).collect())
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
    Adjacent::list(names, named(ranks, degree)?, weights, comm.size())
}

entry! {
    Own fn MPI_Dist_graph_create_adjacent(
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
        give_with_hints(comm.handle, comm_dist_graph, new, hints)
    }
}

/// The hints go to the communicator, the rest to its constructor.
fn split<T>(read: Result<(T, info::Info)>) -> (Result<T>, info::Info) {
    match read {
        Ok((arguments, hints)) => (Ok(arguments), hints),
        Err(error) => (Err(error), info::Info::new()),
    }
}

fn give_with_hints(
    from: i32,
    out: Out<Comm>,
    new: Option<&CommObject>,
    given: info::Info,
) -> Result<()> {
    if let Some(new) = new {
        hints::give(new, &given)?;
    }
    give(from, out, new)
}

entry! {
    Own fn MPI_Dist_graph_create(
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
            let sources = Adjacent::list(names, named(sources, number)?, None, comm.size())?;
            let ranks = named(destinations, count)?;
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
        give_with_hints(comm.handle, comm_dist_graph, new, hints)
    }
}

entry! {
    AccessOnly fn MPI_Dist_graph_neighbors_count(
        comm: Comm, indegree: Out<Int>, outdegree: Out<Int>, weighted: Out<Logical>,
    ) on comm {
        let adjacent = distributed(decode::any_comm(comm)?)?;
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
    AccessOnly fn MPI_Dist_graph_neighbors(
        comm: Comm, maxindegree: Int, sources: OutArray<Rank>, sourceweights: OutArray<Weight>,
        maxoutdegree: Int, destinations: OutArray<Rank>, destweights: OutArray<Weight>,
    ) on comm {
        let adjacent = distributed(decode::any_comm(comm)?)?;
        let (room, weighted) = (("maxindegree", maxindegree), adjacent.weighted);
        put_neighbors(room, sources, sourceweights, &adjacent.sources, weighted)?;
        let room = ("maxoutdegree", maxoutdegree);
        put_neighbors(room, destinations, destweights, &adjacent.destinations, weighted)
    }
}
