/* Peers that nobody has spoken to before the process has been outside: a session in which nothing is sent, then one with messages between
 * all, then MPI_Init. */
#include "check.h"

static void all_to_all(MPI_Comm comm)
{
    int me, n, got;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &n));
    for (int distance = 0; distance < n; distance++) {
        int to = (me + distance) % n, from = (me + n - distance) % n;
        MPI(MPI_Sendrecv(&me, 1, MPI_INT, to, distance, &got, 1, MPI_INT, from, distance, comm, MPI_STATUS_IGNORE));
        CHECK_INT(got, from);
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    watchdog(argv[0]);
    for (int round = 0; round < 2; round++) {
        MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        if (round == 1) {
            MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
            MPI(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
            MPI(MPI_Group_free(&group));
            MPI(MPI_Barrier(comm));
            if (argc > 1)
                all_to_all(comm);
            MPI(MPI_Comm_free(&comm));
        }
        MPI(MPI_Session_finalize(&session));
    }
    start(&argc, &argv);
    all_to_all(MPI_COMM_WORLD);
    return finish();
}
