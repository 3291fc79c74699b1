/* Times of the first and of further collective operations, microseconds: the largest of all ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void show(const char *what, double begin, int times)
{
    double mine = (MPI_Wtime() - begin) / times, most;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%-28s %10.0f us\n", what, most * 1e6);
}

int main(int argc, char **argv)
{
    double begin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    show("first barrier", begin, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    show("barrier", begin, 20);
    int one = 1, sum;
    begin = MPI_Wtime();
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    show("allreduce of 4 bytes", begin, 20);
    for (int round = 0; round < 2; round++) {
        int each = 1024, *out = malloc((size_t) (each * size) * sizeof *out), *in = malloc((size_t) (each * size) * sizeof *in);
        for (int i = 0; i < each * size; i++)
            out[i] = rank * size + i / each;
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MPI_Alltoall(out, each, MPI_INT, in, each, MPI_INT, MPI_COMM_WORLD);
        show(round ? "alltoall of 4 KB" : "first alltoall of 4 KB", begin, 1);
        for (int i = 0; i < each * size; i++)
            if (in[i] != i / each * size + rank)
                MPI_Abort(MPI_COMM_WORLD, 4);
        free(out);
        free(in);
    }
    begin = MPI_Wtime();
    MPI_Finalize();
    if (rank == 0)
        printf("%-28s %10.0f us\n", "MPI_Finalize", (MPI_Wtime() - begin) * 1e6);
    return 0;
}
