/* A tool: this program defines MPI_Send, MPI_Recv and MPI_Barrier itself. It sees its own calls, once each, and none that
 * the library makes for itself. */
#include "check.h"

static int sends, receives, barriers;

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    receives++;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    int value = 0, sum = 0, all[64];
    MPI_Comm dup;
    start(&argc, &argv);
    CHECK_INT(sends + receives + barriers, 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MPI(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 0, &value, 1, MPI_INT, rank, 0, dup, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_free(&dup));
    CHECK_INT(sends, 0);
    CHECK_INT(receives, 0);
    CHECK_INT(barriers, 1);
    if (rank == 0 && size > 1)
        MPI(MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    if (rank == 1)
        MPI(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(sends, rank == 0 && size > 1);
    CHECK_INT(receives, rank == 1);
    MPI(MPI_Finalize());
    CHECK_INT(barriers, 1);
    return conclude();
}
