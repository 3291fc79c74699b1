/* The thread that calls MPI_Init_thread is the main one, though it is not the process's first. */
#include "check.h"
#include <pthread.h>

static int result;

static void *run(void *unused)
{
    int provided, flag = -1;
    MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    check_ranks();
    MPI(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 1);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    result = finish();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void) argc;
    watchdog(argv[0]);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    return result;
}
