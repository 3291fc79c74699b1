//! Probe, and matched probe and receive.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Probe(source: Rank, tag: Tag, comm: Comm, status: Out<Status>) on comm;

    fn MPI_Iprobe(
        source: Rank, tag: Tag, comm: Comm, flag: Out<Logical>, status: Out<Status>,
    ) on comm;

    fn MPI_Mprobe(
        source: Rank, tag: Tag, comm: Comm, message: Out<Message>, status: Out<Status>,
    ) on comm;

    fn MPI_Improbe(
        source: Rank, tag: Tag, comm: Comm, flag: Out<Logical>, message: Out<Message>,
        status: Out<Status>,
    ) on comm;

    fn MPI_Mrecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, message: InOut<Message>,
        status: Out<Status>,
    );

    fn MPI_Imrecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, message: InOut<Message>,
        request: Out<Request>,
    );
}
