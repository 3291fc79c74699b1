/* MPI_Init(NULL, NULL). */
#include "check.h"

int main(int argc, char **argv)
{
    (void) argc;
    watchdog(argv[0]);
    MPI(MPI_Init(NULL, NULL));
    check_ranks();
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
