/* MPI_COMM_SELF: rank 0 of 1, its duplicates, collectives on it. */
#include "check.h"

int main(int argc, char **argv)
{
    int r = -1, s = -1, value = 5, other = 0;
    MPI_Comm dup;
    start(&argc, &argv);
    MPI(MPI_Comm_rank(MPI_COMM_SELF, &r));
    MPI(MPI_Comm_size(MPI_COMM_SELF, &s));
    CHECK_INT(r, 0);
    CHECK_INT(s, 1);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    MPI(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, dup, MPI_STATUS_IGNORE));
    CHECK_INT(other, 5);
    MPI(MPI_Barrier(dup));
    MPI(MPI_Bcast(&value, 1, MPI_INT, 0, dup));
    MPI(MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    CHECK_INT(other, 5);
    MPI(MPI_Gather(&rank, 1, MPI_INT, &other, 1, MPI_INT, 0, dup));
    CHECK_INT(other, rank);
    MPI(MPI_Comm_free(&dup));
    return finish();
}
