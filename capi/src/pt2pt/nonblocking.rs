//! Nonblocking send and receive.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Isend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Ibsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Issend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Irsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Irecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Isendrecv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, dest: Rank, sendtag: Tag,
        recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, source: Rank, recvtag: Tag,
        comm: Comm, request: Out<Request>,
    ) on comm;

    fn MPI_Isendrecv_replace[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, dest: Rank, sendtag: Tag, source: Rank,
        recvtag: Tag, comm: Comm, request: Out<Request>,
    ) on comm;
}
