/* Attributes and names of derived types: MPI_Type_dup asks the copy callbacks, MPI_Type_free the delete callbacks; a failing one
 * leaves the type as it is.
 */
#include "check.h"

static int copies, deletes, refuse;

static int copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) type, (void) keyval;
    CHECK(extra == &copies);
    copies++;
    if (refuse)
        return MPI_ERR_OTHER;
    *(int **) out = (int *) in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) type, (void) keyval, (void) value;
    CHECK(extra == &copies);
    deletes++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Datatype type, again, made;
    int keyval, shared, flag, numbers[4] = {10, 11, 12, 13}, *value, length;
    char name[MPI_MAX_OBJECT_NAME] = "?";
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Type_create_keyval(copy, delete, &keyval, &copies));
    MPI(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &shared, NULL));
    MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    MPI(MPI_Type_get_name(type, name, &length));
    CHECK_STRING(name, "");
    MPI(MPI_Type_set_name(type, "every second"));
    MPI(MPI_Type_set_attr(type, keyval, &numbers[0]));
    MPI(MPI_Type_set_attr(type, shared, &numbers[3]));
    MPI(MPI_Type_contiguous(2, type, &made)); /* gets none */
    MPI(MPI_Type_get_attr(made, keyval, &value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Type_dup(type, &again));
    CHECK_INT(copies, 1);
    MPI(MPI_Type_get_attr(again, keyval, &value, &flag));
    CHECK(flag && value == &numbers[1]);
    MPI(MPI_Type_get_attr(again, shared, &value, &flag));
    CHECK(flag && value == &numbers[3]);
    MPI(MPI_Type_get_name(type, name, &length));
    CHECK_STRING(name, "every second");
    CHECK_INT(length, strlen(name));
    MPI(MPI_Type_get_name(again, name, &length));
    if (!reference)
        CHECK_STRING(name, "");
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_free(&again));
    CHECK_INT(deletes, 1);
    refuse = 1;
    again = MPI_DATATYPE_NULL;
    CHECK_CLASS(MPI_Type_dup(type, &again), MPI_ERR_OTHER);
    if (!reference) { /* which frees it all the same */
        MPI_Datatype kept = type;
        CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_OTHER);
        CHECK(type == kept);
        MPI(MPI_Type_get_attr(type, keyval, &value, &flag));
        CHECK(flag && value == &numbers[0]);
    }
    refuse = 0;
    deletes = 0;
    MPI(MPI_Type_free(&type));
    if (!reference) /* where the failing copy took it away */
        CHECK_INT(deletes, 1);
    MPI(MPI_Type_free(&made));
    MPI(MPI_Type_free_keyval(&keyval));
    MPI(MPI_Type_free_keyval(&shared));
    MPI(MPI_Type_get_name(MPI_INT, name, &length));
    CHECK_STRING(name, "MPI_INT");
    return finish();
}
