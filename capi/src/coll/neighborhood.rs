//! Neighborhood collective operations: blocking, nonblocking, persistent.

use super::neighbors;
use crate::param::*;
use crate::place::*;
use oxmpi::coll;
use oxmpi::info::hints;

entry! {
    Collective fn MPI_Neighbor_allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = neighbors::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Neighbor_allgather", &call)
    }
}

entry! {
    Collective fn MPI_Neighbor_allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = neighbors::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Neighbor_allgatherv", &call)
    }
}

entry! {
    Collective fn MPI_Neighbor_alltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = neighbors::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Neighbor_alltoall", &call)
    }
}

entry! {
    Collective fn MPI_Neighbor_alltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = neighbors::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Neighbor_alltoallv", &call)
    }
}

entry! {
    Collective fn MPI_Neighbor_alltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Aint>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Aint>, recvtypes: Array<Datatype>, comm: Comm,
    ) on comm {
        let (comm, call) = neighbors::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )?;
        coll::block(comm, "MPI_Neighbor_alltoallw", &call)
    }
}

entry! {
    Collective fn MPI_Ineighbor_allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = neighbors::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ineighbor_allgather", call)))
    }
}

entry! {
    Collective fn MPI_Ineighbor_allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = neighbors::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ineighbor_allgatherv", call)))
    }
}

entry! {
    Collective fn MPI_Ineighbor_alltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = neighbors::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ineighbor_alltoall", call)))
    }
}

entry! {
    Collective fn MPI_Ineighbor_alltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = neighbors::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ineighbor_alltoallv", call)))
    }
}

entry! {
    Collective fn MPI_Ineighbor_alltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Aint>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Aint>, recvtypes: Array<Datatype>, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = neighbors::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ineighbor_alltoallw", call)))
    }
}

entry! {
    Collective fn MPI_Neighbor_allgather_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = neighbors::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Neighbor_allgather_init", call)))
    }
}

entry! {
    Collective fn MPI_Neighbor_allgatherv_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = neighbors::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Neighbor_allgatherv_init", call)))
    }
}

entry! {
    Collective fn MPI_Neighbor_alltoall_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = neighbors::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Neighbor_alltoall_init", call)))
    }
}

entry! {
    Collective fn MPI_Neighbor_alltoallv_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = neighbors::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Neighbor_alltoallv_init", call)))
    }
}

entry! {
    Collective fn MPI_Neighbor_alltoallw_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Aint>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Aint>, recvtypes: Array<Datatype>, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = neighbors::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Neighbor_alltoallw_init", call)))
    }
}
