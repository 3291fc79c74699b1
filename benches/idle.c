/* CPU time that a rank uses while it is blocked in MPI_Recv, in seconds (all its threads), and how late it wakes up, in µs.
 *   idle [seconds to block]
 * Rank 0 sleeps in the kernel, then sends the time; the clock is the node's, so rank 1 knows the age of the message. */
#include "bench.h"
#include <sys/resource.h>

static double cpu_time(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    double seconds = bench_argument(argc, argv, 1, 10), sent, result[2] = {0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank == 0) {
        struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - (time_t)seconds))};
        nanosleep(&pause, NULL);
        sent = probe_now();
        MPI_Send(&sent, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(result, 2, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        bench_result("idle_cpu", -1, result[0], "s", "lower");
        bench_result("idle_wake", -1, 1e6 * result[1], "us", "lower");
    } else if (bench_rank == 1) {
        double before = cpu_time();
        MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        result[1] = probe_now() - sent;
        result[0] = cpu_time() - before;
        MPI_Send(result, 2, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
