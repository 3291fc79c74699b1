/* MPI_Finalize is called by an exit handler, as interpreters do: after the destructors of what the first thread has of its own. */
#include "check.h"

static void end(void)
{
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Finalize());
    if (conclude())
        _exit(95);
}

int main(int argc, char **argv)
{
    atexit(end);
    start(&argc, &argv);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    exit(0);
}
