/* Many ranks: a ring, an allreduce, everyone to rank 0. */
#include "check.h"

int main(int argc, char **argv)
{
    int in = -1, sum = -1;
    start(&argc, &argv);
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(in, (rank + size - 1) % size);
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size * (size - 1) / 2);
    if (rank) {
        MPI(MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    } else {
        for (int i = 1; i < size; i++) {
            MPI(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            sum -= in;
        }
        CHECK_INT(sum, 0);
    }
    return finish();
}
