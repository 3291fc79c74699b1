//! Partitioned point-to-point communication, chapter 4.

use crate::param::*;
use crate::place::*;

stub! {
    CommIo fn MPI_Parrived(request: Request, partition: Int, flag: Out<Logical>);

    CommIo fn MPI_Pready(partition: Int, request: Request);

    CommIo fn MPI_Pready_list(length: Int, array_of_partitions: Array<Int>, request: Request);

    CommIo fn MPI_Pready_range(partition_low: Int, partition_high: Int, request: Request);

    Allocate fn MPI_Precv_init(
        buf: Memory, partitions: Int, count: LargeCount, datatype: Datatype, dest: Rank, tag: Tag,
        comm: Comm, info: Info, request: Out<Request>,
    ) on comm;

    Allocate fn MPI_Psend_init(
        buf: SendBuffer, partitions: Int, count: LargeCount, datatype: Datatype, dest: Rank,
        tag: Tag, comm: Comm, info: Info, request: Out<Request>,
    ) on comm;
}
