/* All run collective operations until some have failed; the others go on without them until as many are left as the argument says, and end in good order. Rank 0
 * prints "ready" when all have spoken to all. */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, sum, one = 1, wanted = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm comm, left;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0) {
        puts("ready");
        fflush(stdout);
    }
    do {
        while (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS)
            ;
        MPIX_Comm_revoke(comm);
        if (MPIX_Comm_shrink(comm, &left) != MPI_SUCCESS)
            return 98;
        MPI_Comm_free(&comm);
        comm = left;
        MPI_Comm_size(comm, &size);
    } while (size > wanted);
    if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS || sum != wanted)
        return 97;
    if (rank == 0)
        printf("%d went on\n", sum);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
