/* A child that is connected calls MPI_Abort, or is killed: the parents, who wait for it, end too. args: abort, of_parent or kill, and the code of
 * MPI_Abort. */
#include "spawned.h"

int main(int argc, char **argv)
{
    int value;
    start_family(&argc, &argv);
    if (!is_child) {
        MPI_Comm children = spawn(MPI_COMM_WORLD, 2, argv + 1);
        MPI_Recv(&value, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
        printf("the parents are still there\n");
        return finish_family();
    }
    if (rank == 1 && !strcmp(argv[1], "abort"))
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    if (rank == 1 && !strcmp(argv[1], "of_parent"))
        MPI_Abort(parent, atoi(argv[2]));
    if (rank == 1)
        raise(SIGKILL);
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
