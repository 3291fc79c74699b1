/* An MPI call in a callback raises its own error, once and with its own name; the call around it raises what the callback returns, once. */
#include "check.h"

static int raised, depth, names;
static MPI_Comm quiet;

static void handler(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void) comm;
    raised++;
    MPI(MPI_Error_string(*code, text, &length));
    names += strstr(text, depth ? "MPI_Send" : "MPI_Comm_dup") != NULL;
}

/* Its send fails at the handler of `comm`; another one on a communicator whose handler returns is raised nowhere. */
static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) keyval, (void) in, (void) out;
    *flag = 0;
    depth++;
    int code = MPI_Send(&comm, 1, MPI_INT, 0, -5, comm);
    CHECK_CLASS(code, MPI_ERR_TAG);
    CHECK_INT(raised, 1);
    CHECK_CLASS(MPI_Send(&comm, 1, MPI_INT, 99, 0, quiet), MPI_ERR_RANK);
    CHECK_INT(raised, 1);
    depth--;
    return *(int *) extra ? code : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, new;
    MPI_Errhandler errhandler;
    int keyval, fails = 0;
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &quiet));
    MPI(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_set_errhandler(comm, errhandler));
    MPI(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, &fails));
    MPI(MPI_Comm_set_attr(comm, keyval, NULL));
    /* The callback goes on: only its call has failed. */
    MPI(MPI_Comm_dup(comm, &new));
    CHECK_INT(raised, 1);
    CHECK(names == 1 || reference);
    MPI(MPI_Comm_free(&new));
    /* The callback gives up: both calls have failed. */
    raised = names = 0;
    fails = 1;
    int code = MPI_Comm_dup(comm, &new);
    CHECK(code != MPI_SUCCESS);
    CHECK_INT(raised, 2);
    MPI(MPI_Comm_delete_attr(comm, keyval));
    MPI(MPI_Comm_free_keyval(&keyval));
    MPI(MPI_Errhandler_free(&errhandler));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_free(&quiet));
    return finish();
}
