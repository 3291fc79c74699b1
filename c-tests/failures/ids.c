/* A communicator is freed after one of its processes has died; nobody revokes it. Another process sends on it what the first does not receive any
 * more. No later communicator gets that message: the context id is not used again. */
#include "failing.h"

enum { COMMUNICATORS = 400 };

int main(int argc, char **argv)
{
    MPI_Comm comm, left, new[COMMUNICATORS];
    int x = 1, y = 0, flag;
    start_failing(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    last_is_dead("kill");
    if (rank == last)
        return 1;
    MPI(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    if (rank != 0)
        MPI(MPI_Comm_free(&comm));
    MPI(MPI_Barrier(left));
    if (rank == 0) {
        for (int to = 1; to < last; to++)
            MPI(MPI_Send(&x, 1, MPI_INT, to, 5, comm));
        MPI(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI(MPI_Comm_dup(left, &new[i]));
        MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, new[i], &flag, MPI_STATUS_IGNORE));
        if (flag)
            check_failed(__FILE__, __LINE__, "communicator %d has a message", i);
    }
    /* The last ones may be made without a message, so rank 0 may be far ahead. */
    MPI(MPI_Barrier(left));
    for (int i = 0; i < COMMUNICATORS; i++) {
        if (rank == 0) {
            int number = 100 + i;
            for (int to = 1; to < last; to++)
                MPI(MPI_Send(&number, 1, MPI_INT, to, 5, new[i]));
        } else {
            MPI(MPI_Recv(&y, 1, MPI_INT, 0, MPI_ANY_TAG, new[i], MPI_STATUS_IGNORE));
            CHECK_INT(y, 100 + i);
        }
        MPI(MPI_Comm_free(&new[i]));
    }
    MPI(MPI_Barrier(left));
    MPI(MPI_Comm_free(&left));
    return finish();
}
