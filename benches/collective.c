/* Quick look at the plain collectives: µs a call, to the last rank's completion (see bench.h).   collective [seconds each]
 * The root of the broadcast goes round, so that no root runs ahead of the others. */
#include "bench.h"

static char *buffer;
static double value;

static void barrier(long iterations, void *what)
{
    (void)what;
    for (long i = 0; i < iterations; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(long iterations, void *what)
{
    (void)what;
    for (long i = 0; i < iterations; i++) {
        double sum;
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void broadcast(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++)
        MPI_Bcast(buffer, *(int *)what, MPI_BYTE, (int)(i % bench_size), MPI_COMM_WORLD);
}

static void report(const char *series, long size, double time)
{
    if (bench_rank == 0)
        bench_result(series, size, 1e6 * time, "us", "lower");
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    int small = 8, large = 65536;
    buffer = bench_buffer(large);
    report("barrier", -1, bench_measure(barrier, NULL, budget));
    report("allreduce", 8, bench_measure(allreduce, NULL, budget));
    report("bcast", small, bench_measure(broadcast, &small, budget));
    report("bcast", large, bench_measure(broadcast, &large, budget));
    MPI_Finalize();
    return 0;
}
