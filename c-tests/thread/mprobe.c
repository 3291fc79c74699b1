/* Threads probe and receive matched messages of lengths they do not know: length and data belong together.
 *
 *     mprobe MESSAGES-OF-EACH */
#include "threads.h"

enum { THREADS = 4 };
static int each = 60;

static void *run(void *number)
{
    int me = (int) (intptr_t) number;
    unsigned char *data = malloc(100000);
    if (me == THREADS) { /* the sender of this rank */
        uint64_t state = rank + 1;
        for (int i = 0; i < THREADS * each; i++) {
            int bytes = (int) (next_random(&state) % (i % 10 ? 200 : 90000)) + 8;
            uint64_t seed = next_random(&state);
            memcpy(data, &seed, 8);
            fill(data + 8, bytes - 8, seed);
            MPI(MPI_Send(data, bytes, MPI_BYTE, (rank + 1) % size, bytes % 1000, MPI_COMM_WORLD));
        }
    } else {
        for (int i = 0; i < each; i++) {
            MPI_Message message;
            MPI_Status status;
            uint64_t seed;
            int bytes, flag = 0;
            if (i % 2)
                MPI(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
            else
                while (!flag)
                    MPI(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status));
            MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
            CHECK_INT(status.MPI_TAG, bytes % 1000);
            if (i % 3) {
                MPI(MPI_Mrecv(data, bytes, MPI_BYTE, &message, &status));
            } else {
                MPI_Request request;
                MPI(MPI_Imrecv(data, bytes, MPI_BYTE, &message, &request));
                MPI(MPI_Wait(&request, &status));
            }
            CHECK_STATUS(status, (rank + size - 1) % size, bytes % 1000, bytes);
            memcpy(&seed, data, 8);
            CHECK_PATTERN(data + 8, (size_t) bytes - 8, seed);
        }
    }
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    if (argc > 1 && !slow())
        each = atoi(argv[1]);
    run_threads(THREADS + 1, run);
    return finish();
}
