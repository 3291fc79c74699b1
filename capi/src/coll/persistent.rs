//! Persistent collective operations.

use super::arguments;
use crate::param::*;
use crate::place::*;
use oxmpi::coll;
use oxmpi::info::hints;

entry! {
    Collective fn MPI_Allgather_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Allgather_init", call)))
    }
}

entry! {
    Collective fn MPI_Allgatherv_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
        info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Allgatherv_init", call)))
    }
}

entry! {
    Collective fn MPI_Allreduce_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::allreduce((sendbuf, recvbuf, count), datatype, op, comm)?;
        request.set(Request(coll::keep(comm, "MPI_Allreduce_init", call)))
    }
}

entry! {
    Collective fn MPI_Alltoall_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Alltoall_init", call)))
    }
}

entry! {
    Collective fn MPI_Alltoallv_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Alltoallv_init", call)))
    }
}

entry! {
    Collective fn MPI_Alltoallw_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Alltoallw_init", call)))
    }
}

entry! {
    Collective fn MPI_Barrier_init(comm: Comm, info: Info, request: Out<Request>) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::barrier(comm)?;
        request.set(Request(coll::keep(comm, "MPI_Barrier_init", call)))
    }
}

entry! {
    Collective fn MPI_Bcast_init[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::bcast(buffer, count, datatype, root, comm)?;
        request.set(Request(coll::keep(comm, "MPI_Bcast_init", call)))
    }
}

entry! {
    Collective fn MPI_Exscan_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::exscan((sendbuf, recvbuf, count), datatype, op, comm)?;
        request.set(Request(coll::keep(comm, "MPI_Exscan_init", call)))
    }
}

entry! {
    Collective fn MPI_Gather_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Gather_init", call)))
    }
}

entry! {
    Collective fn MPI_Gatherv_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Gatherv_init", call)))
    }
}

entry! {
    Collective fn MPI_Reduce_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::reduce((sendbuf, recvbuf, count), datatype, op, root, comm)?;
        request.set(Request(coll::keep(comm, "MPI_Reduce_init", call)))
    }
}

entry! {
    Collective fn MPI_Reduce_scatter_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::reduce_scatter((sendbuf, recvbuf, recvcounts), datatype, op, comm)?;
        request.set(Request(coll::keep(comm, "MPI_Reduce_scatter_init", call)))
    }
}

entry! {
    Collective fn MPI_Reduce_scatter_block_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::reduce_scatter_block(
            (sendbuf, recvbuf, recvcount),
            datatype,
            op,
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Reduce_scatter_block_init", call)))
    }
}

entry! {
    Collective fn MPI_Scan_init[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::scan((sendbuf, recvbuf, count), datatype, op, comm)?;
        request.set(Request(coll::keep(comm, "MPI_Scan_init", call)))
    }
}

entry! {
    Collective fn MPI_Scatter_init[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm, info: Info,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Scatter_init", call)))
    }
}

entry! {
    Collective fn MPI_Scatterv_init[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        hints(info.0)?;
        let (comm, call) = arguments::scatterv(
            (sendbuf, sendcounts, displs, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        request.set(Request(coll::keep(comm, "MPI_Scatterv_init", call)))
    }
}
