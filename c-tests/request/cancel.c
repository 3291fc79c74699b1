/* MPI_Cancel of receives: cancelled or received, never both; the status says which; the message goes to another receive. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Request request, requests[3];
    MPI_Status status, statuses[3];
    int value = 0, cancelled, flag = 0, others[3] = {0, 0, 0};
    start(&argc, &argv);
    /* nobody sends: it is cancelled */
    MPI(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request));
    MPI(MPI_Cancel(&request));
    CHECK(request != MPI_REQUEST_NULL);
    MPI(MPI_Wait(&request, &status));
    MPI(MPI_Test_cancelled(&status, &cancelled));
    CHECK_INT(cancelled, 1);
    CHECK(request == MPI_REQUEST_NULL);
    /* the message that comes now is not for it */
    int out = 5;
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, rank, 1, &others[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &status));
    MPI(MPI_Test_cancelled(&status, &cancelled));
    CHECK_INT(cancelled, 0);
    CHECK_INT(value, 0);
    CHECK_INT(others[0], 5);

    /* already received: not cancelled */
    MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request));
    out = 6;
    MPI(MPI_Send(&out, 1, MPI_INT, rank, 2, MPI_COMM_WORLD));
    while (!flag)
        MPI(MPI_Request_get_status(request, &flag, &status));
    MPI(MPI_Cancel(&request));
    MPI(MPI_Wait(&request, &status));
    MPI(MPI_Test_cancelled(&status, &cancelled));
    CHECK_INT(cancelled, 0);
    CHECK_STATUS(status, rank, 2, 4);
    CHECK_INT(value, 6);

    /* the middle one of three; the first and the third get the messages */
    for (int i = 0; i < 3; i++)
        MPI(MPI_Irecv(&others[i], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[i]));
    others[1] = -1;
    MPI(MPI_Cancel(&requests[1]));
    for (out = 70; out < 72; out++)
        MPI(MPI_Send(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
    MPI(MPI_Waitall(3, requests, statuses));
    for (int i = 0; i < 3; i++) {
        MPI(MPI_Test_cancelled(&statuses[i], &cancelled));
        CHECK_INT(cancelled, i == 1);
    }
    CHECK_INT(others[0], 70);
    CHECK_INT(others[1], -1);
    CHECK_INT(others[2], 71);

    /* a persistent receive: cancelled once, used again */
    MPI(MPI_Recv_init(&value, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 4; round++) {
        MPI(MPI_Start(&request));
        if (round & 1)
            MPI(MPI_Send(&round, 1, MPI_INT, rank, 4, MPI_COMM_WORLD));
        else
            MPI(MPI_Cancel(&request));
        MPI(MPI_Wait(&request, &status));
        MPI(MPI_Test_cancelled(&status, &cancelled));
        CHECK_INT(cancelled, !(round & 1));
        if (round & 1)
            CHECK_INT(value, round);
    }
    MPI(MPI_Request_free(&request));
    /* cancel and free: the request is gone without being waited for */
    MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request));
    MPI(MPI_Cancel(&request));
    MPI(MPI_Request_free(&request));
    out = 9;
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, rank, 5, &others[0], 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(others[0], 9);
    return finish();
}
