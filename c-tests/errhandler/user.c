/* User error handlers: called once for each error with the communicator and the code, inherited by dup, alive after their
 * handle is freed, replaced by set; the call returns the code when the handler returns. */
#include "check.h"

static int calls, code_seen;
static MPI_Comm comm_seen;

static void handler(MPI_Comm *comm, int *code, ...)
{
    calls++;
    comm_seen = *comm;
    code_seen = *code;
}

static void another(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
    calls += 100;
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler, other, found, old;
    MPI_Comm dup;
    int code, value = 0;
    start(&argc, &argv);
    MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old));
    CHECK(old == MPI_ERRORS_ARE_FATAL);
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_create_errhandler(another, &other));
    CHECK(errhandler != other && errhandler != MPI_ERRHANDLER_NULL);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));
    MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == errhandler);
    MPI(MPI_Errhandler_free(&found));
    CHECK(found == MPI_ERRHANDLER_NULL);

    code = MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_RANK);
    CHECK_INT(calls, 1);
    CHECK(comm_seen == MPI_COMM_WORLD);
    CHECK_CLASS(code_seen, MPI_ERR_RANK);
    CHECK_INT(code_seen, code);

    /* inherited, and its own from then on */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    code = MPI_Recv(&value, -1, MPI_INT, 0, 0, dup, MPI_STATUS_IGNORE);
    CHECK_CLASS(code, MPI_ERR_COUNT);
    CHECK_INT(calls, 2);
    CHECK(comm_seen == dup);
    MPI(MPI_Comm_set_errhandler(dup, other));
    MPI(MPI_Errhandler_free(&other));
    CHECK(other == MPI_ERRHANDLER_NULL);
    code = MPI_Send(&value, 1, MPI_INT, 0, -5, dup);
    CHECK_CLASS(code, MPI_ERR_TAG);
    CHECK_INT(calls, 102);
    code = MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    CHECK_INT(calls, 103);

    /* called by hand */
    MPI(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    CHECK_INT(calls, 104);
    CHECK_INT(code_seen, MPI_ERR_OTHER);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    CHECK_INT(calls, 104);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_INT(calls, 104);
    MPI(MPI_Errhandler_free(&errhandler));
    /* an error in a request is the communicator's of that request */
    MPI_Request request;
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    int big[4] = {1, 2, 3, 4};
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_set_errhandler(dup, errhandler));
    MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 1, dup, &request));
    MPI(MPI_Send(big, 4, MPI_INT, rank, 1, dup));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    if (!reference) { /* not always there */
        CHECK_INT(calls, 105);
        CHECK(comm_seen == dup);
    }
    MPI(MPI_Errhandler_free(&errhandler));
    MPI(MPI_Comm_free(&dup));
    return finish();
}
