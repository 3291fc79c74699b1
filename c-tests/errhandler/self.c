/* Errors that belong to no communicator go to the handler of MPI_COMM_SELF (MPI 4.0, section 9.3). */
#include "check.h"

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) code;
    CHECK(*comm == MPI_COMM_SELF || reference);
    calls++;
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    MPI_Info info = MPI_INFO_NULL;
    int count;
    start(&argc, &argv);
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler));
    if (reference) /* MPICH 4.0.2 asks the handler of the world */
        MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));
    CHECK(MPI_Info_get_nkeys(info, &count) != MPI_SUCCESS);
    if (!reference)
        CHECK_INT(calls, 1);
    CHECK(calls > 0);
    calls = 0;
    CHECK(MPI_Comm_rank(MPI_COMM_NULL, &count) != MPI_SUCCESS);
    CHECK_INT(calls, 1);
    MPI(MPI_Errhandler_free(&errhandler));
    return finish();
}
