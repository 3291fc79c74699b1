/* Isendrecv and Isendrecv_replace: several in flight around the ring, one request each, waited for in other orders. */
#include "check.h"

enum { FLIGHT = 6, MOST = 60000 };

int main(int argc, char **argv)
{
    static int out[FLIGHT][MOST], in[FLIGHT][MOST];
    static const int counts[FLIGHT] = {0, 1, 10, 700, 9000, MOST};
    MPI_Request requests[FLIGHT];
    MPI_Status statuses[FLIGHT], status;
    start(&argc, &argv);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int round = 0; round < 2; round++) {
        for (int f = 0; f < FLIGHT; f++) {
            for (int i = 0; i < counts[f]; i++)
                out[f][i] = rank * 7777 + f * 100000 + i, in[f][i] = -1;
            if (round == 0)
                MPI(MPI_Isendrecv(out[f], counts[f], MPI_INT, right, f, in[f], counts[f], MPI_INT, left, f, MPI_COMM_WORLD, &requests[f]));
            else
                MPI(MPI_Isendrecv_replace(out[f], counts[f], MPI_INT, right, f, left, f, MPI_COMM_WORLD, &requests[f]));
            CHECK(requests[f] != MPI_REQUEST_NULL);
        }
        if (round == 0) {
            for (int f = FLIGHT - 1; f >= 0; f--)
                MPI(MPI_Wait(&requests[f], &statuses[f]));
        } else {
            MPI(MPI_Waitall(FLIGHT, requests, statuses));
        }
        for (int f = 0; f < FLIGHT; f++) {
            int *got = round ? out[f] : in[f];
            CHECK(requests[f] == MPI_REQUEST_NULL);
            if (!reference) /* MPICH leaves the status of the receive out */
                CHECK_STATUS(statuses[f], left, f, counts[f] * 4);
            for (int i = 0; i < counts[f]; i++)
                if (got[i] != left * 7777 + f * 100000 + i) {
                    CHECK_INT(got[i], left * 7777 + f * 100000 + i);
                    break;
                }
        }
    }
    /* against plain calls, and tested instead of waited for */
    if (size > 1 && rank < 2) {
        int value = 100 + rank, other = -1, flag = 0;
        if (rank == 0) {
            MPI(MPI_Isendrecv(&value, 1, MPI_INT, 1, 20, &other, 1, MPI_INT, MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &requests[0]));
            while (!flag)
                MPI(MPI_Test(&requests[0], &flag, &status));
            if (!reference)
                CHECK_STATUS(status, 1, 21, 4);
        } else {
            MPI(MPI_Recv(&other, 1, MPI_INT, 0, 20, MPI_COMM_WORLD, &status));
            MPI(MPI_Send(&value, 1, MPI_INT, 0, 21, MPI_COMM_WORLD));
        }
        CHECK_INT(other, 101 - rank);
    }
    return finish();
}
