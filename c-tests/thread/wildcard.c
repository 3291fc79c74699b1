/* Threads of one rank take messages of any source and tag at one time: each message goes to exactly one of them. */
#include "threads.h"

enum { THREADS = 3, MESSAGES = 300 };
static int seen[64][MESSAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *receive(void *unused)
{
    for (int i = 0; i < MESSAGES * size / THREADS; i++) {
        int value = -1;
        MPI_Status status;
        MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK_INT(status.MPI_TAG, value % 7);
        pthread_mutex_lock(&lock);
        CHECK(value >= 0 && value < MESSAGES);
        CHECK_INT(seen[status.MPI_SOURCE][value]++, 0);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *send(void *unused)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI(MPI_Send(&i, 1, MPI_INT, 0, i % 7, MPI_COMM_WORLD));
    return unused;
}

static void *run(void *number)
{
    return (intptr_t) number == THREADS ? send(NULL) : receive(NULL);
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    if (rank == 0)
        run_threads(THREADS + 1, run);
    else
        send(NULL);
    for (int from = 0; rank == 0 && from < size; from++)
        for (int i = 0; i < MESSAGES; i++)
            CHECK_INT(seen[from][i], 1);
    return finish();
}
