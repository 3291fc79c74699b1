/* For the programs of chapter thread: start with MPI_THREAD_MULTIPLE, run a function in several threads. */
#ifndef OXMPI_THREADS_H
#define OXMPI_THREADS_H

#include "check.h"
#include <pthread.h>

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

#endif
