/* Attributes of datatypes, cached on a predefined one. */
#include "check.h"

static int deletes;

static int delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) keyval, (void) value, (void) extra;
    CHECK(type == MPI_INT);
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval, flag, data = 5, *value;
    start(&argc, &argv);
    MPI(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete, &keyval, NULL));
    MPI(MPI_Type_get_attr(MPI_INT, keyval, &value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Type_set_attr(MPI_INT, keyval, &data));
    MPI(MPI_Type_get_attr(MPI_INT, keyval, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(value == &data);
    MPI(MPI_Type_delete_attr(MPI_INT, keyval));
    CHECK_INT(deletes, 1);
    MPI(MPI_Type_free_keyval(&keyval));
    CHECK_INT(keyval, MPI_KEYVAL_INVALID);
    return finish();
}
