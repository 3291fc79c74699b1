/* Persistent requests: start, end, start again with new contents; Startall in mixed orders; ring of all ranks. */
#include "check.h"

enum { ROUNDS = 50, PAIRS = 4 };

int main(int argc, char **argv)
{
    static int out[PAIRS][20000], in[PAIRS][20000];
    static const int counts[PAIRS] = {0, 1, 300, 20000};
    MPI_Request requests[2 * PAIRS], kept[2 * PAIRS];
    MPI_Status statuses[2 * PAIRS];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int p = 0; p < PAIRS; p++) {
        int (*init)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = p % 2 ? MPI_Send_init : MPI_Ssend_init;
        MPI(MPI_Recv_init(in[p], counts[p], MPI_INT, p == 1 ? MPI_ANY_SOURCE : from, p, MPI_COMM_WORLD, &requests[2 * p]));
        MPI(init(out[p], counts[p], MPI_INT, to, p, MPI_COMM_WORLD, &requests[2 * p + 1]));
    }
    memcpy(kept, requests, sizeof kept);
    for (int round = 0; round < ROUNDS; round++) {
        for (int p = 0; p < PAIRS; p++)
            for (int i = 0; i < counts[p]; i += 97)
                out[p][i] = rank * 1000 + round + i, in[p][i] = -1;
        if (round % 3 == 0) {
            MPI(MPI_Startall(2 * PAIRS, requests));
        } else {
            for (int k = 0; k < 2 * PAIRS; k++)
                MPI(MPI_Start(&requests[round % 3 == 1 ? k : 2 * PAIRS - 1 - k]));
        }
        if (round % 2) {
            MPI(MPI_Waitall(2 * PAIRS, requests, statuses));
        } else {
            for (int k = 0; k < 2 * PAIRS; k++)
                MPI(MPI_Wait(&requests[k], &statuses[k]));
        }
        for (int p = 0; p < PAIRS; p++) {
            CHECK_STATUS(statuses[2 * p], from, p, counts[p] * 4);
            for (int i = 0; i < counts[p]; i += 97)
                CHECK_INT(in[p][i], from * 1000 + round + i);
        }
        for (int k = 0; k < 2 * PAIRS; k++)
            CHECK(requests[k] == kept[k]);
        /* any source: rounds must not mix */
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int k = 0; k < 2 * PAIRS; k++) {
        MPI(MPI_Request_free(&requests[k]));
        CHECK(requests[k] == MPI_REQUEST_NULL);
    }
    MPI(MPI_Startall(0, NULL));
    return finish();
}
