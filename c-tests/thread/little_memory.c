/* Threads make communicators and exchange messages of all lengths where the ranks have little memory in common, down to none: that
 * makes messages slower, and nothing else. All ranks spread a communicator over the same engines, or messages would be lost. */
#include "threads.h"

enum { THREADS = 4, COMMS = 9, LONG = 20000 };

static MPI_Comm parents[THREADS];

static void *run(void *number)
{
    static const int lengths[] = {8, 0, 148, 3000, LONG};
    int me = (int) (intptr_t) number, to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    MPI_Comm comms[COMMS];
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    for (int k = 0; k < COMMS; k++)
        switch (k % 3) {
        case 0:
            MPI(MPI_Comm_dup(parents[me], &comms[k]));
            break;
        case 1:
            MPI(MPI_Comm_split(parents[me], 0, rank, &comms[k]));
            break;
        case 2: /* spread over all engines */
            MPI(MPI_Comm_dup_with_info(parents[me], info, &comms[k]));
            break;
        }
    for (int k = 0; k < COMMS; k++)
        for (int i = 0; i < 5; i++) {
            MPI_Status status;
            int seed = rank * 100 + k * 10 + i, theirs = from * 100 + k * 10 + i;
            fill(out, lengths[i], seed);
            MPI(MPI_Sendrecv(out, lengths[i], MPI_BYTE, to, k + i, in, LONG, MPI_BYTE, from, k + i, comms[k], &status));
            CHECK_STATUS(status, from, k + i, lengths[i]);
            CHECK_PATTERN(in, lengths[i], theirs);
        }
    for (int k = 0; k < COMMS; k++) {
        int sum;
        MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[k]));
        CHECK_INT(sum, size * (size - 1) / 2);
        MPI(MPI_Comm_free(&comms[k]));
    }
    MPI(MPI_Info_free(&info));
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    for (int me = 0; me < THREADS; me++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &parents[me]));
    run_threads(THREADS, run);
    for (int me = 0; me < THREADS; me++)
        MPI(MPI_Comm_free(&parents[me]));
    return finish();
}
