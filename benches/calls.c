/* Cost of single calls on communicators, median and 99th percentile in microseconds, on any MPI:
 *
 *     mpiexec -n 2 calls [CALLS]
 *
 * dup: MPI_Comm_dup and MPI_Comm_free of MPI_COMM_SELF after 100,000 receives (what the receives leave must cost nothing).
 * type: MPI_Comm_split_type(MPI_COMM_TYPE_SHARED) and MPI_Comm_free.
 * free: MPI_Comm_free of a communicator that MPI_Comm_split made. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100000, RECEIVES = 100000 };
static double times[MOST];

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, int calls)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double first = times[0];
    qsort(times, calls, sizeof times[0], ascending);
    if (rank == 0)
        printf("%s: first %.2f, median %.2f, 99th percentile %.2f us\n", what, 1e6 * first, 1e6 * times[calls / 2],
               1e6 * times[calls / 100 * 99]);
}

int main(int argc, char **argv)
{
    int rank, size, calls = argc > 1 ? atoi(argv[1]) : 3000;
    double data = 0;
    MPI_Comm made;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    calls = calls < 100 ? 100 : calls > MOST ? MOST : calls;
    for (int i = 0; i < RECEIVES && size > 1 && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < calls; i++) {
        double begin = MPI_Wtime();
        MPI_Comm_dup(MPI_COMM_SELF, &made);
        MPI_Comm_free(&made);
        times[i] = MPI_Wtime() - begin;
    }
    print("dup", calls);
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
        MPI_Comm_free(&made);
        times[i] = MPI_Wtime() - begin;
    }
    print("type", calls);
    for (int i = 0; i < calls; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
        double begin = MPI_Wtime();
        MPI_Comm_free(&made);
        times[i] = MPI_Wtime() - begin;
    }
    print("free", calls);
    MPI_Finalize();
    return 0;
}
