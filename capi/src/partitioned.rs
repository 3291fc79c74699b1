//! Partitioned point-to-point communication, chapter 4.

use crate::decode::{self, MESSAGE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::datatype::Buffer;
use oxmpi::error::{Class, Error, Result};
use oxmpi::fail;
use oxmpi::info as infos;
use oxmpi::pt2pt::{ANY_SOURCE, REQUEST_NULL, partitioned as core};
use std::ffi::c_void;

/// All partitions as one buffer, and their number.
fn whole(
    buf: *mut c_void,
    partitions: Int,
    count: i64,
    datatype: Datatype,
    info: Info,
) -> Result<(Buffer, usize)> {
    infos::hints(info.0)?;
    let number = decode::length("partitions", partitions)?;
    let each = decode::count("count", Count(count))?;
    let kind = decode::datatype_of(MESSAGE, datatype, each)?;
    let all = each.checked_mul(number as u64);
    let Some(all) = all.filter(|all| all.checked_mul(kind.size).is_some()) else {
        return fail!(
            Class::Count,
            "count is {each}; {number} partitions of so many elements are more than memory has"
        );
    };
    Ok((decode::buffer_of(MESSAGE, buf, all, kind)?, number))
}

/// A partitioned receive has no wildcards.
fn source(rank: Rank, comm: &CommObject) -> Result<i32> {
    if rank.0 == ANY_SOURCE {
        return fail!(
            Class::Rank,
            "source is MPI_ANY_SOURCE, which a partitioned receive cannot have"
        );
    }
    decode::source(rank, comm)
}

/// Buffer, partitions, count of each, datatype and info.
type Parts = (*mut c_void, Int, i64, Datatype, Info);
/// Rank, tag and communicator.
type Peer = (Rank, Tag, Comm);

fn send_init(parts: Parts, (dest, tag, comm): Peer, request: Out<Request>) -> Result<()> {
    request.not_null()?;
    let comm = decode::comm(comm)?;
    let (dest, tag) = (decode::dest(dest, comm)?, decode::tag(tag)?);
    let (whole, number) = whole(parts.0, parts.1, parts.2, parts.3, parts.4)?;
    request.set(Request(core::send_init(whole, number, dest, tag, comm)?))
}

fn recv_init(parts: Parts, (dest, tag, comm): Peer, request: Out<Request>) -> Result<()> {
    request.not_null()?;
    let comm = decode::comm(comm)?;
    let (source, tag) = (source(dest, comm)?, decode::tag(tag)?);
    let (whole, number) = whole(parts.0, parts.1, parts.2, parts.3, parts.4)?;
    request.set(Request(core::recv_init(whole, number, source, tag, comm)?))
}

// MPICH's ABI has one binding, with an MPI_Count.

#[cfg(not(standard_abi))]
entry! {
    Allocate fn MPI_Psend_init(
        buf: SendBuffer, partitions: Int, count: LargeCount, datatype: Datatype, dest: Rank,
        tag: Tag, comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        let parts = (buf.0.cast_mut(), partitions, count.0, datatype, info);
        send_init(parts, (dest, tag, comm), request)
    }
}

#[cfg(standard_abi)]
entry! {
    Allocate fn MPI_Psend_init[_c](
        buf: SendBuffer, partitions: Int, count: Count, datatype: Datatype, dest: Rank,
        tag: Tag, comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        let parts = (buf.0.cast_mut(), partitions, count.0, datatype, info);
        send_init(parts, (dest, tag, comm), request)
    }
}

#[cfg(not(standard_abi))]
entry! {
    Allocate fn MPI_Precv_init(
        buf: Memory, partitions: Int, count: LargeCount, datatype: Datatype, dest: Rank, tag: Tag,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        recv_init((buf.0, partitions, count.0, datatype, info), (dest, tag, comm), request)
    }
}

#[cfg(standard_abi)]
entry! {
    Allocate fn MPI_Precv_init[_c](
        buf: Memory, partitions: Int, count: Count, datatype: Datatype, dest: Rank, tag: Tag,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        recv_init((buf.0, partitions, count.0, datatype, info), (dest, tag, comm), request)
    }
}

entry! {
    CommIo fn MPI_Pready(partition: Int, request: Request) on MPI_REQUEST_NULL {
        core::ready(request.0, "partition", std::iter::once(partition.0))
    }
}

entry! {
    CommIo fn MPI_Pready_range(partition_low: Int, partition_high: Int, request: Request) on MPI_REQUEST_NULL {
        let (low, high) = (partition_low.0, partition_high.0);
        // The ends first: a range may be long.
        core::check(request.0, "partition_low", low)?;
        core::check(request.0, "partition_high", high)?;
        if low > high {
            let text = format!("partition_low is {low}, which is more than partition_high, {high}");
            return core::refuse(request.0, Error::new(Class::Arg, text));
        }
        core::ready(request.0, "partition", low..=high)
    }
}

entry! {
    CommIo fn MPI_Pready_list(length: Int, array_of_partitions: Array<Int>, request: Request) on MPI_REQUEST_NULL {
        let length = decode::length("length", length);
        let partitions = length.and_then(|length| array_of_partitions.elements(length));
        let partitions = partitions.or_else(|error| core::refuse(request.0, error))?;
        let partitions = partitions.iter().map(|partition| partition.0);
        core::ready(request.0, "array_of_partitions", partitions)
    }
}

entry! {
    CommIo fn MPI_Parrived(request: Request, partition: Int, flag: Out<Logical>) on MPI_REQUEST_NULL {
        flag.not_null()?;
        if request.0 == REQUEST_NULL {
            return flag.put_bool(true);
        }
        flag.put_bool(core::arrived(request.0, partition.0)?)
    }
}
