/* Wrong arguments of all other collective operations and of their nonblocking and persistent forms; requests that cannot be freed
 * or cancelled. On a communicator of one rank, so that nobody else waits. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int out[4] = {0}, in[4], one = 1, minus = -1, zero = 0;
    MPI_Datatype type = MPI_INT, none = MPI_DATATYPE_NULL, unready;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm self = MPI_COMM_SELF;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Gatherv(out, 1, type, in, &minus, &zero, type, 0, self), MPI_ERR_COUNT, "recvcounts", "-1");
    ERROR(MPI_Gatherv(out, 1, type, in, NULL, &zero, type, 0, self), MPI_ERR_ARG, "recvcounts", NULL);
    ERROR(MPI_Gatherv(out, 1, type, in, &one, NULL, type, 0, self), MPI_ERR_ARG, "displs", NULL);
    ERROR(MPI_Gatherv(out, 1, type, NULL, &one, &one, type, 0, self), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Gatherv(out, 1, type, in, &one, &zero, none, 0, self), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Gatherv(out, 1, type, in, &one, &zero, type, 3, self), MPI_ERR_ROOT, "root", "3");
    ERROR(MPI_Gather(out, 1, type, out, 1, type, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);

    ERROR(MPI_Scatter(out, -1, type, in, 1, type, 0, self), MPI_ERR_COUNT, "sendcount", "-1");
    ERROR(MPI_Scatter(out, 1, type, in, -1, type, 0, self), MPI_ERR_COUNT, "recvcount", "-1");
    ERROR(MPI_Scatter(NULL, 1, type, in, 1, type, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Scatter(MPI_IN_PLACE, 1, type, in, 1, type, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Scatter(out, 2, type, in, 1, type, 0, self), MPI_ERR_TRUNCATE, NULL, NULL);
    ERROR(MPI_Scatterv(out, &minus, &zero, type, in, 1, type, 0, self), MPI_ERR_COUNT, "sendcounts", "-1");
    ERROR(MPI_Scatterv(out, NULL, &zero, type, in, 1, type, 0, self), MPI_ERR_ARG, "sendcounts", NULL);
    ERROR(MPI_Scatterv(out, &one, &zero, none, in, 1, type, 0, self), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Scatterv(out, &one, &zero, type, in, 1, type, -2, self), MPI_ERR_ROOT, "root", "-2");

    ERROR(MPI_Allgatherv(out, 1, type, in, &minus, &zero, type, self), MPI_ERR_COUNT, "recvcounts", "-1");
    ERROR(MPI_Allgatherv(out, 1, type, in, &one, NULL, type, self), MPI_ERR_ARG, "displs", NULL);
    ERROR(MPI_Allgather(out, 1, type, out, 1, type, self), MPI_ERR_BUFFER, "sendbuf", NULL);

    /* One buffer for both: an error where parts begin at the same byte, and only there. */
    int two = 2, big[4] = {1, 2, 3, 4}, bytes = 2 * (int) sizeof(int);
    ERROR(MPI_Gatherv(out, 1, type, out, &one, &zero, type, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Scatterv(out, &one, &zero, type, out, 1, type, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Allgatherv(out, 1, type, out, &one, &zero, type, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Alltoallv(out, &one, &zero, type, out, &one, &zero, type, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Alltoallw(out, &one, &zero, &type, out, &one, &zero, &type, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Ialltoallv(out, &one, &zero, type, out, &one, &zero, type, self, &request), MPI_ERR_BUFFER, "sendbuf", NULL);
    MPI(MPI_Gatherv(big, 2, type, big, &two, &two, type, 0, self));
    CHECK(big[2] == 1 && big[3] == 2);
    MPI(MPI_Scatterv(big + 2, &two, &zero, type, big, 2, type, 0, self));
    big[0] = 7;
    MPI(MPI_Allgatherv(big, 1, type, big, &one, &two, type, self));
    CHECK_INT(big[2], 7);
    big[0] = 8;
    MPI(MPI_Alltoallv(big, &one, &zero, type, big, &one, &two, type, self));
    CHECK_INT(big[2], 8);
    big[0] = 9;
    MPI(MPI_Alltoallw(big, &one, &zero, &type, big, &one, &bytes, &type, self));
    CHECK_INT(big[2], 9);
    MPI(MPI_Alltoallv(big, &zero, &zero, type, big, &zero, &zero, type, self));
    ERROR(MPI_Alltoall(out, -1, type, in, 1, type, self), MPI_ERR_COUNT, "sendcount", "-1");
    ERROR(MPI_Alltoall(out, 1, type, in, 1, none, self), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Alltoall(out, 1, type, MPI_IN_PLACE, 1, type, self), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Alltoallv(out, &one, NULL, type, in, &one, &zero, type, self), MPI_ERR_ARG, "sdispls", NULL);
    ERROR(MPI_Alltoallv(out, &one, &zero, type, in, &minus, &zero, type, self), MPI_ERR_COUNT, "recvcounts", "-1");
    ERROR(MPI_Alltoallw(out, &one, &zero, NULL, in, &one, &zero, &type, self), MPI_ERR_ARG, "sendtypes", NULL);
    ERROR(MPI_Alltoallw(out, &one, &zero, &type, in, &one, &zero, &none, self), MPI_ERR_TYPE, "recvtypes", NULL);

    ERROR(MPI_Reduce(out, in, -1, type, MPI_SUM, 0, self), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Reduce(out, in, 1, type, MPI_SUM, 1, self), MPI_ERR_ROOT, "root", "1");
    ERROR(MPI_Reduce(out, out, 1, type, MPI_SUM, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Reduce(out, in, 1, MPI_FLOAT, MPI_BXOR, 0, self), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Reduce_scatter(out, in, &minus, type, MPI_SUM, self), MPI_ERR_COUNT, "recvcounts", "-1");
    ERROR(MPI_Reduce_scatter(out, in, NULL, type, MPI_SUM, self), MPI_ERR_ARG, "recvcounts", NULL);
    ERROR(MPI_Reduce_scatter_block(out, in, -1, type, MPI_SUM, self), MPI_ERR_COUNT, "recvcount", "-1");
    ERROR(MPI_Reduce_scatter_block(out, NULL, 1, type, MPI_SUM, self), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Scan(out, in, 1, type, MPI_OP_NULL, self), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Scan(out, in, -1, type, MPI_SUM, self), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Exscan(NULL, in, 1, type, MPI_SUM, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Exscan(out, in, 1, type, MPI_SUM, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    /* nothing comes to rank 0 */
    MPI(MPI_Exscan(out, NULL, 1, type, MPI_SUM, self));

    MPI(MPI_Type_contiguous(2, MPI_INT, &unready));
    ERROR(MPI_Allgather(out, 1, unready, in, 1, unready, self), MPI_ERR_TYPE, "sendtype", "not committed");
    ERROR(MPI_Ibcast(out, 1, unready, 0, self, &request), MPI_ERR_TYPE, "datatype", "not committed");
    MPI(MPI_Type_free(&unready));
    ERROR(MPI_Ibcast(out, 1, type, 0, self, NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Iallreduce(out, in, -1, type, MPI_SUM, self, &request), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Allreduce_init(out, in, 1, type, MPI_OP_NULL, self, MPI_INFO_NULL, &request), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Barrier_init(self, freed_info(), &request), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Bcast_init(out, 1, type, 2, self, MPI_INFO_NULL, &request), MPI_ERR_ROOT, "root", "2");
    CHECK(request == MPI_REQUEST_NULL);
    MPI(MPI_Ibarrier(self, &request));
    ERROR(MPI_Start(&request), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Cancel(&request), MPI_ERR_REQUEST, "request", NULL);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (size > 1) {
        /* Cannot be complete before this rank's message. */
        MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        if (rank == 0) {
            MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
            ERROR(MPI_Request_free(&request), MPI_ERR_REQUEST, "request", NULL);
            MPI(MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            if (rank == 1)
                MPI(MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    return finish();
}
