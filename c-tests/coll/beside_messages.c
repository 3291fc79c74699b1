/* Collectives and messages with any tag at one time on one communicator never take each other's data. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 50; round++) {
        MPI_Request receive;
        MPI_Status status;
        int got = -1, value = rank * 100 + round, sum, to = (rank + 1) % size, from = (rank + size - 1) % size, all[64];
        MPI(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
        MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(sum, size * (size - 1) / 2);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_INT(got, -1); /* nobody sends before all are in the next call */
        MPI(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
        for (int i = 0; i < size; i++)
            CHECK_INT(all[i], i);
        MPI(MPI_Send(&value, 1, MPI_INT, to, round, MPI_COMM_WORLD));
        MPI(MPI_Wait(&receive, &status));
        CHECK_STATUS(status, from, round, 4);
        CHECK_INT(got, from * 100 + round);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
