/* args: rank code. One rank returns a code after MPI_Finalize: mpiexec gives it on. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI(MPI_Finalize());
    return argc > 2 && rank == atoi(argv[1]) ? atoi(argv[2]) : 0;
}
