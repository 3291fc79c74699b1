//! Neighborhood collective operations: blocking, nonblocking, persistent.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Ineighbor_allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ineighbor_allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Ineighbor_alltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ineighbor_alltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Ineighbor_alltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Aint>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Aint>, recvtypes: Array<Datatype>, comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Neighbor_allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Neighbor_allgather_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Neighbor_allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Neighbor_allgatherv_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
        info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Neighbor_alltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Neighbor_alltoall_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    fn MPI_Neighbor_alltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Neighbor_alltoallv_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;

    fn MPI_Neighbor_alltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Aint>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Aint>, recvtypes: Array<Datatype>, comm: Comm,
    ) on comm;

    fn MPI_Neighbor_alltoallw_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Aint>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Aint>, recvtypes: Array<Datatype>, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm;
}
