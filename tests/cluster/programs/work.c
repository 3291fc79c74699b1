/* args: seconds. Messages of many sizes in a ring and collective operations, whose data is checked, for so long. Rank 0 prints "ready" after the
 * first round and "done" at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 300000 };

int main(int argc, char **argv)
{
    int rank, size, more = 1;
    static int out[LARGEST], in[LARGEST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begin = MPI_Wtime(), seconds = argc > 1 ? atof(argv[1]) : 1;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int round = 0; more; round++) {
        int count = 1 + round * 7919 % LARGEST;
        for (int i = 0; i < count; i++)
            out[i] = rank + round + i;
        MPI_Sendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            if (in[i] != left + round + i)
                MPI_Abort(MPI_COMM_WORLD, 3);
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * (size - 1) / 2)
            MPI_Abort(MPI_COMM_WORLD, 4);
        more = MPI_Wtime() - begin < seconds;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rank == 0 && round == 0) {
            puts("ready");
            fflush(stdout);
        }
    }
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    return 0;
}
