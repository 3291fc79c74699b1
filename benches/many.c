/* Many live communicators, made of MPI_COMM_WORLD by MPI_Comm_dup: the time of one at the beginning and at the end, µs (median of
 * tens), and the half round trip of 4 bytes on the newest of them, ns, with few and with all.
 *
 *     many COMMUNICATORS */
#include "bench.h"

enum { PART = 1000, TEN = 10, TRIPS = 20000 };

static double part(MPI_Comm *comms, int count)
{
    double times[PART / TEN];
    for (int i = 0; i < count; i += TEN) {
        double began = probe_now();
        for (int k = 0; k < TEN; k++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i + k]);
        times[i / TEN % (PART / TEN)] = (probe_now() - began) / TEN;
    }
    return 1e6 * probe_median(times, PART / TEN);
}

static double latency(MPI_Comm comm)
{
    double times[50];
    int value = 0, other = bench_rank ^ 1;
    for (int batch = 0; batch < 50; batch++) {
        double began = probe_now();
        for (int i = 0; i < TRIPS / 50 && other < bench_size; i++)
            if (bench_rank % 2 == 0) {
                MPI_Send(&value, 1, MPI_INT, other, 1, comm);
                MPI_Recv(&value, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&value, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
                MPI_Send(&value, 1, MPI_INT, other, 1, comm);
            }
        times[batch] = (probe_now() - began) / (TRIPS / 50) / 2;
    }
    return 1e9 * probe_median(times, 50);
}

static void show(const char *series, double value, const char *unit)
{
    if (bench_rank == 0)
        printf("RESULT series=%s size=-1 value=%.4g unit=%s better=lower\n", series, value, unit);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    int count = (int)bench_argument(argc, argv, 1, 200000) / PART * PART;
    if (count < 3 * PART)
        return 2;
    MPI_Comm *comms = malloc(count * sizeof *comms);
    part(comms, PART); /* pages are touched, leases grow */
    show("first", part(comms + PART, PART), "us");
    show("few", latency(comms[2 * PART - 1]), "ns");
    part(comms + 2 * PART, count - 3 * PART);
    show("last", part(comms + count - PART, PART), "us");
    show("many", latency(comms[count - 1]), "ns");
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
