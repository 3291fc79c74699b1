/* args: rounds. Communicators are freed with receives pending, and others made meanwhile: no message goes astray. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { LIVE = 8 };
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    start(&argc, &argv);
    if (slow())
        rounds = 10;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comms[LIVE], comm;
        MPI_Request requests[LIVE], sends[LIVE];
        int in[LIVE], out[LIVE], value;
        for (int i = 0; i < LIVE; i++) {
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            in[i] = -1;
            out[i] = round * LIVE + i;
            MPI(MPI_Irecv(&in[i], 1, MPI_INT, from, 0, comm, &requests[i]));
            comms[i] = comm;
            MPI(MPI_Isend(&out[i], 1, MPI_INT, to, 1, comm, &sends[i])); /* received below */
            MPI(MPI_Recv(&value, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
            CHECK_INT(value, out[i]);
            MPI(MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < LIVE; i++) {
            MPI(MPI_Isend(&out[i], 1, MPI_INT, to, 0, comms[i], &sends[i]));
            MPI(MPI_Comm_free(&comms[i]));
            /* a new one, with the same tag, must not meet the receive that still pends */
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            value = -1000;
            MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, to, 0, from, 0, comm, MPI_STATUS_IGNORE));
            CHECK_INT(value, -1000);
            MPI(MPI_Comm_free(&comm));
        }
        MPI(MPI_Waitall(LIVE, requests, MPI_STATUSES_IGNORE));
        MPI(MPI_Waitall(LIVE, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < LIVE; i++)
            CHECK_INT(in[i], out[i]);
    }
    return finish();
}
