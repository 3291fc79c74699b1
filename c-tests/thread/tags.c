/* Each thread talks to its twin on the next and the previous rank with its own tag: blocking, nonblocking, all sizes. */
#include "threads.h"

enum { THREADS = 4 };

static void *run(void *number)
{
    static const int sizes[] = {0, 4, 60, 1500, 9000, 70000, 300000};
    int tag = (int) (intptr_t) number, to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char *out = malloc(300000), *in = malloc(300000);
    for (int round = 0; round < (slow() ? 7 : 70); round++) {
        int bytes = sizes[(round + tag) % 7];
        MPI_Request request;
        MPI_Status status;
        fill(out, bytes, rank * 100 + tag + round);
        switch (round % 3) {
        case 0:
            MPI(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
            MPI(MPI_Recv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        case 1:
            MPI(MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request));
            MPI(MPI_Send(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
            MPI(MPI_Wait(&request, &status));
            break;
        case 2:
            MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, to, tag, in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status));
            break;
        }
        CHECK_STATUS(status, from, tag, bytes);
        CHECK_PATTERN(in, bytes, from * 100 + tag + round);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    run_threads(THREADS, run);
    return finish();
}
