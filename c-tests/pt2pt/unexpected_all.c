/* Every rank floods every other before anyone receives: small and large, nothing lost, nothing deadlocks. */
#include "check.h"

enum { SMALL = 500, LARGE = 4 };
static const int large_bytes = 300000;

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Request *requests = malloc(size * (SMALL + LARGE) * sizeof *requests);
    int (*numbers)[SMALL] = malloc(size * sizeof *numbers), count = 0;
    unsigned char *large = malloc(large_bytes), *in = malloc(large_bytes);
    fill(large, large_bytes, rank);
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < SMALL; i++) {
            numbers[to][i] = rank * 1000000 + to * 1000 + i;
            MPI(MPI_Isend(&numbers[to][i], 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[count++]));
        }
        for (int i = 0; i < LARGE; i++)
            MPI(MPI_Isend(large, large_bytes, MPI_BYTE, to, 2, MPI_COMM_WORLD, &requests[count++]));
    }
    for (int i = 0; i < LARGE; i++)
        for (int from = size - 1; from >= 0; from--) {
            memset(in, 0, large_bytes);
            MPI(MPI_Recv(in, large_bytes, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(in, large_bytes, from);
        }
    int *next = calloc(size, sizeof *next);
    for (int i = 0; i < SMALL * size; i++) {
        MPI_Status status;
        int value;
        MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status));
        CHECK_INT(value, status.MPI_SOURCE * 1000000 + rank * 1000 + next[status.MPI_SOURCE]);
        next[status.MPI_SOURCE]++;
    }
    MPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    free(next);
    free(in);
    free(large);
    free(numbers);
    free(requests);
    return finish();
}
