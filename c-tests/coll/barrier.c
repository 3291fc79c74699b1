/* Nobody leaves a barrier before all have entered: before each, rank r sends a token to all with a number; after it, the
 * tokens of all are there to be probed. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 20; round++) {
        int value;
        for (int to = 0; to < size; to++)
            if (to != rank)
                MPI(MPI_Send(&round, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        for (int from = 0; from < size; from++) {
            int flag = 0;
            MPI_Status status;
            if (from == rank)
                continue;
            MPI(MPI_Iprobe(from, 1, MPI_COMM_WORLD, &flag, &status));
            CHECK_INT(flag, 1);
            MPI(MPI_Recv(&value, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &status));
            CHECK_INT(value, round);
        }
    }
    for (int i = 0; i < (slow() ? 10 : 500); i++)
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
