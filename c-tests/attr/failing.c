/* Callbacks that fail: the call fails and its effect does not happen. */
#include "check.h"

static int fail = 1, deletes;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) keyval, (void) extra;
    *(void **) out = in;
    *flag = 1;
    return fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) value, (void) extra;
    deletes++;
    return fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval, flag, code;
    void *value;
    MPI_Comm dup, other = MPI_COMM_NULL;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Comm_create_keyval(copy, delete, &keyval, NULL));
    MPI(MPI_Comm_set_attr(dup, keyval, &fail));
    code = MPI_Comm_delete_attr(dup, keyval);
    CHECK(code != MPI_SUCCESS);
    MPI(MPI_Comm_get_attr(dup, keyval, &value, &flag));
    CHECK_INT(flag, 1);
    code = MPI_Comm_set_attr(dup, keyval, &deletes);
    CHECK(code != MPI_SUCCESS);
    other = MPI_COMM_SELF;
    code = MPI_Comm_dup(dup, &other);
    CHECK(code != MPI_SUCCESS);
    CHECK(other == MPI_COMM_NULL);
    fail = 0;
    MPI(MPI_Barrier(dup));
    MPI(MPI_Comm_dup(dup, &other));
    MPI(MPI_Comm_free(&other));
    MPI(MPI_Comm_free(&dup));
    CHECK_INT(deletes, 4);
    MPI(MPI_Comm_free_keyval(&keyval));
    return finish();
}
