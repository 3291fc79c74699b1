//! Blocking collective operations.

use crate::decode::{self, BUFFER, FROM, IN_PLACE, RECV, SEND, TO};
use crate::param::*;
use crate::place::*;
use oxmpi::coll;
use oxmpi::datatype::{Buffer, Datatype as DatatypeObject};
use oxmpi::error::Result;
use oxmpi::op;

/// A receive buffer with an equal part for each rank.
struct Parts {
    base: *mut u8,
    count: u64,
    datatype: &'static DatatypeObject,
}

impl Parts {
    fn new(address: RecvBuffer, count: Count, datatype: Datatype) -> Result<Parts> {
        decode::recv_buffer(RECV, address, count, datatype)?;
        Ok(Parts {
            base: address.0.cast(),
            count: decode::count("recvcount", count)?,
            datatype: decode::named_datatype("recvtype", datatype)?,
        })
    }

    fn of(&self, rank: i32) -> Buffer {
        let bytes = rank as isize * self.count as isize * self.datatype.extent as isize;
        // SAFETY: the caller of the C function owns memory for a part of each rank there, and
        // leaves it to the operation until the call returns.
        unsafe { Buffer::new(self.base.wrapping_offset(bytes), self.count, self.datatype) }
    }
}

entry! {
    fn MPI_Barrier(comm: Comm) on comm {
        let comm = decode::comm(comm)?;
        coll::barrier(comm)
    }
}

entry! {
    fn MPI_Bcast[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm,
    ) on comm {
        let comm = decode::one_group(comm)?;
        let root = decode::root(root, comm)?;
        let buffer = decode::recv_buffer(BUFFER, buffer, count, datatype)?;
        coll::bcast(buffer, root, comm)
    }
}

entry! {
    fn MPI_Gather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
    ) on comm {
        let comm = decode::one_group(comm)?;
        let root = decode::root(root, comm)?;
        let at_root = comm.rank() == root;
        let own = match at_root && sendbuf.0 as usize == IN_PLACE {
            true => None,
            false => Some(decode::send_buffer(SEND, sendbuf, sendcount, sendtype)?),
        };
        if !at_root {
            return coll::gather(own, &|_| Buffer::empty(), root, comm);
        }
        let parts = Parts::new(recvbuf, recvcount, recvtype)?;
        coll::gather(own, &|rank| parts.of(rank), root, comm)
    }
}

entry! {
    fn MPI_Allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        let comm = decode::one_group(comm)?;
        let own = match sendbuf.0 as usize == IN_PLACE {
            true => None,
            false => Some(decode::send_buffer(SEND, sendbuf, sendcount, sendtype)?),
        };
        let parts = Parts::new(recvbuf, recvcount, recvtype)?;
        coll::allgather(own, &|rank| parts.of(rank), comm)
    }
}

entry! {
    fn MPI_Allreduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        let comm = decode::one_group(comm)?;
        let op = op::get(op.0)?;
        let elements = decode::count("count", count)?;
        let kind = decode::datatype(datatype)?;
        op.check(kind)?;
        let into = decode::recv_buffer(TO, recvbuf, count, datatype)?;
        let own = match sendbuf.0 as usize == IN_PLACE {
            true => into,
            false => decode::send_buffer(FROM, sendbuf, count, datatype)?,
        };
        let mut data = vec![0; own.len()].into_boxed_slice();
        own.read(0, &mut data);
        let combine = |left: &mut [u8], right: &mut [u8]| op.apply(left, right, elements, kind);
        coll::allreduce(&mut data, &combine, comm)?;
        into.write(0, &data);
        Ok(())
    }
}

stub! {
    fn MPI_Allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Alltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Alltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Alltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm,
    ) on comm;

    fn MPI_Exscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm;

    fn MPI_Gatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm,
    ) on comm;

    fn MPI_Reduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm,
    ) on comm;

    fn MPI_Reduce_scatter[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm,
    ) on comm;

    fn MPI_Reduce_scatter_block[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm;

    fn MPI_Scan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm;

    fn MPI_Scatter[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
    ) on comm;

    fn MPI_Scatterv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm,
    ) on comm;
}
