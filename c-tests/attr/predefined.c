/* The predefined attributes of MPI_COMM_WORLD. */
#include "check.h"

static int *get(int keyval, int *flag)
{
    int *value = NULL, *deprecated = NULL, other = -1;
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, flag));
    MPI(MPI_Attr_get(MPI_COMM_WORLD, keyval, &deprecated, &other));
    CHECK_INT(other, *flag);
    if (*flag)
        CHECK_INT(*value, *deprecated);
    return value;
}

int main(int argc, char **argv)
{
    int flag = -1, *value, upper;
    MPI_Comm dup;
    start(&argc, &argv);
    value = get(MPI_TAG_UB, &flag);
    CHECK_INT(flag, 1);
    CHECK(*value >= 32767);
    upper = *value;
    value = get(MPI_HOST, &flag);
    if (flag)
        CHECK(*value == MPI_PROC_NULL || (*value >= 0 && *value < size));
    value = get(MPI_IO, &flag);
    if (flag)
        CHECK(*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < size));
    value = get(MPI_WTIME_IS_GLOBAL, &flag);
    if (flag)
        CHECK(*value == 0 || *value == 1);
    value = get(MPI_UNIVERSE_SIZE, &flag);
    if (flag)
        CHECK(*value >= size);
    value = get(MPI_LASTUSEDCODE, &flag);
    CHECK_INT(flag, 1);
    CHECK(*value >= MPI_ERR_LASTCODE);
    value = get(MPI_APPNUM, &flag);
    if (flag)
        CHECK_INT(*value, 0);
    if (!reference) {
        get(MPI_UNIVERSE_SIZE, &flag);
        value = get(MPI_WTIME_IS_GLOBAL, &flag);
        CHECK_INT(flag, 1);
    }
    /* the same for a duplicate */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Comm_get_attr(dup, MPI_TAG_UB, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT(*value, upper);
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag));
    CHECK_INT(flag, 1);
    return finish();
}
