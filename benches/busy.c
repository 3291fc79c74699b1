/* Two ranks on a machine whose cores are busy with programs outside the job, on any MPI:
 *
 *     for i in $(seq $(nproc)); do yes > /dev/null & done; mpiexec -n 2 busy
 *
 * pingpong: 20,000 round trips of 8 bytes. work: 400 times 2 ms of computing and an MPI_Allreduce of 8 bytes. Seconds. */
#include <mpi.h>
#include <stdio.h>

static volatile double sink;

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        for (int i = 0; i < 1000; i++)
            sink += i;
}

int main(int argc, char **argv)
{
    int rank;
    double data = 0, sum, begin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < 20000 && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    double pingpong = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < 400; i++) {
        compute(0.002);
        MPI_Allreduce(&data, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("pingpong %.2f s, work %.2f s\n", pingpong, MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
