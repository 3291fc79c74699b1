/* Messages that nobody has received when their communicator is freed: none is met on a later one, they take no memory for ever, and senders
 * are not held back by them.
 *
 *     free_unreceived ROUNDS BYTES */
#include "check.h"

int main(int argc, char **argv)
{
    static char data[1 << 16];
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 500, bytes = argc > 2 ? atoi(argv[2]) : 4;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        int found;
        if (round % 2)
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        else
            MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
        MPI(MPI_Barrier(comm));
        MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE));
        CHECK_INT(found, 0);
        MPI(MPI_Barrier(comm));
        MPI(MPI_Send(data, bytes, MPI_BYTE, (rank + 1) % size, round, comm));
        MPI(MPI_Barrier(comm));
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
