/* Messages of 8 bytes for benches/instructions.py: rank 0 sends batches that fit into the ring, rank 1 receives each
 * batch after it has come. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 16 };

int main(int argc, char **argv)
{
    int rank, batches = argc > 1 ? atoi(argv[1]) : 100;
    double data = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < batches; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            for (int j = 0; j < BATCH; j++)
                MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else {
            usleep(2000);
            for (int j = 0; j < BATCH; j++)
                MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
