/* Both send large messages at one time, nonblocking, and receive afterwards; and both are blocked in a large receive. */
#include "check.h"

enum { BYTES = 5000000, FLIGHT = 3 };

int main(int argc, char **argv)
{
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    start(&argc, &argv);
    int bytes = slow() ? 500000 : BYTES;
    if (rank < 2) {
        MPI_Request requests[FLIGHT];
        fill(out, bytes, rank);
        for (int i = 0; i < FLIGHT; i++)
            MPI(MPI_Isend(out, bytes - i, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]));
        for (int i = FLIGHT - 1; i >= 0; i--) {
            MPI_Status status;
            memset(in, 0, bytes);
            MPI(MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, 1 - rank, i, bytes - i);
            CHECK_PATTERN(in, bytes - i, 1 - rank);
        }
        MPI(MPI_Waitall(FLIGHT, requests, MPI_STATUSES_IGNORE));
        MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - rank, 9, in, bytes, MPI_BYTE, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, bytes, 1 - rank);
    }
    free(out);
    free(in);
    return finish();
}
