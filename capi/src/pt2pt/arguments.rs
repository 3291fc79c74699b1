//! The arguments that sends, receives and their pairs have in common, decoded in the order in which mistakes in them are
//! reported. Inlined into the entries: nothing of it is a step of its own.

use crate::decode::{self, MESSAGE, Names};
use crate::param::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::datatype::Buffer;
use oxmpi::error::Result;
use oxmpi::pt2pt::exchange::Half;
use oxmpi::pt2pt::signatures;
use std::ffi::{c_int, c_void};

/// The halves of an exchange.
const SEND: Names = decode::SEND.or_null_type();
const RECV: Names = decode::RECV.or_null_type();

/// A message and whom it goes to or comes from: buffer, rank, tag, communicator.
pub type Message = (Buffer, c_int, c_int, &'static CommObject);

/// The buffer as a message has it: with its type signature, if that is checked.
#[inline(always)]
pub fn signed(
    buffer: Buffer,
    address: *mut c_void,
    count: Count,
    datatype: Datatype,
) -> Result<Buffer> {
    if !signatures::on() {
        return Ok(buffer);
    }
    let kind = decode::datatype_of(MESSAGE, datatype, count.0 as u64)?;
    let signed = signatures::signed(address.cast(), count.0 as u64, kind)?;
    if let Some(made) = signed.datatype() {
        oxmpi::lifetime::datatypes::free_when_used(made);
    }
    Ok(signed)
}

#[inline(always)]
pub fn outgoing(
    buf: SendBuffer,
    count: Count,
    datatype: Datatype,
    dest: Rank,
    tag: Tag,
    comm: Comm,
) -> Result<Message> {
    let comm = decode::comm(comm)?;
    let dest = decode::dest(dest, comm)?;
    let tag = decode::tag(tag)?;
    let buffer = decode::send_buffer(MESSAGE, buf, count, datatype)?;
    let buffer = signed(buffer, buf.0.cast_mut(), count, datatype)?;
    Ok((buffer, dest, tag, comm))
}

/// Which message a receive or a probe is for.
#[inline(always)]
pub fn awaited(source: Rank, tag: Tag, comm: Comm) -> Result<(c_int, c_int, &'static CommObject)> {
    let comm = decode::comm(comm)?;
    Ok((decode::source(source, comm)?, decode::recv_tag(tag)?, comm))
}

#[inline(always)]
pub fn incoming(
    buf: RecvBuffer,
    count: Count,
    datatype: Datatype,
    source: Rank,
    tag: Tag,
    comm: Comm,
) -> Result<Message> {
    let (source, tag, comm) = awaited(source, tag, comm)?;
    let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
    let buffer = signed(buffer, buf.0, count, datatype)?;
    Ok((buffer, source, tag, comm))
}

/// The halves of MPI_Sendrecv and MPI_Isendrecv.
#[inline(always)]
pub fn exchanged(
    (out, dest, sendtag): ((SendBuffer, Count, Datatype), Rank, Tag),
    (into, source, recvtag): ((RecvBuffer, Count, Datatype), Rank, Tag),
    comm: Comm,
) -> Result<(Half, Half, &'static CommObject)> {
    let comm = decode::comm(comm)?;
    let buffer = decode::send_buffer(SEND, out.0, out.1, out.2)?;
    let send = Half {
        buffer: signed(buffer, out.0.0.cast_mut(), out.1, out.2)?,
        peer: decode::dest(dest, comm)?,
        tag: decode::named_tag("sendtag", sendtag)?,
    };
    let buffer = decode::recv_buffer(RECV, into.0, into.1, into.2)?;
    let receive = Half {
        buffer: signed(buffer, into.0.0, into.1, into.2)?,
        peer: decode::source(source, comm)?,
        tag: decode::named_recv_tag("recvtag", recvtag)?,
    };
    Ok((send, receive, comm))
}

/// A rank and a tag.
type Peer = (c_int, c_int);

/// The buffer of MPI_Sendrecv_replace and MPI_Isendrecv_replace, and whom its data goes to and comes from.
#[inline(always)]
pub fn replaced(
    (buf, count, datatype): (RecvBuffer, Count, Datatype),
    (dest, sendtag): (Rank, Tag),
    (source, recvtag): (Rank, Tag),
    comm: Comm,
) -> Result<(Buffer, Peer, Peer, &'static CommObject)> {
    let comm = decode::comm(comm)?;
    let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
    let buffer = signed(buffer, buf.0, count, datatype)?;
    let to = (
        decode::dest(dest, comm)?,
        decode::named_tag("sendtag", sendtag)?,
    );
    let from = (
        decode::source(source, comm)?,
        decode::named_recv_tag("recvtag", recvtag)?,
    );
    Ok((buffer, to, from, comm))
}
