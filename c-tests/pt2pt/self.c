/* Messages to oneself, on COMM_SELF and COMM_WORLD, all sizes: receive first, send first, synchronous, probed. */
#include "check.h"

static unsigned char out[3000000], in[3000000];

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 40, 57, 1000, 8193, 65537, 3000000};
    MPI_Comm comms[2] = {MPI_COMM_SELF, MPI_COMM_WORLD};
    start(&argc, &argv);
    for (int c = 0; c < 2; c++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int bytes = sizes[s], me = c ? rank : 0, flag = 0, tag = 100 * c + (int) s;
            MPI_Request requests[2];
            MPI_Status status, statuses[2];
            MPI_Message message;
            fill(out, bytes, tag);
            memset(in, 0, bytes);
            MPI(MPI_Irecv(in, bytes, MPI_BYTE, me, tag, comms[c], &requests[0]));
            MPI(MPI_Send(out, bytes, MPI_BYTE, me, tag, comms[c]));
            MPI(MPI_Wait(&requests[0], &status));
            CHECK_STATUS(status, me, tag, bytes);
            CHECK_PATTERN(in, bytes, tag);

            memset(in, 0, bytes);
            MPI(MPI_Isend(out, bytes, MPI_BYTE, me, tag, comms[c], &requests[0]));
            MPI(MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &status));
            MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
            CHECK_STATUS(status, me, tag, bytes);
            CHECK_PATTERN(in, bytes, tag);

            memset(in, 0, bytes);
            MPI(MPI_Issend(out, bytes, MPI_BYTE, me, tag, comms[c], &requests[0]));
            MPI(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
            CHECK(!flag);
            MPI(MPI_Iprobe(me, tag, comms[c], &flag, &status));
            while (!flag)
                MPI(MPI_Iprobe(me, tag, comms[c], &flag, &status));
            CHECK_STATUS(status, me, tag, bytes);
            MPI(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
            CHECK(!flag);
            MPI(MPI_Mprobe(me, tag, comms[c], &message, &status));
            MPI(MPI_Imrecv(in, bytes, MPI_BYTE, &message, &requests[1]));
            MPI(MPI_Waitall(2, requests, statuses));
            CHECK_STATUS(statuses[1], me, tag, bytes);
            CHECK_PATTERN(in, bytes, tag);

            memset(in, 0, bytes);
            MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, me, tag, in, bytes, MPI_BYTE, me, tag, comms[c], &status));
            CHECK_STATUS(status, me, tag, bytes);
            CHECK_PATTERN(in, bytes, tag);
            MPI(MPI_Sendrecv_replace(in, bytes, MPI_BYTE, me, tag, me, tag, comms[c], &status));
            CHECK_STATUS(status, me, tag, bytes);
            CHECK_PATTERN(in, bytes, tag);
        }
    return finish();
}
