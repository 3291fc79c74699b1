/* MPI_Finalize succeeds without the dead, whoever of the others knows of them. args: how the last rank dies, and when: before, or within the
 * others' MPI_Finalize, or behind its own. */
#include "failing.h"

int main(int argc, char **argv)
{
    int code;
    start_failing(&argc, &argv);
    if (!strcmp(argv[2], "behind")) {
        code = finish();
        return rank == last ? raise(SIGKILL) : code;
    }
    if (!strcmp(argv[2], "before"))
        last_dies(argv[1]);
    else {
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == last) {
            usleep(50000);
            raise(SIGKILL);
        }
    }
    if (rank == 0 && last > 1)
        FAILED(MPI_Recv(&code, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return finish();
}
