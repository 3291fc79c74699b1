//! Collective operations that reduce data: blocking, nonblocking, persistent.

use super::vectors;
use crate::param::*;
use crate::pointers::*;

forms! {
    Collective fn MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init [_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        vectors::allreduce((sendbuf, recvbuf, count), datatype, op, comm)
    }
}

forms! {
    Collective fn MPI_Exscan MPI_Iexscan MPI_Exscan_init [_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        vectors::exscan((sendbuf, recvbuf, count), datatype, op, comm)
    }
}

forms! {
    Collective fn MPI_Reduce MPI_Ireduce MPI_Reduce_init [_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        root: Root, comm: Comm,
    ) on comm {
        vectors::reduce((sendbuf, recvbuf, count), datatype, op, root, comm)
    }
}

forms! {
    Collective fn MPI_Reduce_scatter MPI_Ireduce_scatter MPI_Reduce_scatter_init [_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcounts: Array<Count>, datatype: Datatype,
        op: Op, comm: Comm,
    ) on comm {
        vectors::reduce_scatter((sendbuf, recvbuf, recvcounts), datatype, op, comm)
    }
}

forms! {
    Collective fn MPI_Reduce_scatter_block MPI_Ireduce_scatter_block MPI_Reduce_scatter_block_init [_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, recvcount: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        vectors::reduce_scatter_block(
            (sendbuf, recvbuf, recvcount),
            datatype,
            op,
            comm,
        )
    }
}

forms! {
    Collective fn MPI_Scan MPI_Iscan MPI_Scan_init [_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm {
        vectors::scan((sendbuf, recvbuf, count), datatype, op, comm)
    }
}
