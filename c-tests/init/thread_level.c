/* args: level wanted. Init_thread gives a level, Query_thread the same, Is_thread_main tells the thread that asked. */
#include "check.h"
#include <pthread.h>

static void *other(void *unused)
{
    int flag = -1;
    CHECK_INT(MPI_Is_thread_main(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 0);
    return unused;
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int wanted = argc > 1 ? levels[atoi(argv[1])] : MPI_THREAD_MULTIPLE, provided = -1, level = -1, flag = -1;
    watchdog(argv[0]);
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED
          && MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
    MPI(MPI_Init_thread(&argc, &argv, wanted, &provided));
    check_ranks();
    CHECK(provided >= wanted);
    MPI(MPI_Query_thread(&level));
    CHECK_INT(level, provided);
    MPI(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 1);
    if (provided >= MPI_THREAD_FUNNELED) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, other, NULL), 0);
        pthread_join(thread, NULL);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
