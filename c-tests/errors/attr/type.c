/* Wrong arguments of the attribute functions of datatypes, and null results of the deprecated functions. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int keyval, comm_keyval, flag, data = 1, invalid = MPI_KEYVAL_INVALID;
    void *value;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL));
    ERROR(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL, NULL), MPI_ERR_ARG, "type_keyval", NULL);
    ERROR(MPI_Type_set_attr(MPI_DATATYPE_NULL, keyval, &data), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Type_set_attr(MPI_INT, comm_keyval, &data), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Type_get_attr(MPI_DATATYPE_NULL, keyval, &value, &flag), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_attr(MPI_INT, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Type_get_attr(MPI_INT, keyval, NULL, &flag), MPI_ERR_ARG, "attribute_val", NULL);
    ERROR(MPI_Type_get_attr(MPI_INT, keyval, &value, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Type_delete_attr(MPI_DATATYPE_NULL, keyval), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_delete_attr(MPI_INT, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Type_free_keyval(&invalid), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Type_free_keyval(&comm_keyval), MPI_ERR_KEYVAL, "keyval", NULL);
    MPI(MPI_Type_free_keyval(&keyval));
    MPI(MPI_Comm_free_keyval(&comm_keyval));
    ERROR(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, NULL, NULL), MPI_ERR_ARG, "keyval", NULL);
    return finish();
}
