/* Threads that open sessions at the same time, before and without MPI_Init, each with a communicator of its own; then all again. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4 };

static int ranks;

static void *session_of_its_own(void *argument)
{
    int thread = (int) (intptr_t) argument, sum = 0, me, n;
    char tag[32];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    snprintf(tag, sizeof tag, "thread %d", thread);
    for (int round = 0; round < (slow() ? 3 : 20); round++) {
        MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        MPI(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        MPI(MPI_Group_free(&group));
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &n));
        CHECK_INT(n, ranks);
        sum = 0;
        me += thread;
        MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, n * (n - 1) / 2 + n * thread);
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Session_finalize(&session));
    }
    return NULL;
}

static void *initialize(void *argument)
{
    int provided;
    (void) argument;
    MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS + 1];
    ranks = atoi(getenv("C_SUITE_SIZE") ? getenv("C_SUITE_SIZE") : "1");
    (void) argc;
    watchdog(argv[0]);
    for (int pass = 0; pass < 2; pass++) {
        for (intptr_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, session_of_its_own, (void *) i);
        if (pass == 1)
            pthread_create(&threads[THREADS], NULL, initialize, NULL);
        for (int i = 0; i < THREADS + pass; i++)
            pthread_join(threads[i], NULL);
    }
    check_ranks();
    CHECK_INT(size, ranks);
    return finish();
}
