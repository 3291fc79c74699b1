/* Ping-pong of every size around the boundaries of size classes, blocking and nonblocking, with guard bytes
 * on both sides of the receive buffer, from aligned and odd addresses. */
#include "check.h"

static const size_t centres[] = {1, 8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                 32768, 65536, 131072, 262144, 1048576, 4194304, 16777216};

static unsigned char *out, *in;

static void exchange(size_t bytes, int nonblocking, size_t shift)
{
    int peer = 1 - rank, tag = (int) (bytes % 30000);
    MPI_Status status;
    MPI_Request requests[2];
    memset(in, 0xee, 64 + shift);
    memset(in + 64 + shift + bytes, 0xee, 64);
    if (bytes)
        in[64 + shift + bytes - 1] = 0;
    spoil(&status);
    if (nonblocking) {
        fill(out + shift, bytes, bytes + rank);
        MPI(MPI_Irecv(in + 64 + shift, (int) bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[0]));
        MPI(MPI_Isend(out + shift, (int) bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[1]));
        MPI(MPI_Wait(&requests[0], &status));
        MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    } else if (rank == 0) {
        fill(out + shift, bytes, bytes + rank);
        MPI(MPI_Send(out + shift, (int) bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD));
        MPI(MPI_Recv(in + 64 + shift, (int) bytes + 64, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status));
    } else {
        fill(out + shift, bytes, bytes + rank);
        MPI(MPI_Recv(in + 64 + shift, (int) bytes + 64, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status));
        MPI(MPI_Send(out + shift, (int) bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD));
    }
    CHECK_STATUS(status, peer, tag, (int) bytes);
    CHECK_PATTERN(in + 64 + shift, bytes, bytes + peer);
    for (size_t i = 0; i < 64; i++) {
        CHECK_INT(in[shift + i], 0xee);
        CHECK_INT(in[64 + shift + bytes + i], 0xee);
    }
}

int main(int argc, char **argv)
{
    size_t most = slow() ? 1048576 : 16777216;
    start(&argc, &argv);
    out = malloc(most + 300);
    in = malloc(most + 300);
    if (rank < 2) {
        exchange(0, 0, 0);
        exchange(0, 1, 0);
        for (size_t c = 0; c < sizeof centres / sizeof *centres && centres[c] <= most; c++)
            for (int delta = -1; delta <= 1; delta++)
                for (int how = 0; how < (centres[c] > 5000000 && delta ? 1 : 2); how++)
                    exchange(centres[c] + delta, how, how && (c & 1) ? 3 : 0);
    }
    free(out);
    free(in);
    return finish();
}
