/* ANY_SOURCE and ANY_TAG, each alone and both, with posted and with unexpected messages. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    int value;
    start(&argc, &argv);
    /* unexpected: rank 0 receives when all have sent */
    if (rank) {
        for (int i = 0; i < 4; i++) {
            value = rank * 100 + i;
            MPI(MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
        }
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        int *seen = calloc(size, sizeof *seen);
        /* source given, any tag: order of sending */
        for (int from = 1; from < size; from++) {
            MPI(MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, from, 0, (int) sizeof(int));
            CHECK_INT(value, from * 100);
        }
        /* tag given, any source: each source once */
        for (int i = 1; i < size; i++) {
            MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status));
            CHECK_INT(status.MPI_TAG, 2);
            CHECK_INT(value, status.MPI_SOURCE * 100 + 2);
            CHECK_INT(seen[status.MPI_SOURCE]++, 0);
        }
        /* both: tags 1 then 3 of each source, in this order */
        memset(seen, 0, size * sizeof *seen);
        for (int i = 0; i < 2 * (size - 1); i++) {
            MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_INT(status.MPI_TAG, seen[status.MPI_SOURCE] ? 3 : 1);
            CHECK_INT(value, status.MPI_SOURCE * 100 + status.MPI_TAG);
            seen[status.MPI_SOURCE]++;
        }
        for (int from = 1; from < size; from++)
            CHECK_INT(seen[from], 2);
        free(seen);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    /* posted before anyone sends: exact, any source, any tag, both; the earliest posted that fits gets it */
    if (rank == 0 && size > 1) {
        MPI_Request requests[4];
        MPI_Status statuses[4];
        int values[4] = {0, 0, 0, 0};
        MPI(MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[0]));
        MPI(MPI_Irecv(&values[1], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[1]));
        MPI(MPI_Irecv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]));
        MPI(MPI_Irecv(&values[3], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[3]));
        MPI(MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD));
        MPI(MPI_Waitall(4, requests, statuses));
        const int tags[4] = {7, 7, 8, 9}, expected[4] = {70, 71, 80, 90};
        for (int i = 0; i < 4; i++) {
            CHECK_STATUS(statuses[i], 1, tags[i], (int) sizeof(int));
            CHECK_INT(values[i], expected[i]);
        }
    } else if (rank == 1) {
        const int tags[4] = {8, 7, 7, 9}, values[4] = {80, 70, 71, 90};
        MPI(MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 4; i++)
            MPI(MPI_Send(&values[i], 1, MPI_INT, 0, tags[i], MPI_COMM_WORLD));
    }
    return finish();
}
