/* Wrong arguments of Barrier, Bcast, Gather, Allgather, Allreduce, on a communicator of one rank so that nobody else waits. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int out[4] = {0}, in[4];
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Barrier((MPI_Comm) MPI_INT), MPI_ERR_COMM, "comm", NULL);

    ERROR(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER, "buffer", NULL);
    ERROR(MPI_Bcast(out, -1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Bcast(out, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Bcast(out, 1, MPI_INT, 1, MPI_COMM_SELF), MPI_ERR_ROOT, "root", "1");
    ERROR(MPI_Bcast(out, 1, MPI_INT, -77, MPI_COMM_SELF), MPI_ERR_ROOT, "root", "-77");
    ERROR(MPI_Bcast(out, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Bcast_c(out, -1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT, "count", "-1");

    ERROR(MPI_Allreduce(out, in, -1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Allreduce(out, in, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Allreduce(out, in, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Allreduce(out, in, 1, MPI_INT, (MPI_Op) MPI_INT, MPI_COMM_SELF), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_SELF), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Allreduce(NULL, in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Allreduce(out, NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Allreduce(out, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER, "recvbuf", NULL);

    ERROR(MPI_Gather(out, -1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT, "sendcount", "-1");
    ERROR(MPI_Gather(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Gather(out, 1, MPI_INT, in, -1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT, "recvcount", "-1");
    ERROR(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Gather(NULL, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Gather(out, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 5, MPI_COMM_SELF), MPI_ERR_ROOT, "root", "5");
    ERROR(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);

    ERROR(MPI_Allgather(out, -1, MPI_INT, in, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_COUNT, "sendcount", "-1");
    ERROR(MPI_Allgather(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Allgather(out, 1, MPI_INT, in, -1, MPI_INT, MPI_COMM_SELF), MPI_ERR_COUNT, "recvcount", "-1");
    ERROR(MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, MPI_COMM_SELF), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Allgather(NULL, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Allgather(out, 1, MPI_INT, NULL, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    return finish();
}
