/* Keyval_create, Attr_put, Attr_get, Attr_delete, Keyval_free of MPI-1, with MPI_DUP_FN and MPI_NULL_COPY_FN. */
#include "check.h"

static int deletes;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) value, (void) extra;
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval, other, flag, data = 5, *value;
    MPI_Comm dup;
    start(&argc, &argv);
    MPI(MPI_Keyval_create(MPI_DUP_FN, delete, &keyval, NULL));
    MPI(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &other, NULL));
    MPI(MPI_Attr_put(MPI_COMM_WORLD, keyval, &data));
    MPI(MPI_Attr_put(MPI_COMM_WORLD, other, &data));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Attr_get(dup, keyval, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(value == &data);
    MPI(MPI_Attr_get(dup, other, &value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Comm_free(&dup));
    CHECK_INT(deletes, 1);
    MPI(MPI_Attr_delete(MPI_COMM_WORLD, keyval));
    CHECK_INT(deletes, 2);
    MPI(MPI_Attr_delete(MPI_COMM_WORLD, other));
    MPI(MPI_Keyval_free(&keyval));
    CHECK_INT(keyval, MPI_KEYVAL_INVALID);
    MPI(MPI_Keyval_free(&other));
    return finish();
}
