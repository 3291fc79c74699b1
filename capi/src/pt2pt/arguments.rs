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
type Message = (Buffer, c_int, c_int, &'static CommObject);

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

#[inline(always)]
pub fn incoming(
    buf: RecvBuffer,
    count: Count,
    datatype: Datatype,
    source: Rank,
    tag: Tag,
    comm: Comm,
) -> Result<Message> {
    let comm = decode::comm(comm)?;
    let source = decode::source(source, comm)?;
    let tag = decode::recv_tag(tag)?;
    let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
    let buffer = signed(buffer, buf.0, count, datatype)?;
    Ok((buffer, source, tag, comm))
}

/// The first half of MPI_Sendrecv and MPI_Isendrecv.
#[inline(always)]
pub fn sent(
    (sendbuf, sendcount, sendtype): (SendBuffer, Count, Datatype),
    dest: Rank,
    sendtag: Tag,
    comm: &CommObject,
) -> Result<Half> {
    let buffer = decode::send_buffer(SEND, sendbuf, sendcount, sendtype)?;
    Ok(Half {
        buffer: signed(buffer, sendbuf.0.cast_mut(), sendcount, sendtype)?,
        peer: decode::dest(dest, comm)?,
        tag: decode::named_tag("sendtag", sendtag)?,
    })
}

/// The second half.
#[inline(always)]
pub fn received(
    (recvbuf, recvcount, recvtype): (RecvBuffer, Count, Datatype),
    source: Rank,
    recvtag: Tag,
    comm: &CommObject,
) -> Result<Half> {
    let buffer = decode::recv_buffer(RECV, recvbuf, recvcount, recvtype)?;
    Ok(Half {
        buffer: signed(buffer, recvbuf.0, recvcount, recvtype)?,
        peer: decode::source(source, comm)?,
        tag: decode::named_recv_tag("recvtag", recvtag)?,
    })
}
