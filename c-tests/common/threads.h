/* For the programs of chapter thread: start with MPI_THREAD_MULTIPLE, run a function in several threads. */
#ifndef OXMPI_THREADS_H
#define OXMPI_THREADS_H

#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

static double start_time;

static void start_multiple(int *argc, char ***argv)
{
    int provided;
    watchdog((*argv)[0]);
    MPI(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
    check_ranks();
    if (provided != MPI_THREAD_MULTIPLE) {
        check_failed(__FILE__, __LINE__, "the level is %d", provided);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    start_time = MPI_Wtime();
}

/* Whether a thread has gone so many steps, or if that is less than zero, so many seconds have gone: rank 0's clock says when, and
 * all of a thread's ranks hear it at the same step. A load that makes everything slow makes such a run no longer. */
static CHECK_UNUSED int is_over(MPI_Comm comm, int step, int steps)
{
    if (steps >= 0)
        return step >= steps;
    if (step % 4)
        return 0;
    int over = MPI_Wtime() - start_time > -steps;
    MPI(MPI_Bcast(&over, 1, MPI_INT, 0, comm));
    return over;
}

static CHECK_UNUSED void run_threads(int count, void *(*run)(void *))
{
    pthread_t threads[64];
    for (intptr_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run, (void *) i))
            check_failed(__FILE__, __LINE__, "thread %d does not start", (int) i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* In each round threads are started, and cancelled when they have counted a few `ends`; a cancellation point of `work` follows each.
 * `meanwhile` is called before they are joined. */
static CHECK_UNUSED void cancel_in_rounds(int rounds, int number, void *(*work)(void *), _Atomic int *ends, void (*meanwhile)(int))
{
    enum { MOST_THREADS = 16 };
    for (int round = 0; round < rounds; round++) {
        pthread_t threads[MOST_THREADS];
        int before = *ends;
        for (intptr_t i = 0; i < number; i++)
            CHECK_INT(pthread_create(&threads[i], NULL, work, (void *) i), 0);
        while (*ends < before + round % 4)
            sched_yield();
        for (int i = 0; i < number; i++)
            CHECK_INT(pthread_cancel(threads[i]), 0);
        if (meanwhile)
            meanwhile(round);
        for (int i = 0; i < number; i++) {
            void *result;
            CHECK_INT(pthread_join(threads[i], &result), 0);
            CHECK(result == PTHREAD_CANCELED);
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
}

#endif
