/* What every benchmark shares: the clock, a number of iterations that all ranks agree on, and the result line.
 *
 * One definition of time for all programs. A batch starts when all ranks have left a barrier and ends when the last
 * rank has completed: time = (latest end over all ranks) - (earliest start over all ranks), divided by the iterations
 * of the batch. All ranks are on one node, so their CLOCK_MONOTONIC is one clock. A result is the median of up to five
 * batches that fill the time budget together; a library on which one iteration alone takes longer than the budget is
 * measured twice, so a collapsed library costs little more than twice the budget.
 *
 * The host moves virtual cores about within seconds, so each result carries its own probe: the one-way time of a cache line
 * between the cores of ranks 0 and 1 before and after the measurement (see probe.h). A measurement during which they were
 * moved is repeated.
 *
 * Only functions that every MPI has had since 1994 are used, so a young library can run the programs too. */
#ifndef BENCH_H
#define BENCH_H
#define _GNU_SOURCE
#include <mpi.h>
#include "probe.h"

enum { BATCHES = 5 };

static int bench_rank, bench_size;

struct bench_lines {
    struct probe_pair pair;
    _Atomic uint32_t turn; /* the last probe that is over */
};
static struct bench_lines *bench_lines; /* shared by all ranks; NULL: no probe */
static uint32_t bench_turn;
static double bench_before, bench_after; /* the probes around the last measurement */
static void bench_share_lines(void);

typedef void bench_body(long iterations, void *what);

/* Initialises MPI and says on which cores the ranks may run, so that the report can tell a pinned run from a free one. */
static inline void bench_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench_size);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int mine[2] = {sched_getcpu(), CPU_COUNT(&allowed)}, *all = malloc(2 * sizeof(int) * bench_size);
    MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (bench_rank == 0 && bench_size <= 2)
        for (int i = 0; i < bench_size; i++)
            printf("PLACE rank=%d cpu=%d allowed=%d\n", i, all[2 * i], all[2 * i + 1]);
    free(all);
    bench_share_lines();
}

/* Maps one page of rank 0 into all ranks without help of the MPI library; without it results carry no probe. */
static void bench_share_lines(void)
{
    int where[2] = {-1, getpid()};
    if (bench_rank == 0)
        where[0] = memfd_create("probe", 0);
    if (where[0] >= 0 && ftruncate(where[0], sizeof *bench_lines) != 0)
        where[0] = -1;
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", where[1], where[0]);
    int fd = bench_size < 2 || where[0] < 0 ? -1 : open(name, O_RDWR);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *bench_lines, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int mine = p != MAP_FAILED, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all)
        bench_lines = p;
    else if (mine)
        munmap(p, sizeof *bench_lines);
    close(fd);
    if (bench_rank == 0)
        close(where[0]);
}

/* The line's one-way time in ns, the same value on all ranks; 0 when it cannot be known. Ranks from 2 on sleep meanwhile
 * (in the kernel, not in the library), and ranks 0 and 1 take a core each if they are free to run anywhere. */
static inline double bench_probe(void)
{
    if (!bench_lines)
        return 0;
    double ns = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    uint32_t turn = ++bench_turn;
    if (bench_rank < 2) {
        cpu_set_t allowed;
        sched_getaffinity(0, sizeof allowed, &allowed);
        int core[2];
        int free_to_move = CPU_COUNT(&allowed) > 1 && probe_cores(core) == 2;
        if (free_to_move)
            probe_pin(core[bench_rank]);
        ns = probe_line(&bench_lines->pair, bench_rank, 60);
        if (free_to_move)
            sched_setaffinity(0, sizeof allowed, &allowed);
        if (bench_rank == 0)
            atomic_store(&bench_lines->turn, turn);
    } else
        while (atomic_load(&bench_lines->turn) != turn) {
            struct timespec pause = {0, 500000};
            nanosleep(&pause, NULL);
        }
    MPI_Bcast(&ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return ns;
}

/* The time of one batch, the same value on all ranks; see the head of the file. */
static inline double bench_batch(bench_body *body, void *what, long iterations)
{
    double edges[2], extreme[2];
    MPI_Barrier(MPI_COMM_WORLD);
    edges[0] = -probe_now();
    body(iterations, what);
    edges[1] = probe_now();
    MPI_Allreduce(edges, extreme, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return extreme[1] + extreme[0];
}

/* The shortest of three batches. Where ranks share cores a batch may begin while the scheduler lets some of them run for a time slice
 * and others not at all (those that have slept come first), and such a batch would make all further ones as short as that time. */
static inline double bench_calibrate(bench_body *body, void *what, long iterations, double budget)
{
    double shortest = bench_batch(body, what, iterations);
    for (int again = 0; again < 2 && shortest < budget; again++) {
        double t = bench_batch(body, what, iterations);
        shortest = t < shortest ? t : shortest;
    }
    return shortest;
}

/* Seconds of one iteration, one attempt. All decisions follow from times that are equal on all ranks. */
static inline double bench_attempt(bench_body *body, void *what, double budget)
{
    long n = 1;
    double t = bench_batch(body, what, n); /* the first one also opens connections and touches pages */
    if (t >= budget)
        t = bench_batch(body, what, n); /* one that another program held up says nothing */
    if (t >= budget)
        return t;
    t = bench_calibrate(body, what, n, budget);
    while (t < budget / 16) {
        double growth = t > 0 ? budget / 8 / t : 16;
        n *= growth < 2 ? 2 : growth > 16 ? 16 : (long)growth;
        t = bench_calibrate(body, what, n, budget);
    }
    double one = t / n, share = budget / BATCHES;
    long batch = one < share ? (long)(share / one) : 1;
    int batches = one * batch > share * 1.5 ? (int)(budget / (one * batch)) : BATCHES;
    if (batches < 1)
        batches = 1;
    double times[BATCHES];
    for (int i = 0; i < batches; i++)
        times[i] = bench_batch(body, what, batch) / batch;
    return probe_median(times, batches);
}

/* Seconds of one iteration, measured in one placement of the cores if they stay for long enough. */
static inline double bench_measure(bench_body *body, void *what, double budget)
{
    double time = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        bench_before = bench_probe();
        time = bench_attempt(body, what, budget);
        bench_after = bench_probe();
        if (!probe_moved(bench_before, bench_after))
            break;
    }
    return time;
}

static inline void bench_result(const char *series, long size, double value, const char *unit, const char *better)
{
    probe_result(series, size, value, unit, better, bench_before, bench_after);
}

static inline char *bench_buffer(size_t bytes)
{
    void *p;
    if (posix_memalign(&p, 4096, bytes ? bytes : 1))
        abort();
    memset(p, 1, bytes);
    return p;
}

/* A fast wrong answer is no answer: each size is sent once with a pattern and checked, outside the timed part. */
static inline void bench_fill(char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (char)(seed + i * 31 + (i >> 8));
}

static inline void bench_check(const char *p, size_t bytes, unsigned seed, const char *where)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != (char)(seed + i * 31 + (i >> 8))) {
            fprintf(stderr, "WRONG DATA in %s: rank %d, byte %zu of %zu\n", where, bench_rank, i, bytes);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

static inline double bench_argument(int argc, char **argv, int index, double otherwise)
{
    return argc > index ? atof(argv[index]) : otherwise;
}
#endif
