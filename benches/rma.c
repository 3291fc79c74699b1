/* Synchronisation of windows, without data: ns a call or pair of calls, to the last rank's completion (see bench.h).
 *   rma [seconds per row] [row]
 * By rank 0 alone, at a target that nobody else uses; the other ranks are in a barrier meanwhile:
 *   lock_exclusive, lock_shared      lock and unlock the last rank
 *   lock_own                         the own lock, exclusive
 *   lock_all                         lock_all and unlock_all
 *   flush, flush_all, flush_local, sync     in an epoch of lock_all
 * By all ranks:
 *   lock_contended       exclusive lock of rank 0 and unlock: one hand-over, whoever gets it
 *   lock_fair            the same for a second: lowest share of a rank of the hand-overs, in % of an equal one
 *   lock_shared_all      shared lock of rank 0
 *   lock_all_all         lock_all
 *   fence, barrier       what a fence takes beyond a barrier
 *   pscw                 post to the left, start to the right neighbour, complete, wait */
#include "bench.h"

static MPI_Win win;
static MPI_Group to, from;
static int all_of_us;

#define PAIR(name, begin, end) \
    static void name(long iterations, void *what) \
    { \
        (void)what; \
        for (long i = 0; (all_of_us || bench_rank == 0) && i < iterations; i++) { \
            begin; \
            end; \
        } \
    }

PAIR(lock_exclusive, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench_size - 1, 0, win), MPI_Win_unlock(bench_size - 1, win))
PAIR(lock_shared, MPI_Win_lock(MPI_LOCK_SHARED, bench_size - 1, 0, win), MPI_Win_unlock(bench_size - 1, win))
PAIR(lock_own, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench_rank, 0, win), MPI_Win_unlock(bench_rank, win))
PAIR(lock_all, MPI_Win_lock_all(0, win), MPI_Win_unlock_all(win))
PAIR(flush, MPI_Win_flush(bench_size - 1, win), )
PAIR(flush_all, MPI_Win_flush_all(win), )
PAIR(flush_local, MPI_Win_flush_local(bench_size - 1, win), )
PAIR(sync_memory, MPI_Win_sync(win), )
PAIR(contended, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_Win_unlock(0, win))
PAIR(shared_all, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_Win_unlock(0, win))
PAIR(fence, MPI_Win_fence(0, win), )
PAIR(barrier, MPI_Barrier(MPI_COMM_WORLD), )
PAIR(pscw, (MPI_Win_post(from, 0, win), MPI_Win_start(to, 0, win)), (MPI_Win_complete(win), MPI_Win_wait(win)))

enum where { ALONE, ALONE_LOCKED, TOGETHER, TOGETHER_EACH };

static const struct row {
    const char *name;
    bench_body *body;
    enum where where;
} rows[] = {
    {"lock_exclusive", lock_exclusive, ALONE}, {"lock_shared", lock_shared, ALONE}, {"lock_own", lock_own, ALONE},
    {"lock_all", lock_all, ALONE}, {"flush", flush, ALONE_LOCKED}, {"flush_all", flush_all, ALONE_LOCKED},
    {"flush_local", flush_local, ALONE_LOCKED}, {"sync", sync_memory, ALONE_LOCKED},
    {"lock_contended", contended, TOGETHER_EACH}, {"lock_shared_all", shared_all, TOGETHER},
    {"lock_all_all", lock_all, TOGETHER}, {"fence", fence, TOGETHER}, {"barrier", barrier, TOGETHER}, {"pscw", pscw, TOGETHER},
};

/* The lock for a second by all: the lowest share of the hand-overs. */
static void fairness(double seconds)
{
    long mine = 0, least, sum;
    MPI_Barrier(MPI_COMM_WORLD);
    for (double end = probe_now() + seconds; probe_now() < end; mine++)
        contended(1, NULL);
    MPI_Allreduce(&mine, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (bench_rank == 0)
        bench_result("lock_fair", bench_size, 100.0 * least * bench_size / sum, "%", "higher");
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    const char *only = argc > 2 ? argv[2] : "";
    int right = (bench_rank + 1) % bench_size, left = (bench_rank + bench_size - 1) % bench_size;
    char *memory;
    MPI_Group world;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 64);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        if (*only && strcmp(only, row->name))
            continue;
        all_of_us = row->where == TOGETHER || row->where == TOGETHER_EACH;
        if (row->where == ALONE_LOCKED)
            MPI_Win_lock_all(0, win);
        double time = bench_measure(row->body, NULL, budget);
        if (row->where == ALONE_LOCKED)
            MPI_Win_unlock_all(win);
        if (row->where == TOGETHER_EACH)
            time /= bench_size;
        if (bench_rank == 0)
            bench_result(row->name, bench_size, 1e9 * time, "ns", "lower");
    }
    all_of_us = 1;
    if (!*only || !strcmp(only, "lock_fair"))
        fairness(1);
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
