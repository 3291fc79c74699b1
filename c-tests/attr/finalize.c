/* The attributes of MPI_COMM_SELF are deleted first in MPI_Finalize, last set first, while MPI still works. */
#include "check.h"

static int order[3], called;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int flag = -1, sum = -1, one = 1, number = *(int *) value;
    (void) keyval, (void) extra;
    CHECK(comm == MPI_COMM_SELF);
    MPI_Finalized(&flag);
    CHECK_INT(flag, 0);
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    if (called < 3)
        order[called] = number;
    called++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static int numbers[3] = {0, 1, 2};
    int keyvals[3];
    start(&argc, &argv);
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyvals[i], NULL));
    /* set in another order than created */
    static const int sequence[3] = {1, 2, 0};
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[sequence[i]], &numbers[sequence[i]]));
    MPI(MPI_Comm_free_keyval(&keyvals[2]));
    CHECK_INT(called, 0);
    MPI(MPI_Finalize());
    CHECK_INT(called, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(order[i], sequence[2 - i]);
    return conclude();
}
