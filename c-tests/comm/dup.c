/* A duplicate has ranks and size of its origin and messages of its own: the same tags on several communicators never mix,
 * wildcards and probes included. */
#include "check.h"

enum { COMMS = 6 };

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    int value, flag, other, r, s;
    MPI_Status status;
    start(&argc, &argv);
    for (int c = 1; c < COMMS; c++) {
        MPI(MPI_Comm_dup(comms[c / 2], &comms[c]));
        MPI(MPI_Comm_rank(comms[c], &r));
        MPI(MPI_Comm_size(comms[c], &s));
        CHECK_INT(r, rank);
        CHECK_INT(s, size);
        for (int d = 0; d < c; d++)
            CHECK(comms[c] != comms[d]);
    }
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request requests[COMMS];
    int values[COMMS];
    for (int c = 0; c < COMMS; c++) {
        values[c] = rank * 10 + c;
        MPI(MPI_Isend(&values[c], 1, MPI_INT, to, 3, comms[c], &requests[c]));
    }
    for (int c = COMMS - 1; c >= 0; c--) {
        if (c % 2) {
            MPI(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &status));
            CHECK_STATUS(status, from, 3, 4);
        }
        MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &status));
        CHECK_INT(value, from * 10 + c);
        CHECK_STATUS(status, from, 3, 4);
        MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &flag, &status));
        CHECK_INT(flag, 0);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD)); /* until here nobody sends anything else */
    MPI(MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE));
    /* posted receives on one do not take messages of another */
    MPI_Request receive;
    MPI(MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[1], &receive));
    other = -1;
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, to, 4, &value, 1, MPI_INT, from, 4, comms[2], MPI_STATUS_IGNORE));
    CHECK_INT(value, from);
    MPI(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    MPI(MPI_Barrier(comms[1]));
    value = rank + 500;
    MPI(MPI_Send(&value, 1, MPI_INT, to, 5, comms[1]));
    MPI(MPI_Wait(&receive, &status));
    CHECK_STATUS(status, from, 5, 4);
    CHECK_INT(other, from + 500);
    for (int c = 1; c < COMMS; c++) {
        MPI(MPI_Comm_free(&comms[c]));
        CHECK(comms[c] == MPI_COMM_NULL);
    }
    return finish();
}
