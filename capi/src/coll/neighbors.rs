//! The arguments of neighborhood collective operations, decoded once for the blocking, nonblocking and persistent form.
//!
//! Invariant: a buffer has a part for each neighbor, also for those beyond the border of a grid, which nothing is sent to
//! and received from. Without neighbors a buffer may be anything.

use super::apart;
use super::arguments::{self, Decoded, Into, IntoParts, Out, OutParts};
use crate::decode::{self, Names};
use crate::param::*;
use crate::pointers::Array;
use oxmpi::coll::CollArgs;
use oxmpi::comm::Comm as CommObject;
use oxmpi::datatype::{Buffer, Parts};
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::topology::Topology;
use std::ffi::c_void;

pub type OutTyped = (SendBuffer, Array<Count>, Array<Aint>, Array<Datatype>);
pub type IntoTyped = (RecvBuffer, Array<Count>, Array<Aint>, Array<Datatype>);

const SEND: Names = decode::SEND.or_null_type();
const RECV: Names = decode::RECV.or_null_type();

/// Those around this rank.
struct Around {
    comm: &'static CommObject,
    topology: &'static Topology,
    sources: Vec<Option<i32>>,
    destinations: Vec<Option<i32>>,
}

fn around(comm: Comm) -> Result<Around> {
    let comm = decode::comm(comm)?;
    let Some(topology) = comm.topology() else {
        return fail!(
            Class::Topology,
            "comm is {}, which has no topology, and so no neighbors",
            comm.title()
        );
    };
    Ok(Around {
        comm,
        topology,
        sources: topology.sources(comm.rank()),
        destinations: topology.destinations(comm.rank()),
    })
}

/// An equal part for each of so many.
fn equal(
    names: Names,
    address: *mut c_void,
    count: Count,
    kind: Datatype,
    number: usize,
) -> Result<Parts> {
    if number > 0 {
        return arguments::equal(names, address, count, kind);
    }
    let count = decode::count(names.count, count)?;
    decode::datatype_of(names, kind, count)?;
    Ok(Parts::Each(Box::default()))
}

impl Around {
    /// The messages, those of one pair in the order in which they meet.
    fn call(self, out: impl Fn(usize) -> Buffer, into: &Parts) -> Decoded {
        let indices = 0..self.sources.len();
        let receives = indices.filter_map(|index| {
            let index = self.topology.arrival(index);
            Some((self.sources[index]?, into.of(index)))
        });
        let destinations = self.destinations.iter().enumerate();
        let sends = destinations.filter_map(|(index, rank)| Some(((*rank)?, out(index))));
        let call = CollArgs::Neighbors {
            receives: receives.collect(),
            sends: sends.collect(),
        };
        Ok((self.comm, call))
    }

    /// One operand to all.
    fn gather(self, out: Out, into: Parts) -> Decoded {
        let own = match self.destinations.len() {
            0 => equal(SEND, out.0.0.cast_mut(), out.1, out.2, 0).map(|_| Buffer::empty())?,
            _ => decode::send_buffer(SEND, out.0, out.1, out.2)?,
        };
        let parts = Parts::Each(Box::new([own]));
        let sends = self.destinations.iter().any(Option::is_some);
        let receives = |index: usize| self.sources[index].is_some();
        let into_used = (&into, self.sources.len(), &receives as _);
        apart::of_neighbors((&parts, 1, &|_| sends), into_used)?;
        self.call(|_| own, &into)
    }

    /// A part to each.
    fn exchange(self, out: Parts, into: Parts) -> Decoded {
        let sends = |index: usize| self.destinations[index].is_some();
        let receives = |index: usize| self.sources[index].is_some();
        let out_used = (&out, self.destinations.len(), &sends as _);
        apart::of_neighbors(out_used, (&into, self.sources.len(), &receives))?;
        self.call(|index| out.of(index), &into)
    }
}

pub fn allgather(out: Out, into: Into, comm: Comm) -> Decoded {
    let around = around(comm)?;
    let parts = equal(RECV, into.0.0, into.1, into.2, around.sources.len())?;
    around.gather(out, parts)
}

pub fn allgatherv(out: Out, into: IntoParts, comm: Comm) -> Decoded {
    let around = around(comm)?;
    let number = around.sources.len();
    let lists = (into.1, into.2);
    let parts = arguments::counted(arguments::RECVS, into.0.0, lists, into.3, number)?;
    around.gather(out, parts)
}

pub fn alltoall(out: Out, into: Into, comm: Comm) -> Decoded {
    let around = around(comm)?;
    let number = around.destinations.len();
    let parts = equal(SEND, out.0.0.cast_mut(), out.1, out.2, number)?;
    let into_parts = equal(RECV, into.0.0, into.1, into.2, around.sources.len())?;
    around.exchange(parts, into_parts)
}

pub fn alltoallv(out: OutParts, into: IntoParts, comm: Comm) -> Decoded {
    let around = around(comm)?;
    let (address, number) = (out.0.0.cast_mut(), around.destinations.len());
    let lists = (out.1, out.2);
    let parts = arguments::counted(arguments::SENDS, address, lists, out.3, number)?;
    let (number, lists) = (around.sources.len(), (into.1, into.2));
    let into = arguments::counted(arguments::RECVS, into.0.0, lists, into.3, number)?;
    around.exchange(parts, into)
}

pub fn alltoallw(out: OutTyped, into: IntoTyped, comm: Comm) -> Decoded {
    let around = around(comm)?;
    let (address, number) = (out.0.0.cast_mut(), around.destinations.len());
    let lists = (out.1, |index| Ok(out.2.get(index)?.0));
    let parts = arguments::typed(
        arguments::SENDS_TYPED,
        address,
        lists,
        out.3,
        (number, true),
    )?;
    let lists = (into.1, |index| Ok(into.2.get(index)?.0));
    let (address, number) = (into.0.0, around.sources.len());
    let into = arguments::typed(
        arguments::RECVS_TYPED,
        address,
        lists,
        into.3,
        (number, true),
    )?;
    around.exchange(parts, into)
}
