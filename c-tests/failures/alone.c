/* A program without any of the functions: it ends with its first death, unless it was said otherwise. args: whether the others get to see it. */
#include "check.h"

int main(int argc, char **argv)
{
    int x;
    start(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (rank == size - 1)
        raise(SIGKILL);
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    return finish();
}
