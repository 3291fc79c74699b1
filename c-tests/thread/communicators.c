/* Each thread has a communicator: messages, wildcards, collectives and duplicates on it, all threads at one time. */
#include "threads.h"

enum { THREADS = 4 };
static MPI_Comm comms[THREADS];

static void *run(void *number)
{
    int me = (int) (intptr_t) number, to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < (slow() ? 4 : 40); round++) {
        int out = rank * 1000 + me * 100 + round, in = -1, sum = -1, all[64];
        MPI_Status status;
        MPI_Request request;
        MPI(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[me], &request));
        MPI(MPI_Send(&out, 1, MPI_INT, to, round, comms[me]));
        MPI(MPI_Wait(&request, &status));
        CHECK_STATUS(status, from, round, 4);
        CHECK_INT(in, from * 1000 + me * 100 + round);
        MPI(MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comms[me]));
        CHECK_INT(sum, 1000 * (size * (size - 1) / 2) + size * (me * 100 + round));
        MPI(MPI_Allgather(&out, 1, MPI_INT, all, 1, MPI_INT, comms[me]));
        for (int i = 0; i < size; i++)
            CHECK_INT(all[i], i * 1000 + me * 100 + round);
        MPI(MPI_Bcast(&out, 1, MPI_INT, round % size, comms[me]));
        CHECK_INT(out, round % size * 1000 + me * 100 + round);
        MPI(MPI_Barrier(comms[me]));
    }
    return NULL;
}

static void *duplicate(void *number)
{
    int me = (int) (intptr_t) number, sum;
    for (int i = 0; i < (slow() ? 2 : 20); i++) {
        MPI_Comm dup;
        MPI(MPI_Comm_dup(comms[me], &dup));
        MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, dup));
        CHECK_INT(sum, me * size);
        MPI(MPI_Comm_free(&dup));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, run);
    if (argc > 1) /* dup from several threads at a time */
        run_threads(THREADS, duplicate);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish();
}
