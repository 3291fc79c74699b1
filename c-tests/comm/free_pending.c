/* MPI_Comm_free with requests pending on it: they end as if nothing had happened. */
#include "check.h"

enum { BYTES = 200000 };

int main(int argc, char **argv)
{
    static unsigned char out[BYTES], in[BYTES];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 20; round++) {
        MPI_Comm dup;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int bytes = round % 2 ? BYTES : 64;
        fill(out, bytes, rank + round);
        memset(in, 0, bytes);
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, 1, dup, &requests[0]));
        MPI(MPI_Isend(out, bytes, MPI_BYTE, to, 1, dup, &requests[1]));
        MPI(MPI_Comm_free(&dup));
        CHECK(dup == MPI_COMM_NULL);
        MPI(MPI_Waitall(2, requests, statuses));
        CHECK_STATUS(statuses[0], from, 1, bytes);
        CHECK_PATTERN(in, bytes, from + round);
    }
    return finish();
}
