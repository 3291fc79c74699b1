/* args: what. The last rank dies without MPI_Finalize while the others wait for it: exit (0), SIGKILL (1), SIGSEGV (2), abort (3). */
#include "check.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
    int what = argc > 1 ? atoi(argv[1]) : 0, value;
    struct rlimit none = {0, 0};
    start(&argc, &argv);
    setrlimit(RLIMIT_CORE, &none);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1) {
        switch (what) {
        case 0:
            exit(3);
        case 1:
            kill(getpid(), SIGKILL);
            break;
        case 2:
            signal(SIGSEGV, SIG_DFL);
            kill(getpid(), SIGSEGV);
            break;
        case 3:
            abort();
        }
    }
    MPI(MPI_Recv(&value, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return 0;
}
