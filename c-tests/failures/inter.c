/* The failed processes of an intercommunicator are those of both groups; messages come from the remote one: a receive from any source needs
 * no acknowledgement of failures in the own group. */
#include "failing.h"

int main(int argc, char **argv)
{
    MPI_Comm half, inter;
    int x = 0, acked;
    start_failing(&argc, &argv);
    int high = rank >= size / 2, leader = high ? 0 : size / 2;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, high, 0, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 3, &inter));
    MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    last_is_dead(argv[1]);
    CHECK_INT(failed_of(inter), 1 << last);
    CHECK_INT(failed_of(half), high ? 1 << last : 0);
    if (high) {
        MPI(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
        CHECK_INT(x, rank - size / 2);
    } else {
        FAILED(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
        FAILED(MPI_Recv(&x, 1, MPI_INT, last - size / 2, 1, inter, MPI_STATUS_IGNORE));
        MPI(MPIX_Comm_ack_failed(inter, 1, &acked));
        CHECK_INT(acked, 1);
        if (rank < size - 1 - size / 2)
            MPI(MPI_Send(&rank, 1, MPI_INT, rank, 1, inter));
    }
    return finish();
}
