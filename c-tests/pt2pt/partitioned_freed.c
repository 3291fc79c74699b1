/* Partitioned requests that are freed before they were started: later ones match in the order of the calls, on the same communicator and on
 * a later one. */
#include "check.h"

static void pair(int base, MPI_Comm comm)
{
    int out[4] = {base, base + 1, base + 2, base + 3}, in[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI(MPI_Psend_init(out, 4, 1, MPI_INT, 1, 0, comm, MPI_INFO_NULL, &request));
        MPI(MPI_Start(&request));
        MPI(MPI_Pready_range(0, 3, request));
    } else {
        MPI(MPI_Precv_init(in, 1, 4, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request));
        MPI(MPI_Start(&request));
    }
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
    for (int i = 0; rank == 1 && i < 4; i++)
        CHECK_INT(in[i], base + i);
}

/* Both sides make a request and free it: the receiver's before the sender's plan, behind it, or only the sender's. */
static void freed(int order, MPI_Comm comm)
{
    static int data[4];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 1 && turn == order)
            MPI(MPI_Precv_init(data, 1, 4, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request));
        if (rank == 0 && turn == (order == 0))
            MPI(MPI_Psend_init(data, 2, 2, MPI_INT, 1, 0, comm, MPI_INFO_NULL, &request));
        if (request != MPI_REQUEST_NULL)
            MPI(MPI_Request_free(&request));
        MPI(MPI_Barrier(comm));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int order = 0; order < 2; order++) {
        MPI_Comm comm;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        freed(order, comm);
        pair(1, comm);
        pair(5, comm);
        freed(order, comm);
        freed(order, comm);
        pair(9, comm);
        MPI(MPI_Comm_free(&comm));
    }
    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        pair(round, comm);
        if (round % 2)
            freed(2, comm);
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
