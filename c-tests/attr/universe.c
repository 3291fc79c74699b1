/* MPI_UNIVERSE_SIZE as mpiexec's -usize says: a number, or (argument "none") not set at all. */
#include "check.h"

int main(int argc, char **argv)
{
    int *value, flag, wanted;
    start(&argc, &argv);
    CHECK_INT(argc, 2);
    wanted = atoi(argv[1]);
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK_INT(flag, wanted > 0);
    if (flag)
        CHECK_INT(*value, wanted);
    return finish();
}
