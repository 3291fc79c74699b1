//! The arguments of reductions, decoded once for the blocking, nonblocking and persistent form.
//!
//! Invariant: as of `arguments`, only what is significant at this rank is looked at.

use super::apart;
use super::arguments::{Decoded, is_in_place, is_root};
use crate::decode::{self, FROM, Names, TO};
use crate::param::*;
use crate::pointers::Array;
use oxmpi::coll::{CollArgs, Counts, Operands, PROC_NULL, ROOT};
use oxmpi::comm::Comm as CommObject;
use oxmpi::datatype::{Buffer, Datatype as DatatypeObject};
use oxmpi::error::Result;
use oxmpi::op as ops;

fn operands(op: Op, datatype: &'static DatatypeObject) -> Result<Operands> {
    let op = ops::get(op.0)?;
    op.check(datatype)?;
    Ok(Operands { op, datatype })
}

/// The vectors of a reduction: what this rank has and where the result goes, the same in place.
fn vectors(
    (from, to): (SendBuffer, RecvBuffer),
    count: Count,
    kind: Datatype,
    in_place: bool,
) -> Result<(Buffer, Buffer)> {
    let into = decode::recv_buffer(TO, to, count, kind)?;
    if in_place && is_in_place(from.0) {
        return Ok((into, into));
    }
    let own = decode::send_buffer(FROM, from, count, kind)?;
    apart::vectors(from.0, to.0, own.is_empty())?;
    Ok((own, into))
}

type Vectors = (SendBuffer, RecvBuffer, Count);

pub fn reduce(
    (from, to, count): Vectors,
    kind: Datatype,
    op: Op,
    root: Root,
    comm: Comm,
) -> Decoded {
    let comm = decode::comm(comm)?;
    let root = decode::root(root, comm)?;
    if root == PROC_NULL {
        return Ok((comm, nothing_reduced()?));
    }
    let with = operands(op, decode::datatype(kind)?)?;
    let nothing = Buffer::empty();
    let (own, into) = if root == ROOT {
        (nothing, decode::recv_buffer(TO, to, count, kind)?)
    } else if is_root(root, comm) {
        vectors((from, to), count, kind, true)?
    } else {
        (decode::send_buffer(FROM, from, count, kind)?, nothing)
    };
    let call = CollArgs::Reduce {
        own,
        into,
        with,
        root,
    };
    Ok((comm, call))
}

/// Another rank of this side of an intercommunicator is the root: no other argument means anything here.
fn nothing_reduced() -> Result<CollArgs> {
    Ok(CollArgs::Reduce {
        own: Buffer::empty(),
        into: Buffer::empty(),
        with: Operands {
            op: ops::get(ops::SUM)?,
            datatype: decode::datatype(Datatype(oxmpi::datatype::INT))?,
        },
        root: PROC_NULL,
    })
}

pub fn allreduce((from, to, count): Vectors, kind: Datatype, op: Op, comm: Comm) -> Decoded {
    let comm = decode::comm(comm)?;
    let with = operands(op, decode::datatype(kind)?)?;
    let (own, into) = vectors((from, to), count, kind, !comm.is_inter())?;
    Ok((comm, CollArgs::Allreduce { own, into, with }))
}

fn scanned(
    (from, to, count): Vectors,
    kind: Datatype,
    op: Op,
    comm: Comm,
    exclusive: bool,
) -> Decoded {
    let comm = decode::intracomm("comm", comm)?;
    let with = operands(op, decode::datatype(kind)?)?;
    let (own, into) = match exclusive && comm.rank() == 0 && !is_in_place(from.0) {
        // Nothing is written to the receive buffer, so it may be anything; but where all ranks give one buffer for both, all are told.
        true => {
            let own = decode::send_buffer(FROM, from, count, kind)?;
            apart::vectors(from.0, to.0, own.is_empty())?;
            (own, own)
        }
        false => vectors((from, to), count, kind, true)?,
    };
    let call = CollArgs::Scan {
        own,
        into,
        with,
        exclusive,
    };
    Ok((comm, call))
}

pub fn scan(vectors: Vectors, kind: Datatype, op: Op, comm: Comm) -> Decoded {
    scanned(vectors, kind, op, comm, false)
}

pub fn exscan(vectors: Vectors, kind: Datatype, op: Op, comm: Comm) -> Decoded {
    scanned(vectors, kind, op, comm, true)
}

/// The vector that is reduced has `counts` elements for each rank of this side. Part of its callers: a call with all its counts is
/// long, and to copy it again and again waits for the stores before it.
#[inline(always)]
fn reduced_and_scattered(
    (from, to): (SendBuffer, RecvBuffer),
    counts: Counts,
    names: (&'static str, Datatype),
    op: Op,
    comm: &'static CommObject,
) -> Result<CollArgs> {
    let (name, kind) = names;
    let with = operands(op, decode::datatype(kind)?)?;
    let total = Count(
        counts
            .iter()
            .fold(0, |sum: u64, count| sum.saturating_add(*count)) as i64,
    );
    let here = Count(counts[comm.rank() as usize] as i64);
    let (whole, part) = (
        Names {
            count: name,
            ..FROM
        },
        Names { count: name, ..TO },
    );
    let into = decode::recv_buffer(part, to, here, kind)?;
    let own = match is_in_place(from.0) && !comm.is_inter() {
        true => decode::recv_buffer(part, to, total, kind)?,
        false => {
            let own = decode::send_buffer(whole, from, total, kind)?;
            // A rank that gets nothing is told what all are told, that both are one; other places are no mistake of its own.
            let looked_at = match into.is_empty() {
                true => 1,
                false => counts.len(),
            };
            let extent = with.datatype.extent.max(0) as u64;
            let begins = counts.iter().take(looked_at).scan(0, |begin, count| {
                let this = *begin;
                *begin += count * extent;
                Some(this)
            });
            let bytes = (total.0 as u64).saturating_mul(extent);
            apart::blocks((from.0, to.0), bytes, begins)?;
            own
        }
    };
    Ok(CollArgs::ReduceScatter {
        own,
        into,
        counts,
        with,
    })
}

#[inline(always)]
pub fn reduce_scatter(
    (from, to, counts): (SendBuffer, RecvBuffer, Array<Count>),
    kind: Datatype,
    op: Op,
    comm: Comm,
) -> Decoded {
    let comm = decode::comm(comm)?;
    let mut each = Counts::new();
    for rank in 0..comm.size() as usize {
        each.push(decode::count("recvcounts", counts.get(rank)?)?);
    }
    let call = reduced_and_scattered((from, to), each, ("recvcounts", kind), op, comm)?;
    Ok((comm, call))
}

#[inline(always)]
pub fn reduce_scatter_block(
    (from, to, count): (SendBuffer, RecvBuffer, Count),
    kind: Datatype,
    op: Op,
    comm: Comm,
) -> Decoded {
    let comm = decode::comm(comm)?;
    let counts = Counts::from_elem(decode::count("recvcount", count)?, comm.size() as usize);
    let call = reduced_and_scattered((from, to), counts, ("recvcount", kind), op, comm)?;
    Ok((comm, call))
}
