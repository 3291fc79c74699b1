/* MPI_Wait and MPI_Test: active, null and inactive requests, statuses, statuses ignored. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 1, flag = -1, other = 0;
    MPI_Request request = MPI_REQUEST_NULL, receive;
    MPI_Status status;
    start(&argc, &argv);
    spoil(&status);
    MPI(MPI_Wait(&request, &status));
    CHECK_EMPTY_STATUS(status);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    spoil(&status);
    MPI(MPI_Test(&request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_EMPTY_STATUS(status);

    /* inactive: at once, empty, and the request stays */
    MPI(MPI_Recv_init(&other, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &receive));
    MPI_Request kept = receive;
    spoil(&status);
    MPI(MPI_Wait(&receive, &status));
    CHECK_EMPTY_STATUS(status);
    CHECK(receive == kept);
    flag = -1;
    spoil(&status);
    MPI(MPI_Test(&receive, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_EMPTY_STATUS(status);
    CHECK(receive == kept);

    /* active and not complete: the flag is false, the request stays active */
    for (int i = 0; i < 3; i++) {
        MPI(MPI_Start(&receive));
        MPI(MPI_Test(&receive, &flag, &status));
        CHECK_INT(flag, 0);
        value = i + 10;
        MPI(MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
        MPI(MPI_Wait(&receive, &status));
        CHECK_STATUS(status, rank, 1, 4);
        CHECK_INT(other, value);
        CHECK(receive == kept);
    }
    MPI(MPI_Request_free(&receive));
    CHECK(receive == MPI_REQUEST_NULL);

    MPI(MPI_Irecv(&other, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request));
    MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK(request != MPI_REQUEST_NULL);
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD));
    do
        MPI(MPI_Test(&request, &flag, &status));
    while (!flag);
    CHECK_STATUS(status, rank, 2, 4);
    CHECK(request == MPI_REQUEST_NULL);

    /* the error field is left alone by calls for one request that succeed */
    spoil(&status);
    status.MPI_ERROR = 12345;
    MPI(MPI_Isend(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request));
    MPI(MPI_Recv(&other, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &status));
    CHECK_INT(status.MPI_ERROR, 12345);
    MPI(MPI_Wait(&request, &status));
    CHECK_INT(status.MPI_ERROR, 12345);
    return finish();
}
