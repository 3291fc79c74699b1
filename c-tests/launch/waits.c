/* Nobody comes back: mpiexec's table at the time limit says who waits in what, and names the communicators. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 0, sum = 0;
    MPI_Comm named, nameless;
    MPI_Request request;
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &named));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &nameless));
    MPI(MPI_Comm_set_name(named, "a name with spaces"));
    if (rank == 0)
        MPI(MPI_Recv(&word, 1, MPI_INT, 3, 17, named, MPI_STATUS_IGNORE));
    else if (rank == 1)
        MPI(MPI_Recv(&word, 1, MPI_INT, 3, 18, nameless, MPI_STATUS_IGNORE));
    else if (rank == 2)
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    else if (rank == 4) {
        MPI(MPI_Iallreduce(&word, &sum, 1, MPI_INT, MPI_SUM, named, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else
        pause();
    return finish();
}
