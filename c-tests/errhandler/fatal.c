/* args: kind. The default handler (0), MPI_ERRORS_ABORT (1), or fatal again after return (2): the job ends with another code
 * than 0, rank 1 being the one at fault while the others wait for it. */
#include "check.h"

int main(int argc, char **argv)
{
    int kind = argc > 1 ? atoi(argv[1]) : 0, value = 0;
    start(&argc, &argv);
    MPI(MPI_Comm_set_name(MPI_COMM_WORLD, "the world of this test"));
    if (kind == 1)
        MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT));
    if (kind == 2) {
        return_errors();
        MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    }
    if (rank == size - 1) {
        MPI_Send(&value, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
        printf("survived\n");
    }
    MPI(MPI_Recv(&value, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return 0;
}
