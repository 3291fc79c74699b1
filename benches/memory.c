/* Memory of a job, in MB: after MPI_Init and a barrier ("quiet"), and after every rank has exchanged 8 bytes with every other ("pairs").
 * pss:           mean over the ranks of Pss in /proc/self/smaps_rollup: private pages, and each shared page divided by its users.
 * shared_mapped: sum over the ranks of Pss_Shmem: shared pages that the ranks have touched.
 * shared_node:   growth of Shmem in /proc/meminfo since before mpiexec was started: all of it, mapped or only reserved.
 *   memory [Shmem in kB before the job]   (the runner gives it; a quiet machine is assumed; without it no shared_node)
 * The ranks read only when all have come to the same point, and none goes on before all have read. */
#include "bench.h"
#include <fcntl.h>
#include <unistd.h>

static double field(const char *file, const char *name)
{
    static char text[8192]; /* no allocation: it would be measured too */
    int fd = open(file, O_RDONLY);
    ssize_t n, have = 0;
    while (fd >= 0 && have < (ssize_t)sizeof text - 1 && (n = read(fd, text + have, sizeof text - 1 - have)) > 0)
        have += n;
    close(fd);
    text[have] = 0;
    const char *found = strstr(text, name);
    return found ? atof(found + strlen(name)) : 0;
}

static void look(const char *phase, double before)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double mine[2] = {field("/proc/self/smaps_rollup", "\nPss:"), field("/proc/self/smaps_rollup", "\nPss_Shmem:")}, sum[2];
    double shmem = field("/proc/meminfo", "\nShmem:");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (bench_rank)
        return;
    char series[64];
    snprintf(series, sizeof series, "pss_%s", phase);
    bench_result(series, -1, sum[0] / 1024 / bench_size, "MB", "lower");
    snprintf(series, sizeof series, "shared_mapped_%s", phase);
    bench_result(series, -1, sum[1] / 1024, "MB", "lower");
    snprintf(series, sizeof series, "shared_node_%s", phase);
    if (before >= 0)
        bench_result(series, -1, (shmem - before) / 1024, "MB", "lower");
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    double before = bench_argument(argc, argv, 1, -1);
    look("quiet", before);
    for (int step = 1; step < bench_size; step++) {
        double out = bench_rank, in;
        int to = (bench_rank + step) % bench_size, from = (bench_rank + bench_size - step) % bench_size;
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, to, 1, &in, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != from)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    look("pairs", before);
    MPI_Finalize();
    return 0;
}
