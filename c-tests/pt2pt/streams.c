/* One rank receives from all others at once with ANY_SOURCE while it answers each: no message is lost or doubled. */
#include "check.h"

enum { MESSAGES = 2000 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int messages = slow() ? 50 : MESSAGES;
    if (rank == 0) {
        int *next = calloc(size, sizeof *next);
        for (int i = 0; i < messages * (size - 1); i++) {
            MPI_Status status;
            int data[2];
            MPI(MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_INT(data[0], status.MPI_SOURCE);
            CHECK_INT(data[1], next[status.MPI_SOURCE]);
            CHECK_INT(status.MPI_TAG, next[status.MPI_SOURCE] % 100);
            next[status.MPI_SOURCE]++;
            if (data[1] % 50 == 49)
                MPI(MPI_Send(&data[1], 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD));
        }
        free(next);
    } else {
        for (int i = 0; i < messages; i++) {
            int data[2] = {rank, i}, answer = -1;
            MPI(MPI_Send(data, 2, MPI_INT, 0, i % 100, MPI_COMM_WORLD));
            if (i % 50 == 49) {
                MPI(MPI_Recv(&answer, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_INT(answer, i);
            }
        }
    }
    return finish();
}
