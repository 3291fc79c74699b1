//! Blocking collective operations.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Allreduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
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

    fn MPI_Barrier(comm: Comm) on comm;

    fn MPI_Bcast[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm,
    ) on comm;

    fn MPI_Exscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm;

    fn MPI_Gather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
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

    fn MPI_Reduce_local[_c](
        inbuf: SendBuffer, inoutbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
    );

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
