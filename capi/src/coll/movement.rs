//! Barrier, and collective operations that move data: blocking, nonblocking, persistent.

use super::arguments;
use crate::param::*;
use crate::pointers::*;

forms! {
    Collective fn MPI_Allgather MPI_Iallgather MPI_Allgather_init [_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        arguments::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Allgatherv MPI_Iallgatherv MPI_Allgatherv_init [_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm {
        arguments::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Alltoall MPI_Ialltoall MPI_Alltoall_init [_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        arguments::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallv_init [_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm {
        arguments::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Alltoallw MPI_Ialltoallw MPI_Alltoallw_init [_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm,
    ) on comm {
        arguments::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Barrier MPI_Ibarrier MPI_Barrier_init(comm: Comm) on comm {
        arguments::barrier(comm)
    }
}

forms! {
    Collective fn MPI_Bcast MPI_Ibcast MPI_Bcast_init [_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm,
    ) on comm {
        arguments::bcast(buffer, count, datatype, root, comm)
    }
}

forms! {
    Collective fn MPI_Gather MPI_Igather MPI_Gather_init [_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
    ) on comm {
        arguments::gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Gatherv MPI_Igatherv MPI_Gatherv_init [_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm,
    ) on comm {
        arguments::gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            root,
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Scatter MPI_Iscatter MPI_Scatter_init [_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
    ) on comm {
        arguments::scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Scatterv MPI_Iscatterv MPI_Scatterv_init [_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm,
    ) on comm {
        arguments::scatterv(
            (sendbuf, sendcounts, displs, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )
    }
}
