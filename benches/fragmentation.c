/* The stress of paper "Trade-offs in Context Identifier Allocation in MPI" (section 4.1): MPI_Comm_split from a random communicator
 * that is large enough; large: 0 to n/4 random ranks leave; small: 2 to n/4 stay. Nothing is freed until the end. Prints the
 * distribution of the times of a split, µs, and the latency of a message on the newest communicator.
 *
 *     fragmentation large|small SPLITS */
#include "bench.h"

static unsigned long long state = 42;

static int below(int bound)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)bound);
}

struct made {
    MPI_Comm comm;
    int size;
    char *in;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    int large = argc < 2 || strcmp(argv[1], "small") != 0;
    int splits = (int)bench_argument(argc, argv, 2, 1000), n = bench_size;
    struct made *all = calloc(splits + 1, sizeof *all);
    double *times = calloc(splits, sizeof *times);
    all[0].comm = MPI_COMM_WORLD;
    all[0].size = n;
    all[0].in = memset(malloc(n), 1, n);
    int *fitting = malloc((splits + 1) * sizeof *fitting), count = 0;
    for (int i = 1; i <= splits; i++) {
        int wanted = large ? n - below(n / 4 + 1) : 2 + below(n / 4 > 2 ? n / 4 - 1 : 1), fits = 0;
        for (int k = 0; k < i; k++)
            if (all[k].size >= wanted)
                fitting[fits++] = k;
        struct made *parent = &all[fitting[below(fits)]], *new = &all[i];
        new->in = malloc(n);
        memcpy(new->in, parent->in, n);
        for (new->size = parent->size; new->size > wanted;) {
            int gone = below(n);
            if (new->in[gone]) {
                new->in[gone] = 0;
                new->size--;
            }
        }
        new->comm = MPI_COMM_NULL;
        if (!parent->in[bench_rank])
            continue;
        MPI_Barrier(parent->comm);
        double began = probe_now();
        MPI_Comm_split(parent->comm, new->in[bench_rank] ? 0 : MPI_UNDEFINED, bench_rank, &new->comm);
        times[count++] = (probe_now() - began) * 1e6;
        if (new->comm != MPI_COMM_NULL) {
            int ranks = 0;
            MPI_Allreduce(&(int){1}, &ranks, 1, MPI_INT, MPI_SUM, new->comm);
            if (ranks != new->size)
                MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    qsort(times, count, sizeof *times, compare);
    if (bench_rank == 0 && count > 0)
        for (int part = 0; part <= 20; part++) {
            int at = part * (count - 1) / 20;
            printf("RESULT series=split size=%d value=%.4g unit=us better=lower\n", part * 5, times[at]);
        }
    for (int i = 1; i <= splits; i++)
        if (all[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&all[i].comm);
    MPI_Finalize();
    return 0;
}
