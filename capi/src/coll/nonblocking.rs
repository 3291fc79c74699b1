//! Nonblocking collective operations.

use super::arguments;
use crate::param::*;
use crate::place::*;
use oxmpi::coll;

entry! {
    Collective fn MPI_Iallgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Iallgather", call)))
    }
}

entry! {
    Collective fn MPI_Iallgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Iallgatherv", call)))
    }
}

entry! {
    Collective fn MPI_Iallreduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::allreduce((sendbuf, recvbuf, count), datatype, op, comm)?;
        request.set(Request(coll::begin(comm, "MPI_Iallreduce", call)))
    }
}

entry! {
    Collective fn MPI_Ialltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ialltoall", call)))
    }
}

entry! {
    Collective fn MPI_Ialltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ialltoallv", call)))
    }
}

entry! {
    Collective fn MPI_Ialltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ialltoallw", call)))
    }
}

entry! {
    Collective fn MPI_Ibarrier(comm: Comm, request: Out<Request>) on comm {
        request.not_null()?;
        let (comm, call) = arguments::barrier(comm)?;
        request.set(Request(coll::begin(comm, "MPI_Ibarrier", call)))
    }
}

entry! {
    Collective fn MPI_Ibcast[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::bcast(buffer, count, datatype, root, comm)?;
        request.set(Request(coll::begin(comm, "MPI_Ibcast", call)))
    }
}

entry! {
    Collective fn MPI_Iexscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::exscan((sendbuf, recvbuf, count), datatype, op, comm)?;
        request.set(Request(coll::begin(comm, "MPI_Iexscan", call)))
    }
}

entry! {
    Collective fn MPI_Igather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Igather", call)))
    }
}

entry! {
    Collective fn MPI_Igatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Igatherv", call)))
    }
}

entry! {
    Collective fn MPI_Ireduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::reduce((sendbuf, recvbuf, count), datatype, op, root, comm)?;
        request.set(Request(coll::begin(comm, "MPI_Ireduce", call)))
    }
}

entry! {
    Collective fn MPI_Ireduce_scatter[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::reduce_scatter((sendbuf, recvbuf, recvcounts), datatype, op, comm)?;
        request.set(Request(coll::begin(comm, "MPI_Ireduce_scatter", call)))
    }
}

entry! {
    Collective fn MPI_Ireduce_scatter_block[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::reduce_scatter_block(
            (sendbuf, recvbuf, recvcount),
            datatype,
            op,
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Ireduce_scatter_block", call)))
    }
}

entry! {
    Collective fn MPI_Iscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::scan((sendbuf, recvbuf, count), datatype, op, comm)?;
        request.set(Request(coll::begin(comm, "MPI_Iscan", call)))
    }
}

entry! {
    Collective fn MPI_Iscatter[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Iscatter", call)))
    }
}

entry! {
    Collective fn MPI_Iscatterv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (comm, call) = arguments::scatterv(
            (sendbuf, sendcounts, displs, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::begin(comm, "MPI_Iscatterv", call)))
    }
}
