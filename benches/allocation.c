/* Memory of MPI_Alloc_mem and of MPI_Win_allocate, 64 bytes to 1 GB on each rank, in us a call: allocating it, touching all of it (memset),
 * freeing it.
 *   allocation [-w alloc_mem | -w win_allocate] [most bytes]
 * first:     what was not allocated before. The sizes are in ascending order.
 * again:     the mean of the repetitions that follow, each of which touches and frees it again.
 * untouched: allocating and freeing, nothing between. Comes first, so that nothing of that size was touched before.
 * Of up to 64 KB there are 16 pieces at once. The ranks do it at the same time; a value is the mean over the ranks. */
#include "bench.h"

enum { MOST = 16 };

static int windows;

static double parts[3];
static char *bases[MOST];
static MPI_Win made[MOST];

/* One round: the times of its parts go to `parts`, us a piece. */
static void once(MPI_Aint bytes, int pieces, int touched)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < pieces; i++) {
        int code = windows ? MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bases[i], &made[i])
                           : MPI_Alloc_mem(bytes, MPI_INFO_NULL, &bases[i]);
        if (code != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double allocated = MPI_Wtime();
    for (int i = 0; touched && i < pieces; i++)
        memset(bases[i], 1 + i, (size_t) bytes);
    double filled = MPI_Wtime();
    for (int i = 0; i < pieces; i++)
        if (windows)
            MPI_Win_free(&made[i]);
        else
            MPI_Free_mem(bases[i]);
    double end = MPI_Wtime();
    parts[0] += (allocated - begin) / pieces * 1e6;
    parts[1] += (filled - allocated) / pieces * 1e6;
    parts[2] += (end - filled) / pieces * 1e6;
}

static void rounds(const char *what, MPI_Aint bytes, int pieces, int touched, int count)
{
    static const char *const names[] = {"alloc", "touch", "free"};
    double sums[3];
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < count; i++)
        once(bytes, pieces, touched);
    MPI_Allreduce(parts, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; bench_rank == 0 && i < 3; i++)
        printf("RESULT series=%s_%s size=%ld value=%.4g unit=us\n", what, names[i], (long) bytes, sums[i] / count / bench_size);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench_size);
    long most = 1L << 30;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            windows = strcmp(argv[++i], "win_allocate") == 0;
        else
            most = atol(argv[i]);
    for (MPI_Aint bytes = 64; bytes <= most; bytes *= 4) {
        int pieces = bytes <= 65536 ? MOST : 1, count = bytes <= 65536 ? 200 : bytes <= 16 << 20 ? 20 : bytes <= 64 << 20 ? 5 : 3;
        rounds("untouched", bytes, pieces, 0, count);
        rounds("first", bytes, pieces, 1, 1);
        rounds("again", bytes, pieces, 1, count);
    }
    MPI_Finalize();
    return 0;
}
