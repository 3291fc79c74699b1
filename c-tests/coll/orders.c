/* Blocking and nonblocking operations in an order of each rank's own. MPI wants one order; MPICH runs such programs, and so do we. */
#include "check.h"

enum { MOST = 20000 };

int main(int argc, char **argv)
{
    static const int counts[] = {1, 12, 200, 3000, MOST};
    static int in[MOST], out[MOST], in_between;
    start(&argc, &argv);
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int first = 0; first < size; first++)
            for (int round = 0; round < 3; round++) {
                MPI_Request request = MPI_REQUEST_NULL;
                int count = counts[c];
                for (int i = 0; i < count; i++) {
                    in[i] = rank + i + round;
                    out[i] = -1;
                }
                if (rank != first)
                    MPI(MPI_Barrier(MPI_COMM_WORLD));
                MPI(MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
                int sum = 0;
                if (rank == first) {
                    int done = 1;
                    MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
                    CHECK(size == 1 || !done);
                    MPI(MPI_Barrier(MPI_COMM_WORLD));
                }
                MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
                in_between = rank == first ? count : -1;
                MPI(MPI_Bcast(&in_between, 1, MPI_INT, first, MPI_COMM_WORLD));
                MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
                CHECK(sum == size * (size - 1) / 2 && in_between == count);
                for (int i = 0; i < count; i++)
                    CHECK(out[i] == size * (i + round) + size * (size - 1) / 2);
            }
    return finish();
}
