/* MPI_Comm_create_group: only the members call it; messages of the program with the same tag are not touched. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Group all, group;
    MPI_Comm comm, inner;
    MPI_Request request;
    int value = -1, sum, r;
    start(&argc, &argv);
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int round = 0; round < 10; round++) {
        int tag = round == 9 ? 1 << 20 : round, expected = rank + 100 * round;
        MPI(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        for (int first = 0; first <= rank; first++) {
            int range[1][3] = {{size - 1, first, -1}};
            MPI(MPI_Group_range_incl(all, 1, range, &group));
            MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm));
            MPI(MPI_Group_free(&group));
            MPI(MPI_Comm_rank(comm, &r));
            CHECK_INT(r, size - 1 - rank);
            MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
            CHECK_INT(sum, size * (size - 1) / 2 - first * (first - 1) / 2);
            MPI(MPI_Comm_group(comm, &group));
            MPI(MPI_Comm_create_group(comm, group, tag, &inner));
            MPI(MPI_Group_free(&group));
            MPI(MPI_Barrier(inner));
            MPI(MPI_Comm_free(&comm));
            MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, inner));
            CHECK_INT(sum, size - 1);
            MPI(MPI_Comm_free(&inner));
        }
        MPI(MPI_Send(&expected, 1, MPI_INT, next, tag, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(value, previous + 100 * round);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* who is not in the group may call or not */
    int only[1] = {size - 1};
    MPI(MPI_Group_incl(all, 1, only, &group));
    comm = MPI_COMM_WORLD;
    if (rank == 0 || rank == size - 1)
        MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm));
    if (rank == size - 1)
        MPI(MPI_Comm_free(&comm));
    else
        CHECK(comm == (rank ? MPI_COMM_WORLD : MPI_COMM_NULL));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&all));
    return finish();
}
