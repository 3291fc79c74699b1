/* The PMPI_ names may be called directly and mixed with the MPI_ ones. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 0, flag = 0, length, r = -1, s = -1;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Request request;
    MPI_Status status;
    watchdog(argv[0]);
    MPI(PMPI_Initialized(&flag));
    CHECK_INT(flag, 0);
    MPI(PMPI_Init(&argc, &argv));
    MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &r));
    MPI(PMPI_Comm_size(MPI_COMM_WORLD, &s));
    check_ranks();
    CHECK_INT(r, rank);
    CHECK_INT(s, size);
    MPI(PMPI_Get_processor_name(name, &length));
    MPI(PMPI_Irecv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(&s, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    MPI(PMPI_Wait(&request, &status));
    CHECK_INT(value, size);
    MPI(PMPI_Isend(&r, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    MPI(PMPI_Recv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &status));
    MPI(PMPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    MPI(PMPI_Get_count(&status, MPI_INT, &length));
    CHECK_INT(length, 1);
    MPI(PMPI_Barrier(MPI_COMM_WORLD));
    MPI(PMPI_Finalize());
    return conclude();
}
