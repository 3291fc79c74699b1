/* Wrong arguments of the attribute and keyval functions; predefined ones cannot be changed. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int keyval, type_keyval, flag, invalid = MPI_KEYVAL_INVALID, predefined = MPI_TAG_UB, stale, data = 1;
    void *value;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL), MPI_ERR_ARG, "comm_keyval", NULL);
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    MPI(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL));
    ERROR(MPI_Comm_set_attr(MPI_COMM_NULL, keyval, &data), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, type_keyval, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_get_attr(MPI_COMM_NULL, keyval, &value, &flag), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_get_attr(MPI_COMM_WORLD, type_keyval, &value, &flag), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, NULL, &flag), MPI_ERR_ARG, "attribute_val", NULL);
    ERROR(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Comm_delete_attr(MPI_COMM_NULL, keyval), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_free_keyval(NULL), MPI_ERR_ARG, "comm_keyval", NULL);
    ERROR(MPI_Comm_free_keyval(&invalid), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_free_keyval(&predefined), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Comm_free_keyval(&type_keyval), MPI_ERR_KEYVAL, "keyval", NULL);
    stale = keyval;
    MPI(MPI_Comm_free_keyval(&keyval));
    if (!reference)
        ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, stale, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    (void) stale;
    MPI(MPI_Type_free_keyval(&type_keyval));
    ERROR(MPI_Attr_put(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Attr_get(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Attr_delete(MPI_COMM_WORLD, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Keyval_free(&invalid), MPI_ERR_KEYVAL, "keyval", NULL);
    return finish();
}
