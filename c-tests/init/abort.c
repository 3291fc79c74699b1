/* args: rank, code, 0 for MPI_COMM_WORLD or 1 for MPI_COMM_SELF. MPI_Abort ends the whole job with the code; the others wait. */
#include "check.h"

int main(int argc, char **argv)
{
    int value;
    start(&argc, &argv);
    if (argc > 3 && rank == atoi(argv[1])) {
        MPI_Abort(atoi(argv[3]) ? MPI_COMM_SELF : MPI_COMM_WORLD, atoi(argv[2]));
        printf("survived\n");
    }
    MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return 0;
}
