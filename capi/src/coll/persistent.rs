//! Persistent collective operations.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Allgather_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Allgatherv_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
        info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Allreduce_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Alltoall_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Alltoallv_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;

    fn MPI_Alltoallw_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;

    fn MPI_Barrier_init(comm: Comm, info: Info, request: Out<Request>) on comm;

    fn MPI_Bcast_init[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;

    fn MPI_Exscan_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Gather_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;

    fn MPI_Gatherv_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Reduce_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Reduce_scatter_block_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Reduce_scatter_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Scan_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Scatter_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;

    fn MPI_Scatterv_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;
}
