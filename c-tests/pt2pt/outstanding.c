/* 10,000 receives and 10,000 sends outstanding at a time for each rank, waited for in several ways. */
#include "check.h"

enum { MOST = 10000 };
static int out[MOST], in[MOST];
static MPI_Request receives[MOST], sends[MOST];
static MPI_Status statuses[MOST];

int main(int argc, char **argv)
{
    int count = slow() ? 500 : MOST;
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < count; i++) {
            in[i] = -1;
            out[i] = rank * 100000 + i;
        }
        if (round == 1) /* all sends first: all unexpected */
            for (int i = 0; i < count; i++)
                MPI(MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
        /* in round 2 the tags are posted backwards */
        for (int i = 0; i < count; i++) {
            int k = round == 2 ? count - 1 - i : i;
            MPI(MPI_Irecv(&in[k], 1, MPI_INT, from, k, MPI_COMM_WORLD, &receives[k]));
        }
        if (round != 1)
            for (int i = 0; i < count; i++)
                MPI(MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
        MPI(MPI_Waitall(count, receives, statuses));
        MPI(MPI_Waitall(count, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < count; i++) {
            CHECK_INT(in[i], from * 100000 + i);
            CHECK_INT(statuses[i].MPI_TAG, i);
            CHECK_INT(statuses[i].MPI_SOURCE, from);
            CHECK(receives[i] == MPI_REQUEST_NULL && sends[i] == MPI_REQUEST_NULL);
        }
    }
    return finish();
}
