/* args: what. A call before MPI_Init (0), after MPI_Finalize (1), a second MPI_Init (2), a second MPI_Finalize (3): never success,
 * the program ends with a text and another code than 0. */
#include "check.h"

int main(int argc, char **argv)
{
    int what = argc > 1 ? atoi(argv[1]) : 0, value = -1;
    watchdog(argv[0]);
    if (what == 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
    start(&argc, &argv);
    if (what == 2)
        MPI_Init(NULL, NULL);
    MPI(MPI_Finalize());
    if (what == 1)
        MPI_Barrier(MPI_COMM_WORLD);
    if (what == 3)
        MPI_Finalize();
    return 0;
}
