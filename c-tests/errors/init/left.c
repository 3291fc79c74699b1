/* A rank closes its session and ends; the others want to make a communicator with it: an error, for nobody waits for ever. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    (void) argc;
    watchdog(argv[0]);
    rank = atoi(getenv("MPI_LOCALRANKID"));
    size = atoi(getenv("MPI_LOCALNRANKS"));
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    /* all are there */
    MPI(MPI_Comm_create_from_group(group, "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI(MPI_Barrier(comm));
    MPI(MPI_Comm_free(&comm));
    if (rank != size - 1)
        ERROR(MPI_Comm_create_from_group(group, "second", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_OTHER, NULL, NULL);
    MPI(MPI_Group_free(&group));
    MPI(MPI_Session_finalize(&session));
    return conclude();
}
