/* Some threads are blocked in receives, probes and waits while another does the rest: it is not held up, and its messages
 * to the own rank set them free. */
#include "threads.h"

enum { BLOCKED = 5 };

static void *run(void *number)
{
    int me = (int) (intptr_t) number, value = -1;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    if (me < BLOCKED) {
        switch (me) {
        case 0:
            MPI(MPI_Recv(&value, 1, MPI_INT, rank, 100, MPI_COMM_WORLD, &status));
            break;
        case 1:
            MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 101, MPI_COMM_WORLD, &request));
            MPI(MPI_Wait(&request, &status));
            break;
        case 2:
            MPI(MPI_Probe(rank, 102, MPI_COMM_WORLD, &status));
            MPI(MPI_Recv(&value, 1, MPI_INT, rank, 102, MPI_COMM_WORLD, &status));
            break;
        case 3:
            MPI(MPI_Mprobe(rank, 103, MPI_COMM_WORLD, &message, &status));
            MPI(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
            break;
        case 4: {
            MPI_Request requests[2] = {MPI_REQUEST_NULL};
            int index;
            MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 104, MPI_COMM_WORLD, &requests[1]));
            MPI(MPI_Waitany(2, requests, &index, &status));
            CHECK_INT(index, 1);
            break;
        }
        }
        CHECK_INT(value, 500 + me);
        CHECK_STATUS(status, rank, 100 + me, 4);
        return NULL;
    }
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < (slow() ? 20 : 300); i++) {
        MPI(MPI_Sendrecv(&i, 1, MPI_INT, to, 1, &value, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &status));
        CHECK_INT(value, i);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = BLOCKED - 1; i >= 0; i--) {
        value = 500 + i;
        MPI(MPI_Ssend(&value, 1, MPI_INT, rank, 100 + i, MPI_COMM_WORLD));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    for (int round = 0; round < 5; round++)
        run_threads(BLOCKED + 1, run);
    return finish();
}
