/* All ranks send large messages to rank 0 at one time, which takes them in the reverse order of their ranks and tags. */
#include "check.h"

enum { BYTES = 700000, EACH = 4 };

int main(int argc, char **argv)
{
    unsigned char *out[EACH], *in = malloc(BYTES);
    MPI_Request requests[EACH];
    start(&argc, &argv);
    int bytes = slow() ? 100000 : BYTES;
    for (int i = 0; rank && i < EACH; i++) {
        out[i] = malloc(bytes);
        fill(out[i], bytes, rank * 10 + i);
        MPI(MPI_Isend(out[i], bytes - i * 1000, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int from = size - 1; rank == 0 && from > 0; from--)
        for (int i = EACH - 1; i >= 0; i--) {
            MPI_Status status;
            MPI(MPI_Recv(in, bytes, MPI_BYTE, from, i, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, from, i, bytes - i * 1000);
            CHECK_PATTERN(in, (size_t) bytes - i * 1000, from * 10 + i);
        }
    if (rank) {
        MPI(MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < EACH; i++)
            free(out[i]);
    }
    free(in);
    return finish();
}
