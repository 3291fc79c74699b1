//! The arguments of collective operations that move data, decoded once for the blocking, nonblocking and persistent form.
//!
//! Invariant: only what is significant at this rank is looked at: of a rooted operation the other side's arguments may be
//! anything.

use super::apart;
use crate::addresses::IN_PLACE;
use crate::decode::{self, Names, RECV, SEND};
use crate::param::*;
use crate::pointers::Array;
use oxmpi::coll::{CollArgs, PROC_NULL, ROOT};
use oxmpi::comm::Comm as CommObject;
use oxmpi::datatype::{Buffer, Parts};
use oxmpi::error::Result;
use std::ffi::c_void;

const BUFFER: Names = decode::BUFFER.or_null_type();

/// The communicator and what to do there.
pub type Decoded = Result<(&'static CommObject, CollArgs)>;

/// A buffer that is read, its count and its type; and one that is written.
pub type Out = (SendBuffer, Count, Datatype);
pub type Into = (RecvBuffer, Count, Datatype);
/// As these two, with a part for each rank.
pub type OutParts = (SendBuffer, Array<Count>, Array<Displacement>, Datatype);
pub type IntoParts = (RecvBuffer, Array<Count>, Array<Displacement>, Datatype);
pub type OutTyped = (
    SendBuffer,
    Array<Count>,
    Array<Displacement>,
    Array<Datatype>,
);
pub type IntoTyped = (
    RecvBuffer,
    Array<Count>,
    Array<Displacement>,
    Array<Datatype>,
);

pub fn is_in_place(address: *const c_void) -> bool {
    address as usize == IN_PLACE
}

/// What this rank contributes; `None` in place, which intercommunicators do not have.
fn own((address, count, kind): Out, comm: &CommObject) -> Result<Option<Buffer>> {
    if is_in_place(address.0) && !comm.is_inter() {
        return Ok(None);
    }
    decode::send_buffer(SEND, address, count, kind).map(Some)
}

/// An equal part for each rank.
pub fn equal(names: Names, address: *mut c_void, count: Count, kind: Datatype) -> Result<Parts> {
    decode::recv_buffer(names, RecvBuffer(address), count, kind)?;
    let kind = decode::datatype_of(names, kind, count.0 as u64)?;
    // SAFETY: the caller of the C function owns memory for a part of each rank there, and leaves it to the operation until
    // that is complete.
    Ok(unsafe { Parts::equal(address.cast(), count.0 as u64, kind) })
}

fn moved(address: *mut c_void, bytes: i64) -> RecvBuffer {
    RecvBuffer(match address.is_null() && bytes == 0 {
        true => address,
        false => address.wrapping_byte_offset(bytes as isize),
    })
}

/// A part of a size and at a place of its own for each rank, of one type.
pub fn counted(
    names: Names,
    address: *mut c_void,
    (counts, displacements): (Array<Count>, Array<Displacement>),
    kind: Datatype,
    ranks: usize,
) -> Result<Parts> {
    let object = decode::datatype_of(names, kind, 0)?;
    let part = |rank| {
        let count = counts.get(rank)?;
        decode::count(names.count, count)?;
        // What is behind no address is a mistake, and not at a displacement from there.
        decode::recv_buffer(names, RecvBuffer(address), count, kind)?;
        let bytes = displacements.get(rank)?.0.wrapping_mul(object.extent);
        decode::recv_buffer(names, moved(address, bytes), count, kind)
    };
    let parts: Result<Box<[Buffer]>> = (0..ranks).map(part).collect();
    Ok(Parts::Each(parts?))
}

/// A part of a type of its own for each rank; displacements are in bytes, of one type or another. If they may be `absolute`
/// addresses, the buffer may be MPI_BOTTOM.
pub fn typed(
    names: Names,
    address: *mut c_void,
    (counts, displacement): (Array<Count>, impl Fn(usize) -> Result<i64>),
    kinds: Array<Datatype>,
    (ranks, absolute): (usize, bool),
) -> Result<Parts> {
    let part = |rank| {
        let (count, kind) = (counts.get(rank)?, kinds.get(rank)?);
        if !(address.is_null() && absolute) {
            decode::recv_buffer(names, RecvBuffer(address), count, kind)?;
        }
        let address = moved(address, displacement(rank)?);
        decode::recv_buffer(names, address, count, kind)
    };
    let parts: Result<Box<[Buffer]>> = (0..ranks).map(part).collect();
    Ok(Parts::Each(parts?))
}

pub const SENDS: Names = Names {
    count: "sendcounts",
    ..SEND
};
pub const RECVS: Names = Names {
    count: "recvcounts",
    ..RECV
};
pub const SENDS_TYPED: Names = Names {
    datatype: "sendtypes",
    ..SENDS.or_null_type()
};
pub const RECVS_TYPED: Names = Names {
    datatype: "recvtypes",
    ..RECVS.or_null_type()
};

pub fn barrier(comm: Comm) -> Decoded {
    Ok((decode::comm(comm)?, CollArgs::Barrier))
}

pub fn bcast(buffer: RecvBuffer, count: Count, kind: Datatype, root: Root, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let root = decode::root(root, comm)?;
    let buffer = match root {
        PROC_NULL => Buffer::empty(),
        _ => decode::recv_buffer(BUFFER, buffer, count, kind)?,
    };
    Ok((comm, CollArgs::Bcast { buffer, root }))
}

/// Whether this rank is where a rooted operation's data goes to or comes from.
pub fn is_root(root: i32, comm: &CommObject) -> bool {
    match comm.is_inter() {
        true => root == ROOT,
        false => root == comm.rank(),
    }
}

/// What a rank has for a gathering: not the root of an intercommunicator.
fn given(out: Out, root: i32, comm: &CommObject) -> Result<Option<Buffer>> {
    if root == ROOT || root == PROC_NULL {
        return Ok(None);
    }
    if is_root(root, comm) {
        return own(out, comm);
    }
    decode::send_buffer(SEND, out.0, out.1, out.2).map(Some)
}

/// A gathering into what `parts` decodes, at the root.
fn gathered(
    out: Out,
    parts: impl FnOnce(&CommObject) -> Result<Parts>,
    root: Root,
    comm: Comm,
    equal: bool,
) -> Decoded {
    let comm = decode::comm(comm)?;
    let root = decode::root(root, comm)?;
    let own = given(out, root, comm)?;
    let parts = match is_root(root, comm) {
        true => Some(parts(comm)?),
        false => None,
    };
    if let (Some(own), Some(parts)) = (&own, &parts) {
        apart::from_parts(own, parts, comm)?;
    }
    let call = CollArgs::Gather {
        own,
        parts,
        root,
        equal,
    };
    Ok((comm, call))
}

pub fn gather(out: Out, into: Into, root: Root, comm: Comm) -> Decoded {
    let parts = |_: &CommObject| equal(RECV, into.0.0, into.1, into.2);
    gathered(out, parts, root, comm, true)
}

pub fn gatherv(out: Out, into: IntoParts, root: Root, comm: Comm) -> Decoded {
    let (address, counts, displacements, kind) = into;
    let parts = |comm: &CommObject| {
        let ranks = comm.peers() as usize;
        counted(RECVS, address.0, (counts, displacements), kind, ranks)
    };
    gathered(out, parts, root, comm, false)
}

/// Where a rank wants its part of a scattering: not the root of an intercommunicator.
fn wanted(into: Into, root: i32, comm: &CommObject) -> Result<Option<Buffer>> {
    let in_place = is_root(root, comm) && is_in_place(into.0.0);
    if root == ROOT || root == PROC_NULL || in_place {
        return Ok(None);
    }
    decode::recv_buffer(RECV, into.0, into.1, into.2).map(Some)
}

/// A scattering of what `parts` decodes, at the root.
fn scattered(
    parts: impl FnOnce(&CommObject) -> Result<Parts>,
    into: Into,
    root: Root,
    comm: Comm,
    equal: bool,
) -> Decoded {
    let comm = decode::comm(comm)?;
    let root = decode::root(root, comm)?;
    let parts = match is_root(root, comm) {
        true => Some(parts(comm)?),
        false => None,
    };
    let wanted = wanted(into, root, comm)?;
    if let (Some(wanted), Some(parts)) = (&wanted, &parts) {
        apart::from_parts(wanted, parts, comm)?;
    }
    let call = CollArgs::Scatter {
        parts,
        into: wanted,
        root,
        equal,
    };
    Ok((comm, call))
}

pub fn scatter(out: Out, into: Into, root: Root, comm: Comm) -> Decoded {
    let parts = |_: &CommObject| equal(SEND, out.0.0.cast_mut(), out.1, out.2);
    scattered(parts, into, root, comm, true)
}

pub fn scatterv(out: OutParts, into: Into, root: Root, comm: Comm) -> Decoded {
    let (address, counts, displacements, kind) = out;
    let parts = |comm: &CommObject| {
        let (address, ranks) = (address.0.cast_mut(), comm.peers() as usize);
        counted(SENDS, address, (counts, displacements), kind, ranks)
    };
    scattered(parts, into, root, comm, false)
}

pub fn allgather(out: Out, into: Into, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let own = own(out, comm)?;
    let parts = equal(RECV, into.0.0, into.1, into.2)?;
    if let Some(own) = &own {
        apart::from_parts(own, &parts, comm)?;
    }
    Ok((comm, CollArgs::Allgather { own, parts }))
}

pub fn allgatherv(out: Out, into: IntoParts, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let own = own(out, comm)?;
    let parts = counted(
        RECVS,
        into.0.0,
        (into.1, into.2),
        into.3,
        comm.peers() as usize,
    )?;
    if let Some(own) = &own {
        apart::from_parts(own, &parts, comm)?;
    }
    Ok((comm, CollArgs::Allgather { own, parts }))
}

pub fn alltoall(out: Out, into: Into, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let parts = match is_in_place(out.0.0) && !comm.is_inter() {
        true => None,
        false => Some(equal(SEND, out.0.0.cast_mut(), out.1, out.2)?),
    };
    let into_parts = equal(RECV, into.0.0, into.1, into.2)?;
    exchanged(comm, parts, into_parts)
}

pub fn alltoallv(out: OutParts, into: IntoParts, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let ranks = comm.peers() as usize;
    let parts = match is_in_place(out.0.0) && !comm.is_inter() {
        true => None,
        false => Some(counted(
            SENDS,
            out.0.0.cast_mut(),
            (out.1, out.2),
            out.3,
            ranks,
        )?),
    };
    let into_parts = counted(RECVS, into.0.0, (into.1, into.2), into.3, ranks)?;
    exchanged(comm, parts, into_parts)
}

pub fn alltoallw(out: OutTyped, into: IntoTyped, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let ranks = comm.peers() as usize;
    let parts = match is_in_place(out.0.0) && !comm.is_inter() {
        true => None,
        false => Some(typed(
            SENDS_TYPED,
            out.0.0.cast_mut(),
            (out.1, |rank| Ok(out.2.get(rank)?.0)),
            out.3,
            (ranks, out.2.is_large()),
        )?),
    };
    let into_parts = typed(
        RECVS_TYPED,
        into.0.0,
        (into.1, |rank| Ok(into.2.get(rank)?.0)),
        into.3,
        (ranks, into.2.is_large()),
    )?;
    exchanged(comm, parts, into_parts)
}

fn exchanged(comm: &'static CommObject, out: Option<Parts>, into: Parts) -> Decoded {
    if let Some(out) = &out {
        apart::parts(out, &into, comm)?;
    }
    Ok((comm, CollArgs::Alltoall { out, into }))
}
