//! Nonblocking collective operations.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Iallgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Iallgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Iallreduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ialltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ialltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ialltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ibarrier(comm: Comm, request: Out<Request>) on comm;

    fn MPI_Ibcast[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Iexscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Igather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Igatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ireduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ireduce_scatter[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ireduce_scatter_block[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Iscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Iscatter[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Iscatterv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm, request: Out<Request>,
    ) on comm;
}
