/* MPI_Waitall and MPI_Testall: sends, receives, null and inactive requests together; Testall takes nothing until all are
 * complete. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Request requests[6], inactive;
    MPI_Status statuses[6];
    int in[2] = {0, 0}, out[2] = {5, 6}, flag, value;
    start(&argc, &argv);
    MPI(MPI_Send_init(&value, 1, MPI_INT, rank, 500, MPI_COMM_WORLD, &inactive));
    MPI(MPI_Waitall(0, NULL, NULL));
    MPI(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    flag = 0;
    MPI(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK_INT(flag, 1);
    for (int how = 0; how < 4; how++) {
        for (int i = 0; i < 6; i++)
            spoil(&statuses[i]);
        requests[0] = MPI_REQUEST_NULL;
        requests[1] = inactive;
        MPI(MPI_Irecv(&in[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[2]));
        MPI(MPI_Irecv(&in[1], 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[3]));
        MPI(MPI_Isend(&out[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[4]));
        requests[5] = MPI_REQUEST_NULL;
        MPI(MPI_Testall(6, requests, &flag, statuses));
        CHECK_INT(flag, 0);
        CHECK(requests[2] != MPI_REQUEST_NULL && requests[3] != MPI_REQUEST_NULL && requests[4] != MPI_REQUEST_NULL);
        MPI(MPI_Isend(&out[1], 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[5]));
        MPI_Status *where = how & 1 ? MPI_STATUSES_IGNORE : statuses;
        if (how & 2)
            while (!flag)
                MPI(MPI_Testall(6, requests, &flag, where));
        else
            MPI(MPI_Waitall(6, requests, where));
        for (int i = 0; i < 6; i++)
            CHECK(requests[i] == (i == 1 ? inactive : MPI_REQUEST_NULL));
        CHECK_INT(in[0], 5);
        CHECK_INT(in[1], 6);
        if (!(how & 1)) {
            CHECK_EMPTY_STATUS(statuses[0]);
            CHECK_EMPTY_STATUS(statuses[1]);
            CHECK_STATUS(statuses[2], rank, 1, 4);
            CHECK_STATUS(statuses[3], rank, 2, 4);
        }
    }
    MPI(MPI_Request_free(&inactive));
    return finish();
}
