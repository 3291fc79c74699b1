/* A thread waits for requests that others have begun, and threads end while their requests are under way: one by itself, one
 * cancelled while it waits in a receive. Nothing stays locked.
 *
 *     foreign_requests ROUNDS */
#include "threads.h"

enum { MAKERS = 3, EACH = 8 };

static MPI_Comm comms[MAKERS];
static MPI_Request requests[MAKERS * EACH];
static int values[MAKERS * EACH];

static void *make(void *number)
{
    int me = (int) (intptr_t) number, from = (rank + size - 1) % size;
    for (int i = 0; i < EACH; i++) {
        int at = me * EACH + i;
        MPI(MPI_Irecv(&values[at], 1, MPI_INT, from, i, comms[me], &requests[at]));
    }
    pthread_exit(NULL); /* its requests live on */
}

static void *wait_long(void *unused)
{
    int value = 0;
    MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 777, comms[0], MPI_STATUS_IGNORE));
    CHECK_INT(value, 42);
    pthread_testcancel();
    return unused;
}

static void *wait_all(void *unused)
{
    for (int i = 0; i < MAKERS * EACH / 2; i++) {
        int index;
        MPI_Status status;
        MPI(MPI_Waitany(MAKERS * EACH, requests, &index, &status));
        CHECK(index >= 0 && index < MAKERS * EACH && requests[index] == MPI_REQUEST_NULL);
        CHECK_INT(values[index], index);
        CHECK_INT(status.MPI_TAG, index % EACH);
    }
    MPI(MPI_Waitall(MAKERS * EACH, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MAKERS * EACH; i++)
        CHECK_INT(values[i], i);
    return unused;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    int rounds = argc > 1 && !slow() ? atoi(argv[1]) : 10;
    for (int i = 0; i < MAKERS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int round = 0; round < rounds; round++) {
        pthread_t waiter, cancelled;
        void *result;
        int last = 42;
        memset(values, 0xff, sizeof values);
        run_threads(MAKERS, make);
        CHECK_INT(pthread_create(&waiter, NULL, wait_all, NULL), 0);
        CHECK_INT(pthread_create(&cancelled, NULL, wait_long, NULL), 0);
        /* The library is no place where a thread ends: it does when it has its message. */
        CHECK_INT(pthread_cancel(cancelled), 0);
        for (int at = MAKERS * EACH - 1; at >= 0; at--)
            MPI(MPI_Send(&at, 1, MPI_INT, (rank + 1) % size, at % EACH, comms[at / EACH]));
        MPI(MPI_Send(&last, 1, MPI_INT, rank, 777, comms[0]));
        CHECK_INT(pthread_join(waiter, NULL), 0);
        CHECK_INT(pthread_join(cancelled, &result), 0);
        CHECK(result == PTHREAD_CANCELED);
    }
    for (int i = 0; i < MAKERS; i++) {
        MPI(MPI_Barrier(comms[i]));
        MPI(MPI_Comm_free(&comms[i]));
    }
    return finish();
}
