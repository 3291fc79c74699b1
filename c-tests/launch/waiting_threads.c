/* Two threads of rank 0 wait; the one that began later gets its message. The table goes on to show the other. */
#include "threads.h"

static void *later(void *unused)
{
    int word = 0;
    usleep(200 * 1000);
    MPI(MPI_Send(&word, 1, MPI_INT, 1, 4, MPI_COMM_WORLD));
    MPI(MPI_Recv(&word, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return unused;
}

int main(int argc, char **argv)
{
    int word = 0;
    pthread_t thread;
    start_multiple(&argc, &argv);
    if (rank == 0) {
        pthread_create(&thread, NULL, later, NULL);
        MPI(MPI_Recv(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        MPI(MPI_Recv(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        usleep(200 * 1000);
        MPI(MPI_Send(&word, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
        pause();
    }
    return finish();
}
