//! Blocking collective operations.

use super::arguments;
use crate::param::*;
use crate::place::*;
use oxmpi::coll;

entry! {
    Collective fn MPI_Allgather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Allgather", &call)
    }
}

entry! {
    Collective fn MPI_Allgatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Allgatherv", &call)
    }
}

entry! {
    Collective fn MPI_Allreduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        let (comm, call) = arguments::allreduce((sendbuf, recvbuf, count), datatype, op, comm)?;
        coll::block(comm, "MPI_Allreduce", &call)
    }
}

entry! {
    Collective fn MPI_Alltoall[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Alltoall", &call)
    }
}

entry! {
    Collective fn MPI_Alltoallv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtype: Datatype, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::alltoallv(
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
            comm,
        )?;
        coll::block(comm, "MPI_Alltoallv", &call)
    }
}

entry! {
    Collective fn MPI_Alltoallw[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, sdispls: Array<Displacement>,
        sendtypes: Array<Datatype>, recvbuf: RecvBuffer, recvcounts: Array<Count>,
        rdispls: Array<Displacement>, recvtypes: Array<Datatype>, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::alltoallw(
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
            comm,
        )?;
        coll::block(comm, "MPI_Alltoallw", &call)
    }
}

entry! {
    Collective fn MPI_Barrier(comm: Comm) on comm {
        let (comm, call) = arguments::barrier(comm)?;
        coll::block(comm, "MPI_Barrier", &call)
    }
}

entry! {
    Collective fn MPI_Bcast[_c](
        buffer: RecvBuffer, count: Count, datatype: Datatype, root: Root, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::bcast(buffer, count, datatype, root, comm)?;
        coll::block(comm, "MPI_Bcast", &call)
    }
}

entry! {
    Collective fn MPI_Exscan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        let (comm, call) = arguments::exscan((sendbuf, recvbuf, count), datatype, op, comm)?;
        coll::block(comm, "MPI_Exscan", &call)
    }
}

entry! {
    Collective fn MPI_Gather[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        coll::block(comm, "MPI_Gather", &call)
    }
}

entry! {
    Collective fn MPI_Gatherv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcounts: Array<Count>, displs: Array<Displacement>, recvtype: Datatype, root: Root,
        comm: Comm,
    ) on comm {
        let (comm, call) = arguments::gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, displs, recvtype),
            root,
            comm,
        )?;
        coll::block(comm, "MPI_Gatherv", &call)
    }
}

entry! {
    Collective fn MPI_Reduce[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::reduce((sendbuf, recvbuf, count), datatype, op, root, comm)?;
        coll::block(comm, "MPI_Reduce", &call)
    }
}

entry! {
    Collective fn MPI_Reduce_scatter[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::reduce_scatter((sendbuf, recvbuf, recvcounts), datatype, op, comm)?;
        coll::block(comm, "MPI_Reduce_scatter", &call)
    }
}

entry! {
    Collective fn MPI_Reduce_scatter_block[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        let (comm, call) = arguments::reduce_scatter_block(
            (sendbuf, recvbuf, recvcount),
            datatype,
            op,
            comm,
        )?;
        coll::block(comm, "MPI_Reduce_scatter_block", &call)
    }
}

entry! {
    Collective fn MPI_Scan[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        let (comm, call) = arguments::scan((sendbuf, recvbuf, count), datatype, op, comm)?;
        coll::block(comm, "MPI_Scan", &call)
    }
}

entry! {
    Collective fn MPI_Scatter[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, recvbuf: RecvBuffer,
        recvcount: Count, recvtype: Datatype, root: Root, comm: Comm,
    ) on comm {
        let (comm, call) = arguments::scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        coll::block(comm, "MPI_Scatter", &call)
    }
}

entry! {
    Collective fn MPI_Scatterv[_c](
        sendbuf: SendBuffer, sendcounts: Array<Count>, displs: Array<Displacement>,
        sendtype: Datatype, recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, root: Root,
        comm: Comm,
    ) on comm {
        let (comm, call) = arguments::scatterv(
            (sendbuf, sendcounts, displs, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
            comm,
        )?;
        coll::block(comm, "MPI_Scatterv", &call)
    }
}
