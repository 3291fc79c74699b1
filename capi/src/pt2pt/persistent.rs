//! Persistent requests.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Bsend_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Recv_init[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Rsend_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Send_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Ssend_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    fn MPI_Start(request: InOut<Request>);

    fn MPI_Startall(count: Int, array_of_requests: InOutArray<Request>);
}
