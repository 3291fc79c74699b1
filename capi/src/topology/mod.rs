//! Process topologies, chapter 8.

mod cartesian;
mod distributed;
mod graph;

use crate::comm::give;
use crate::constants::*;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::error::{Class, Result};
use oxmpi::os::hardware;
use oxmpi::topology::{Topology, dims};
use oxmpi::{fail, info};
use std::ffi::c_int;

entry! {
    None fn MPI_Dims_create(nnodes: Int, ndims: Int, dims: InOutArray<Int>) {
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
use ints;

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

/// The rank in a topology of so many processes.
fn kept(comm: &CommObject, size: c_int) -> c_int {
    if comm.rank() < size {
        comm.rank()
    } else {
        MPI_UNDEFINED
    }
}

entry! {
    AccessOnly fn MPI_Topo_test(comm: Comm, status: Out<TopologyType>) on comm {
        let kind = match decode::any_comm(comm)?.topology().map(|topology| &**topology) {
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
    AccessOnly fn MPI_Get_hw_resource_info(hw_info: Out<Info>) {
        hw_info.not_null()?;
        let mut entries = info::Info::new();
        let binding = hardware::Binding::now();
        for kind in hardware::Kind::ALL {
            let confined = binding.confined_to(kind).is_some();
            entries.set(&format!("hwloc://{}", kind.name()), &confined.to_string())?;
        }
        hw_info.set(Info(info::create(entries)?))
    }
}
