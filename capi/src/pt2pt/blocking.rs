//! Blocking send and receive.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Send[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm;

    fn MPI_Bsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm;

    fn MPI_Ssend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm;

    fn MPI_Rsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm;

    fn MPI_Recv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        status: Out<Status>,
    ) on comm;

    fn MPI_Sendrecv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, dest: Rank, sendtag: Tag,
        recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, source: Rank, recvtag: Tag,
        comm: Comm, status: Out<Status>,
    ) on comm;

    fn MPI_Sendrecv_replace[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, dest: Rank, sendtag: Tag, source: Rank,
        recvtag: Tag, comm: Comm, status: Out<Status>,
    ) on comm;
}
