/* args: letters. A process that leaves sessions open ends with the exit code that it wants, and mpiexec says in one line what is open.
 *   i  MPI_Init first             f  MPI_Finalize at the end
 *   2  a second session           c  a communicator of the session, never freed
 *   e  exit() in the session's error handler      b  exit() in a delete callback of MPI_Finalize
 *   x  _exit(): no exit handler is run            l  the last rank is killed: MPI_Finalize fails
 *   3  the exit code is 3 */
#include "check.h"
#include <signal.h>

static int code;

static void leave(void)
{
    if (conclude())
        code = 95;
    exit(code);
}

static void handler(MPI_Session *session, int *error, ...)
{
    (void) session, (void) error;
    leave();
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) value, (void) extra;
    leave();
    return MPI_SUCCESS;
}

static MPI_Comm everybody(MPI_Session session)
{
    MPI_Group group;
    MPI_Comm all;
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Comm_rank(all, &rank));
    MPI(MPI_Comm_size(all, &size));
    return all;
}

int main(int argc, char **argv)
{
    const char *letters = argc > 1 ? argv[1] : "if";
    int keyval, error;
    MPI_Session session, second;
    MPI_Errhandler errhandler;
    MPI_Comm all;
#define HAS(letter) (strchr(letters, letter) != NULL)
    watchdog(argv[0]);
    code = HAS('3') ? 3 : 0;
    if (HAS('i'))
        start(&argc, &argv);
    MPI(MPI_Session_create_errhandler(handler, &errhandler));
    MPI(MPI_Session_init(MPI_INFO_NULL, HAS('e') ? errhandler : MPI_ERRORS_RETURN, &session));
    if (HAS('2'))
        MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
    all = everybody(session);
    MPI(MPI_Barrier(all));
    if (!HAS('c'))
        MPI(MPI_Comm_free(&all));
    if (HAS('b')) {
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyval, NULL));
        MPI(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
    }
    if (HAS('l')) {
        return_errors();
        if (rank == size - 1)
            raise(SIGKILL);
        /* The session is not what is left open. */
        MPI(MPI_Session_finalize(&session));
    }
    if (HAS('f')) {
        error = MPI_Finalize();
        CHECK((error != MPI_SUCCESS) == HAS('l'));
    }
    if (HAS('e'))
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &error, NULL);
    if (HAS('x')) {
        conclude();
        _exit(code);
    }
    leave();
    return 0;
}
