/* MPI_Comm_disconnect waits for what was begun on the communicator. */
#include "check.h"

enum { BYTES = 300000 };

int main(int argc, char **argv)
{
    static unsigned char out[BYTES], in[BYTES];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 20; round++) {
        MPI_Comm dup;
        MPI_Request requests[2];
        int bytes = round % 2 ? BYTES : 64, flag;
        fill(out, bytes, rank + round);
        memset(in, 0, bytes);
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, 1, dup, &requests[0]));
        MPI(MPI_Isend(out, bytes, MPI_BYTE, to, 1, dup, &requests[1]));
        if (reference)
            MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)); /* it does not wait itself */
        MPI(MPI_Comm_disconnect(&dup));
        CHECK(dup == MPI_COMM_NULL);
        CHECK_PATTERN(in, bytes, from + round);
        MPI(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
        CHECK(flag);
    }
    return finish();
}
