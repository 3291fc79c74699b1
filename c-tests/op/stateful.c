/* MPIX_Op_create_x: the function gets its state, and the destructor is called once, when the operation is gone. */
#include "check.h"

static int destroyed;

static void scaled(void *in, void *inout, MPI_Count count, MPI_Datatype type, void *state)
{
    CHECK(type == MPI_INT);
    for (MPI_Count i = 0; i < count; i++)
        ((int *) inout)[i] += *(int *) state * ((int *) in)[i];
}

static void destroy(void *state)
{
    destroyed += *(int *) state;
}

int main(int argc, char **argv)
{
    int factors[2] = {3, 50}, a[4] = {1, 2, 3, 4}, b[4] = {0};
    MPI_Op op[2];
    start(&argc, &argv);
    for (int i = 0; i < 2; i++)
        MPI(MPIX_Op_create_x(scaled, i ? NULL : destroy, 1, &factors[i], &op[i]));
    MPI(MPI_Reduce_local(a, b, 4, MPI_INT, op[0]));
    MPI(MPI_Reduce_local(a, b, 4, MPI_INT, op[1]));
    for (int i = 0; i < 4; i++)
        CHECK_INT(b[i], 53 * (i + 1));
    CHECK_INT(destroyed, 0);
    for (int i = 0; i < 2; i++)
        MPI(MPI_Op_free(&op[i]));
    CHECK_INT(destroyed, 3);
    return finish();
}
