/* Tags 0 and MPI_TAG_UB, and some between, are different tags. */
#include "check.h"

int main(int argc, char **argv)
{
    int *upper, flag, value;
    start(&argc, &argv);
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag));
    CHECK_INT(flag, 1);
    CHECK(*upper >= 32767);
    const int tags[] = {0, 1, 32767, *upper / 2, *upper - 1, *upper};
    if (rank == 0)
        for (int i = 0; i < 6; i++)
            MPI(MPI_Send(&tags[i], 1, MPI_INT, 1, tags[i], MPI_COMM_WORLD));
    if (rank == 1)
        for (int i = 5; i >= 0; i--) {
            MPI_Status status;
            MPI(MPI_Recv(&value, 1, MPI_INT, 0, tags[i], MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, 0, tags[i], 4);
            CHECK_INT(value, tags[i]);
        }
    return finish();
}
