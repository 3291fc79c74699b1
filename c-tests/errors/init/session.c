/* Wrong arguments of the functions of sessions, before MPI_Init. */
#include "wrong.h"

static int calls;

static void handler(MPI_Session *session, int *code, ...)
{
    (void) session;
    (void) code;
    calls++;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
}

int main(int argc, char **argv)
{
    MPI_Session session, other, null = MPI_SESSION_NULL, stale;
    MPI_Group group, empty = MPI_GROUP_EMPTY;
    MPI_Comm comm;
    MPI_Info info, gone;
    MPI_Errhandler errhandler, of_comms;
    char name[MPI_MAX_PSET_NAME_LEN];
    int n, length = sizeof name, flag;
    (void) argc;
    watchdog(argv[0]);
    /* Without a session there is no handler but the fatal one, so this one is opened first. */
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, "errors", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI(MPI_Comm_rank(comm, &rank));
    MPI(MPI_Comm_size(comm, &size));

    ERROR(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "npset_names", NULL);
    MPI(MPI_Info_create(&info));
    gone = info;
    MPI(MPI_Info_free(&info));
    ERROR(MPI_Session_get_num_psets(session, gone, &n), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 100, &length, name), MPI_ERR_ARG, "n", "100");
    ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, NULL, name), MPI_ERR_ARG, "pset_len", NULL);
    ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_ERR_ARG, "pset_name", NULL);
    ERROR(MPI_Session_get_pset_info(session, "no such set", &info), MPI_ERR_ARG, "pset_name", "no such set");
    ERROR(MPI_Session_get_pset_info(session, NULL, &info), MPI_ERR_ARG, "pset_name", NULL);
    ERROR(MPI_Session_get_pset_info(session, "mpi://SELF", NULL), MPI_ERR_ARG, "info", NULL);
    ERROR(MPI_Session_get_info(session, NULL), MPI_ERR_ARG, "info", NULL);
    ERROR(MPI_Group_from_session_pset(session, "no such set", &empty), MPI_ERR_ARG, "pset_name", "no such set");
    ERROR(MPI_Group_from_session_pset(session, "mpi://SELF", NULL), MPI_ERR_ARG, "newgroup", NULL);
    /* all members are wrong in the same way */
    ERROR(MPI_Comm_create_from_group(group, "errors", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG, "newcomm", NULL);

    /* the session's handler, also its own function */
    MPI(MPI_Session_create_errhandler(handler, &errhandler));
    MPI(MPI_Session_set_errhandler(session, errhandler));
    MPI(MPI_Errhandler_free(&errhandler));
    ERROR(MPI_Session_get_pset_info(session, "no such set", &info), MPI_ERR_ARG, "pset_name", NULL);
    CHECK_INT(calls, 1);
    MPI(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK_INT(calls, 2);
    MPI(MPI_Session_get_errhandler(session, &errhandler));
    CHECK(errhandler != MPI_ERRORS_RETURN);
    MPI(MPI_Errhandler_free(&errhandler));
    MPI(MPI_Comm_create_errhandler(on_comm, &of_comms));
    ERROR(MPI_Session_set_errhandler(session, of_comms), MPI_ERR_ERRHANDLER, NULL, NULL);
    CHECK_INT(calls, 3);

    /* errors of no session need the world */
    MPI(MPI_Init(NULL, NULL));
    return_errors();
    ERROR(MPI_Session_init(MPI_INFO_NULL, of_comms, &other), MPI_ERR_ERRHANDLER, NULL, NULL);
    ERROR(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG, "session", NULL);
    ERROR(MPI_Session_init(gone, MPI_ERRORS_RETURN, &other), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Session_finalize(NULL), MPI_ERR_ARG, "session", NULL);
    ERROR(MPI_Session_finalize(&null), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_get_num_psets(null, MPI_INFO_NULL, &n), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Group_from_session_pset(null, "mpi://SELF", &empty), MPI_ERR_SESSION, "session", NULL);
    MPI(MPI_Errhandler_free(&of_comms));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Group_free(&group));
    stale = session;
    MPI(MPI_Session_finalize(&session));
    ERROR(MPI_Session_finalize(&stale), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_get_info(stale, &info), MPI_ERR_SESSION, "session", NULL);
    MPI(MPI_Initialized(&flag));
    CHECK_INT(flag, 1);
    return finish();
}
