/* Nobody has spawned this job. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    start(&argc, &argv);
    MPI(MPI_Comm_get_parent(&comm));
    CHECK(comm == MPI_COMM_NULL);
    return finish();
}
