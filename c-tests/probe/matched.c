/* Mprobe, Improbe, Mrecv, Imrecv: a matched message is out of the queue; the order of the rest stays; several held at a time. */
#include "check.h"

enum { COUNT = 8 };

int main(int argc, char **argv)
{
    static unsigned char data[COUNT][90000];
    static const int sizes[COUNT] = {0, 10, 41, 100, 2500, 10000, 66000, 90000};
    MPI_Status status;
    MPI_Message message, held[COUNT];
    MPI_Request requests[COUNT];
    int flag = 77;
    start(&argc, &argv);
    message = MPI_MESSAGE_NO_PROC;
    MPI(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK_INT(flag, 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        for (int round = 0; round < 3; round++) /* rank 0 takes all of one round before the next */
            for (int i = 0; i < COUNT; i++) {
                fill(data[i], sizes[i], i);
                if (round == 1)
                    MPI(MPI_Ssend(data[i], sizes[i], MPI_BYTE, 0, 5, MPI_COMM_WORLD));
                else
                    MPI(MPI_Isend(data[i], sizes[i], MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[i]));
                if (round != 1 && i == COUNT - 1)
                    MPI(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
            }
    } else if (rank == 0) {
        /* all are held at one time, then received backwards */
        for (int i = 0; i < COUNT; i++) {
            if (i % 2) {
                MPI(MPI_Mprobe(1, 5, MPI_COMM_WORLD, &held[i], &status));
            } else {
                flag = 0;
                while (!flag)
                    MPI(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &held[i], &status));
            }
            CHECK(held[i] != MPI_MESSAGE_NULL && held[i] != MPI_MESSAGE_NO_PROC);
            CHECK_STATUS(status, 1, 5, sizes[i]);
        }
        for (int i = COUNT - 1; i >= 0; i--) {
            memset(data[i], 0, sizes[i]);
            spoil(&status);
            MPI(MPI_Mrecv(data[i], sizeof data[i], MPI_BYTE, &held[i], &status));
            CHECK(held[i] == MPI_MESSAGE_NULL);
            CHECK_STATUS(status, 1, 5, sizes[i]);
            CHECK_PATTERN(data[i], sizes[i], i);
        }
        /* each at once, synchronous senders */
        for (int i = 0; i < COUNT; i++) {
            MPI(MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
            MPI(MPI_Mrecv(data[i], sizeof data[i], MPI_BYTE, &message, &status));
            CHECK_STATUS(status, 1, 5, sizes[i]);
            CHECK_PATTERN(data[i], sizes[i], i);
        }
        /* every second is taken out; ordinary receives get the others in order; Imrecv gets the held ones */
        for (int i = 0; i < COUNT; i += 2) {
            MPI(MPI_Mprobe(1, 5, MPI_COMM_WORLD, &held[i], &status));
            MPI(MPI_Recv(data[i + 1], sizeof data[0], MPI_BYTE, 1, 5, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, 1, 5, sizes[i + 1]);
            CHECK_PATTERN(data[i + 1], sizes[i + 1], i + 1);
        }
        for (int i = 0; i < COUNT; i += 2) {
            MPI(MPI_Imrecv(data[i], sizes[i], MPI_BYTE, &held[i], &requests[i / 2]));
            CHECK(held[i] == MPI_MESSAGE_NULL);
        }
        MPI_Status statuses[COUNT];
        MPI(MPI_Waitall(COUNT / 2, requests, statuses));
        for (int i = 0; i < COUNT; i += 2) {
            CHECK_STATUS(statuses[i / 2], 1, 5, sizes[i]);
            CHECK_PATTERN(data[i], sizes[i], i);
        }
    }
    return finish();
}
