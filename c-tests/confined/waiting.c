/* args: sleeps or awake. What the kernel says of a rank that waits in MPI_Recv: it sleeps some time after, or, where a variable
 * says so, it never does. Rank 1 looks at it, and sends when it has seen enough. */
#include "process.h"
#include <time.h>

int main(int argc, char **argv)
{
    int pid = (int) getpid(), looks = 100, sleeping = 0;
    int sleeps = argc > 1 && !strcmp(argv[1], "sleeps");
    start(&argc, &argv);
    if (rank == 0) {
        MPI(MPI_Send(&pid, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        MPI(MPI_Recv(&pid, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        MPI(MPI_Recv(&pid, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        /* A rank that is to sleep is looked at until it does: the watchdog ends it if it never does. */
        for (int look = 0; sleeps ? sleeping < looks / 2 : look < looks; look++) {
            struct timespec pause = { 0, 2000000 };
            nanosleep(&pause, NULL);
            sleeping += state_of(pid) == 'S';
        }
        if (!sleeps && sleeping > looks / 10)
            check_failed(__FILE__, __LINE__, "asleep at %d of %d looks", sleeping, looks);
        MPI(MPI_Send(&pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    }
    return finish();
}
