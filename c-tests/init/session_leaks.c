/* What the last session of a process leaves: communicators, and no types, which a later session may use. MPI_Finalize, while a session is open, tells of
   nothing. */
#include "../common/check.h"

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MPI(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    MPI(MPI_Comm_create_from_group(group, "left", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Type_contiguous(2, MPI_INT, &type));
    start(&argc, &argv);
    int failures = finish();
    MPI(MPI_Session_finalize(&session));
    return failures;
}
