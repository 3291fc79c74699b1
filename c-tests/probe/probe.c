/* Probe and Iprobe: source, tag and length, with and without wildcards; the message stays until it is received, and the
 * receive with the source and tag found gets that message. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char data[100000];
    static const int sizes[] = {0, 1, 40, 3000, 100000};
    MPI_Status status, again;
    int flag = 77, bytes;
    start(&argc, &argv);
    MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
    CHECK_INT(flag, 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank) {
        for (int i = 0; i < 5; i++) {
            fill(data, sizes[i], rank * 10 + i);
            MPI(MPI_Send(data, sizes[i], MPI_BYTE, 0, i, MPI_COMM_WORLD));
        }
    } else {
        /* tag 3 of each first: it is not the first in the queue */
        for (int from = size - 1; from > 0; from--) {
            MPI(MPI_Probe(from, 3, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, from, 3, sizes[3]);
            MPI(MPI_Iprobe(from, 3, MPI_COMM_WORLD, &flag, &again));
            CHECK_INT(flag, 1);
            CHECK_STATUS(again, from, 3, sizes[3]);
            MPI(MPI_Recv(data, sizes[3], MPI_BYTE, from, 3, MPI_COMM_WORLD, &again));
            CHECK_PATTERN(data, sizes[3], from * 10 + 3);
        }
        for (int i = 0; i < 4 * (size - 1); i++) {
            MPI(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
            CHECK_INT(bytes, sizes[status.MPI_TAG]);
            MPI(MPI_Recv(data, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &again));
            CHECK_STATUS(again, status.MPI_SOURCE, status.MPI_TAG, bytes);
            CHECK_PATTERN(data, bytes, status.MPI_SOURCE * 10 + status.MPI_TAG);
        }
        MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    /* a posted receive takes its message before a probe can see it */
    MPI_Request request;
    MPI(MPI_Irecv(data, 10, MPI_BYTE, rank, 8, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(data + 100, 10, MPI_BYTE, rank, 8, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Iprobe(rank, 8, MPI_COMM_WORLD, &flag, &status));
    CHECK_INT(flag, 0);
    return finish();
}
