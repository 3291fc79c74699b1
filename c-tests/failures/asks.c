/* A program that has none of the functions for failed processes among its symbols: the last rank, on the second host, finds one by its name and calls
 * it. Its keeper tells mpiexec. Seconds later a rank of mpiexec's host dies, and the others go on. */
#define _GNU_SOURCE
#include "dying.h"
#include <dlfcn.h>

static int count_failed(void)
{
    MPI_Group group;
    int count = -1;
    int (*get_failed)(MPI_Comm, MPI_Group *) = (int (*)(MPI_Comm, MPI_Group *)) dlsym(RTLD_DEFAULT, "MPIX_Comm_get_failed");
    CHECK(get_failed);
    if (!get_failed)
        return count;
    MPI(get_failed(MPI_COMM_WORLD, &group));
    MPI(MPI_Group_size(group, &count));
    if (group != MPI_GROUP_EMPTY)
        MPI(MPI_Group_free(&group));
    return count;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int victim = 1, asker = size - 1;
    if (rank == asker) {
        CHECK_INT(count_failed(), 0);
        /* No rank sees that mpiexec knows. */
        sleep(3);
    }
    before_deaths(MPI_COMM_WORLD, rank == victim);
    if (rank == victim)
        raise(SIGKILL);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);
    /* By then mpiexec has decided. From now on the others, too, need the living only. */
    int done = 1;
    if (rank == asker)
        usleep(300000);
    for (int to = 0; to < asker && rank == asker; to++)
        if (to != victim)
            MPI(MPI_Send(&done, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    if (rank != asker)
        MPI(MPI_Recv(&done, 1, MPI_INT, asker, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    while (count_failed() != 1)
        usleep(1000);
    return finish();
}
