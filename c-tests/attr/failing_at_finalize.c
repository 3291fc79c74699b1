/* args: 0 MPI_ERRORS_RETURN, 1 a handler of our own, 2 MPI_ERRORS_ARE_FATAL. A delete callback fails in MPI_Finalize: the handler is
 * called once, the other attributes are deleted, MPI ends, and MPI_Finalize returns the error. */
#include "check.h"

static int deleted, handled;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) extra;
    deleted++;
    return *(int *) value ? MPI_ERR_KEYVAL : MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int class_ = -1;
    CHECK(*comm == MPI_COMM_SELF || reference);
    MPI_Error_class(*code, &class_);
    CHECK(class_ == MPI_ERR_KEYVAL || reference);
    handled++;
}

int main(int argc, char **argv)
{
    static int fails[3] = {0, 1, 0};
    int kind = argc > 1 ? atoi(argv[1]) : 0, code, class_ = -1, flag = -1, keyval;
    MPI_Errhandler errhandler = MPI_ERRORS_RETURN;
    start(&argc, &argv);
    if (kind == 1)
        MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    for (int i = 0; i < 3; i++) {
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyval, NULL));
        MPI(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &fails[i]));
    }
    if (kind < 2) {
        MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler));
        MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));
    }
    code = MPI_Finalize();
    CHECK(code != MPI_SUCCESS);
    MPI(MPI_Error_class(code, &class_));
    /* MPICH makes MPI_ERR_OTHER of it and gives up the rest. */
    if (!reference) {
        CHECK_INT(class_, MPI_ERR_KEYVAL);
        CHECK_INT(deleted, 3);
    }
    CHECK_INT(handled, kind == 1);
    MPI(MPI_Finalized(&flag));
    CHECK_INT(flag, 1);
    return conclude();
}
