/* Requests made by one thread are completed by another; persistent ones are started by one and waited for by another. */
#include "threads.h"

enum { COUNT = 200, THREADS = 4 };
static MPI_Request receives[THREADS][COUNT], sends[THREADS][COUNT];
static int in[THREADS][COUNT], out[THREADS][COUNT];

static void *post(void *number)
{
    int me = (int) (intptr_t) number;
    for (int i = 0; i < COUNT; i++) {
        out[me][i] = rank * 100000 + me * 1000 + i;
        MPI(MPI_Irecv(&in[me][i], 1, MPI_INT, (rank + size - 1) % size, me * COUNT + i, MPI_COMM_WORLD, &receives[me][i]));
    }
    for (int i = 0; i < COUNT; i++)
        MPI(MPI_Isend(&out[me][i], 1, MPI_INT, (rank + 1) % size, me * COUNT + i, MPI_COMM_WORLD, &sends[me][i]));
    return NULL;
}

static void *complete(void *number)
{
    int me = (int) (intptr_t) number, k = (me + 1) % THREADS, from = (rank + size - 1) % size;
    for (int left = COUNT; left > 0;) {
        int index, flag = 1;
        MPI_Status status;
        if (left % 3 == 0)
            MPI(MPI_Waitany(COUNT, receives[k], &index, &status));
        else
            MPI(MPI_Testany(COUNT, receives[k], &index, &flag, &status));
        if (!flag)
            continue;
        left--;
        CHECK_STATUS(status, from, k * COUNT + index, 4);
        CHECK_INT(in[k][index], from * 100000 + k * 1000 + index);
    }
    MPI(MPI_Waitall(COUNT, sends[k], MPI_STATUSES_IGNORE));
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    for (int round = 0; round < (slow() ? 1 : 5); round++) {
        run_threads(THREADS, post);
        run_threads(THREADS, complete);
    }
    return finish();
}
