/* All ranks spawn at once, each by itself (MPI_COMM_SELF), one child more than its rank; then by halves. */
#include "spawned.h"

int main(int argc, char **argv)
{
    MPI_Comm half;
    start_family(&argc, &argv);
    if (is_child) {
        talk(parent, 64, 1);
        return finish_family();
    }
    MPI_Comm children = spawn(MPI_COMM_SELF, rank + 1, MPI_ARGV_NULL);
    talk(children, 64, 0);
    part(&children);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    children = spawn(half, 2, MPI_ARGV_NULL);
    talk(children, 64, 0);
    part(&children);
    MPI(MPI_Comm_free(&half));
    return finish_family();
}
