/* Threads at windows whose ranks may be on several hosts: each thread has a window of its own beside the one of all, all change one rank's counter,
 * and wait for requests, flushes and locks at the same time. Windows are freed while other threads' operations are under way. arg: rounds. */
#include "threads.h"

enum { THREADS = 4 };

static int rounds;
static MPI_Comm comms[THREADS];
static MPI_Win all;
static int64_t *cells;

/* Cell 0 counts; cell 1 + t of a rank is changed by the threads t; the cells behind are what gets find. */
static void *work(void *what)
{
    int thread = (int) (intptr_t) what, target = (rank + 1 + thread) % size;
    int64_t one = 1, old[16], got[16], sum = 0;
    MPI_Request requests[16];
    for (int round = 0; round < rounds; round++) {
        int64_t *own;
        MPI_Win win;
        for (int i = 0; i < 16; i++)
            old[i] = got[i] = -1;
        for (int i = 0; i < 8; i++) {
            MPI(MPI_Rget(&got[i], 1, MPI_INT64_T, target, 8 + i, 1, MPI_INT64_T, all, &requests[i]));
            MPI(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &old[i], 1, MPI_INT64_T, target, 1 + thread, 1, MPI_INT64_T, MPI_SUM, all,
                                    &requests[8 + i]));
            MPI(MPI_Get(&got[8 + i], 1, MPI_INT64_T, target, 8 + i, 1, MPI_INT64_T, all));
        }
        MPI(MPI_Fetch_and_op(&one, &sum, MPI_INT64_T, size - 1, 0, MPI_SUM, all));
        if (round % 2)
            MPI(MPI_Waitall(16, requests, MPI_STATUSES_IGNORE));
        MPI(MPI_Win_flush(target, all));
        for (int i = 0; i < 8; i++)
            CHECK_INT(got[8 + i], 100 * target + i);
        if (round % 2 == 0)
            MPI(MPI_Waitall(16, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 8; i++) {
            CHECK_INT(got[i], 100 * target + i);
            /* The only thread that changes it: in order. */
            CHECK_INT(old[i], 8 * round + i);
        }
        MPI(MPI_Win_allocate(16, 8, MPI_INFO_NULL, comms[thread], &own, &win));
        own[0] = own[1] = 0;
        MPI(MPI_Win_fence(0, win));
        int64_t value = 1000 * rank + round;
        MPI(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win));
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, MPI_SUM, win));
        MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK_INT(own[0], 1000 * ((rank + 2 * size - 1 - thread % size) % size) + round);
        CHECK_INT(own[1], rank == 0 ? size : 0);
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        MPI(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win));
        MPI(MPI_Win_unlock(target, win));
        /* Ends what is under way. */
        MPI(MPI_Win_lock_all(0, win));
        MPI(MPI_Get(&old[0], 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win));
        MPI(MPI_Rget(&old[1], 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win, &requests[0]));
        MPI(MPI_Win_unlock_all(win));
        MPI(MPI_Win_free(&win));
        CHECK_INT(old[0], value);
        CHECK_INT(old[1], value);
        /* A request outlives its window. */
        MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    /* The last sum is on this thread's stack. */
    MPI(MPI_Win_flush_local(size - 1, all));
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 30;
    start_multiple(&argc, &argv);
    if (slow())
        rounds = 4;
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    MPI(MPI_Win_allocate(16 * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &all));
    for (int i = 0; i < 16; i++)
        cells[i] = i < 8 ? 0 : 100 * rank + i - 8;
    MPI(MPI_Win_lock_all(0, all));
    MPI(MPI_Win_sync(all));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    run_threads(THREADS, work);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_unlock_all(all));
    if (rank == size - 1)
        CHECK_INT(cells[0], (long long) size * THREADS * rounds);
    MPI(MPI_Win_free(&all));
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish();
}
