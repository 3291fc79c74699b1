/* Threads are cancelled wherever they are: in sends and receives of all sizes, while they make and free communicators and types, in
 * collective operations. Each ends between two calls; what it has locked, agreed on or allocated is as after any call.
 *
 *     cancelled ROUNDS */
#include "threads.h"

enum { THREADS = 3, MOST = 1 << 20 };
static MPI_Comm parents[THREADS];
static _Atomic int ends;
static int rounds = 20;

static void *work(void *number)
{
    int me = (int) (intptr_t) number;
    static char in[THREADS][MOST + 4], out[THREADS][MOST + 4]; /* the vector ends in a block of its own */
    for (unsigned turn = me;; turn++) {
        int bytes = 1 << turn % 20, sum;
        MPI_Comm comm;
        MPI_Datatype type;
        MPI_Request requests[2];
        MPI(MPI_Comm_dup(parents[me], &comm));
        MPI(MPI_Type_vector(bytes / 4 + 1, 2, 4, MPI_BYTE, &type));
        MPI(MPI_Type_commit(&type));
        MPI(MPI_Irecv(in[me], 1, type, 0, me, comm, &requests[0]));
        MPI(MPI_Isend(out[me], 1, type, 0, me, comm, &requests[1]));
        MPI(MPI_Type_free(&type));
        MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        MPI(MPI_Sendrecv(out[me], bytes, MPI_BYTE, 0, me, in[me], bytes, MPI_BYTE, 0, me, comm, MPI_STATUS_IGNORE));
        MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, me);
        MPI(MPI_Comm_free(&comm));
        ends++;
        /* What a thread had when it ended would be lost; it looks only here. */
        pthread_testcancel();
    }
    return NULL;
}

/* The process goes on while its threads end. */
static void meet(int round)
{
    int in = -1, from = (rank + size - 1) % size;
    MPI(MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(in, round);
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &parents[i]));
    cancel_in_rounds(rounds, THREADS, work, &ends, meet);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&parents[i]));
    return finish();
}
