/* args: messages. All other ranks send many small messages, blocking and nonblocking, to rank 0, which sleeps outside MPI;
 * then it takes them, half by source, half by any source. Nothing is lost, the order of each source is kept. */
#include "check.h"

int main(int argc, char **argv)
{
    int messages = argc > 1 ? atoi(argv[1]) : 30000;
    start(&argc, &argv);
    if (slow())
        messages /= 30;
    if (rank) {
        MPI_Request *requests = malloc(messages * sizeof *requests);
        int (*data)[3] = malloc(messages * sizeof *data), count = 0;
        for (int i = 0; i < messages; i++) {
            data[i][0] = rank, data[i][1] = i, data[i][2] = ~i;
            if (rank % 2)
                MPI(MPI_Isend(data[i], 3, MPI_INT, 0, i & 1, MPI_COMM_WORLD, &requests[count++]));
            else
                MPI(MPI_Send(data[i], 3, MPI_INT, 0, i & 1, MPI_COMM_WORLD));
        }
        MPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        free(requests);
        free(data);
    } else {
        int *next = calloc(size, sizeof *next), data[3];
        MPI_Status status;
        usleep(300000);
        /* odd ones of each source first, then the even ones of all */
        for (int from = size - 1; from > 0; from--)
            for (int i = 1; i < messages; i += 2) {
                MPI(MPI_Recv(data, 3, MPI_INT, from, 1, MPI_COMM_WORLD, &status));
                CHECK_INT(data[0], from);
                CHECK_INT(data[1], i);
                CHECK_INT(data[2], ~i);
            }
        for (int i = 0; i < (size - 1) * ((messages + 1) / 2); i++) {
            MPI(MPI_Recv(data, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_INT(data[0], status.MPI_SOURCE);
            CHECK_INT(data[1], next[status.MPI_SOURCE]);
            next[status.MPI_SOURCE] += 2;
        }
        free(next);
    }
    return finish();
}
