/* Threads share one communicator, each waiting for its own messages all the time: none keeps the others from getting theirs. One
 * polls without pause until all are done, one waits in a receive that is answered last. */
#include "threads.h"

enum { TALKERS = 2, LAST = 99 };

static int messages;
static int done; /* talkers of this process that are done */

static void *run(void *number)
{
    int me = (int) (intptr_t) number, to = (rank + 1) % size, from = (rank + size - 1) % size, flag = 0, value;
    if (me == TALKERS) { /* polls for what never comes, until the talkers are done */
        while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < TALKERS)
            MPI(MPI_Iprobe(MPI_ANY_SOURCE, 1000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        MPI(MPI_Send(&me, 1, MPI_INT, to, LAST, MPI_COMM_WORLD));
    } else if (me == TALKERS + 1) {
        MPI(MPI_Recv(&value, 1, MPI_INT, from, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(value, TALKERS);
    } else {
        for (int i = 0; i < messages; i++) {
            MPI_Request request;
            MPI(MPI_Irecv(&value, 1, MPI_INT, from, me, MPI_COMM_WORLD, &request));
            MPI(MPI_Send(&i, 1, MPI_INT, to, me, MPI_COMM_WORLD));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_INT(value, i);
        }
        __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    messages = slow() ? 50 : 2000;
    run_threads(TALKERS + 2, run);
    CHECK_INT(done, TALKERS);
    return finish();
}
