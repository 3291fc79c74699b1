/* MPI_Request_get_status: tells the state and leaves the request; null and inactive ones are complete and empty. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 3, in = 0, flag = 77;
    MPI_Request request = MPI_REQUEST_NULL, kept;
    MPI_Status status;
    start(&argc, &argv);
    spoil(&status);
    MPI(MPI_Request_get_status(request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_EMPTY_STATUS(status);
    MPI(MPI_Recv_init(&in, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request));
    flag = 77;
    spoil(&status);
    MPI(MPI_Request_get_status(request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_EMPTY_STATUS(status);
    MPI(MPI_Start(&request));
    MPI(MPI_Request_get_status(request, &flag, &status));
    CHECK_INT(flag, 0);
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 9, MPI_COMM_WORLD));
    kept = request;
    for (int i = 0; i < 3; i++) {
        do
            MPI(MPI_Request_get_status(request, &flag, i == 1 ? MPI_STATUS_IGNORE : &status));
        while (!flag);
        CHECK(request == kept);
        CHECK_STATUS(status, rank, 9, 4);
    }
    CHECK_INT(in, 3);
    spoil(&status);
    MPI(MPI_Wait(&request, &status));
    CHECK_STATUS(status, rank, 9, 4);
    MPI(MPI_Request_free(&request));

    MPI(MPI_Irecv(&in, 1, MPI_INT, rank, 10, MPI_COMM_WORLD, &request));
    MPI(MPI_Request_get_status(request, &flag, &status));
    CHECK_INT(flag, 0);
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 10, MPI_COMM_WORLD));
    do
        MPI(MPI_Request_get_status(request, &flag, &status));
    while (!flag);
    CHECK_STATUS(status, rank, 10, 4);
    CHECK(request != MPI_REQUEST_NULL);
    MPI(MPI_Test(&request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK(request == MPI_REQUEST_NULL);
    return finish();
}
