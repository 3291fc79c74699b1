/* With MPI_ERRORS_ARE_FATAL a survivor ends the job at its first use of the dead; the exit code is that of the death. */
#include "failing.h"

int main(int argc, char **argv)
{
    int x;
    start_failing(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    last_is_dead(argv[1]);
    MPI_Recv(&x, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
