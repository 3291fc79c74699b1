/* A buffer for two messages carries thousands, when each is known to be received before the next but one. */
#include "check.h"

int main(int argc, char **argv)
{
    int in = -1, bytes = 2 * (100 * (int) sizeof(int) + MPI_BSEND_OVERHEAD);
    void *space = malloc(bytes), *detached;
    start(&argc, &argv);
    MPI(MPI_Buffer_attach(space, bytes));
    for (int i = 0; rank < 2 && i < (slow() ? 100 : 3000); i++) {
        int data[100], count = 1 + i % 100;
        if (rank == 0) {
            for (int k = 0; k < count; k++)
                data[k] = i + k;
            MPI(MPI_Bsend(data, count, MPI_INT, 1, 1, MPI_COMM_WORLD));
            memset(data, 0, sizeof data);
            MPI(MPI_Recv(&in, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(in, i);
        } else {
            MPI(MPI_Recv(data, 100, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int k = 0; k < count; k++)
                CHECK_INT(data[k], i + k);
            MPI(MPI_Send(&i, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        }
    }
    MPI(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == space);
    free(space);
    return finish();
}
