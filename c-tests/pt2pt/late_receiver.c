/* Sends of up to 64 KB are complete before their receiver comes, whatever way the data takes, and the program has its buffers again: more
 * messages than can be on offer at once, blocking and nonblocking, tested and waited for, to both sides at once, in order. */
#include "check.h"

enum { MOST = 65536, MESSAGES = 150, ROUNDS = 6 };

static const int sizes[] = {16384, 16385, 20000, 32768, 50001, MOST};
static unsigned char out[MESSAGES][MOST], in[MOST];

static int bytes_of(int message) { return sizes[message % (int) (sizeof sizes / sizeof *sizes)]; }

/* How the sends of a round are completed. */
static void complete(int round, MPI_Request *requests)
{
    int done = 0, flag;
    switch (round % 3) {
    case 0:
        MPI(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
        break;
    case 1:
        while (!done)
            MPI(MPI_Testall(MESSAGES, requests, &done, MPI_STATUSES_IGNORE));
        break;
    case 2:
        for (int i = MESSAGES - 1; i >= 0; i--)
            for (flag = 0; !flag;)
                MPI(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        break;
    }
}

int main(int argc, char **argv)
{
    MPI_Request requests[MESSAGES];
    start(&argc, &argv);
    int partner = rank ^ 1;
    for (int round = 0; partner < size && round < (slow() ? 2 : ROUNDS); round++) {
        for (int i = 0; i < MESSAGES; i++) {
            fill(out[i], bytes_of(i), rank + i + round);
            if (i % 10 == 9) {
                MPI(MPI_Send(out[i], bytes_of(i), MPI_BYTE, partner, round, MPI_COMM_WORLD));
                memset(out[i], 0xEE, MOST);
                requests[i] = MPI_REQUEST_NULL;
            } else {
                MPI(MPI_Isend(out[i], bytes_of(i), MPI_BYTE, partner, round, MPI_COMM_WORLD, &requests[i]));
            }
        }
        complete(round, requests);
        memset(out, 0xEE, sizeof out);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Status status;
            memset(in, 0, sizeof in);
            MPI(MPI_Recv(in, MOST, MPI_BYTE, partner, round, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, partner, round, bytes_of(i));
            CHECK_PATTERN(in, bytes_of(i), partner + i + round);
        }
    }
    return finish();
}
