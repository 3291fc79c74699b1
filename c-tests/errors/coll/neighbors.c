/* Wrong arguments of neighborhood collectives, on a grid of one process. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int one = 1, a[4] = {0}, b[4], ones[2] = {1, 1}, wrong[2] = {1, -1}, zeros[2] = {0, 1};
    MPI_Aint bytes[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, none[2] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Comm c, alone;
    MPI_Request request;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &c));
    MPI(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    ERROR(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Ineighbor_alltoallv(a, ones, zeros, MPI_INT, b, ones, zeros, MPI_INT, MPI_COMM_WORLD, &request), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Neighbor_allgather(a, -1, MPI_INT, b, 1, MPI_INT, c), MPI_ERR_COUNT, "sendcount", "-1");
    ERROR(MPI_Neighbor_allgather(a, 1, MPI_INT, b, -1, MPI_INT, c), MPI_ERR_COUNT, "recvcount", "-1");
    ERROR(MPI_Neighbor_allgather(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, c), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, c), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, c), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Neighbor_allgather(NULL, 1, MPI_INT, b, 1, MPI_INT, c), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Neighbor_allgather(a, 1, MPI_INT, NULL, 1, MPI_INT, c), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Neighbor_alltoall(a, 1, MPI_INT, a, 1, MPI_INT, c), MPI_ERR_BUFFER, "recvbuf", NULL);
    ERROR(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, wrong, zeros, MPI_INT, c), MPI_ERR_COUNT, "recvcounts", "-1");
    ERROR(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, NULL, zeros, MPI_INT, c), MPI_ERR_ARG, "recvcounts", NULL);
    ERROR(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, ones, NULL, MPI_INT, c), MPI_ERR_ARG, "displs", NULL);
    ERROR(MPI_Neighbor_alltoallv(a, wrong, zeros, MPI_INT, b, ones, zeros, MPI_INT, c), MPI_ERR_COUNT, "sendcounts", "-1");
    ERROR(MPI_Neighbor_alltoallw(a, ones, bytes, none, b, ones, bytes, types, c), MPI_ERR_TYPE, "sendtypes", NULL);
    ERROR(MPI_Neighbor_alltoallw(a, ones, bytes, types, b, ones, bytes, none, c), MPI_ERR_TYPE, "recvtypes", NULL);
    ERROR(MPI_Neighbor_alltoallw(NULL, ones, bytes, types, b, ones, bytes, types, c), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Neighbor_alltoallw(MPI_IN_PLACE, ones, bytes, types, b, ones, bytes, types, c), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, c, NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Neighbor_alltoall_init(a, -1, MPI_INT, b, 1, MPI_INT, c, MPI_INFO_NULL, &request), MPI_ERR_COUNT, "sendcount", "-1");
    ERROR(MPI_Neighbor_alltoall_init(a, 1, MPI_INT, b, 1, MPI_INT, c, freed_info(), &request), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Neighbor_alltoall_c(a, -1, MPI_INT, b, 1, MPI_INT, c), MPI_ERR_COUNT, "sendcount", "-1");
    /* one process in a dimension: what leaves on one side comes back on the other */
    a[0] = 5, a[1] = 6;
    MPI(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c));
    CHECK(b[0] == 6 && b[1] == 5);
    MPI(MPI_Comm_free(&c));
    /* without neighbors buffers may be anything, counts and types not */
    MPI(MPI_Cart_create(MPI_COMM_SELF, 0, NULL, NULL, 0, &alone));
    MPI(MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN));
    MPI(MPI_Neighbor_allgather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, alone));
    MPI(MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, alone));
    ERROR(MPI_Neighbor_allgather(NULL, -1, MPI_INT, NULL, 1, MPI_INT, alone), MPI_ERR_COUNT, "sendcount", "-1");
    MPI(MPI_Comm_free(&alone));
    return finish();
}
