/* MPIX_Comm_revoke of communicators with processes of another job: an intercommunicator to children, and a merged one. And of one on which a
 * process waits in MPI_Comm_accept. */
#include "revoked.h"
#include "spawned.h"

static void raises(MPI_Comm comm, int revokes)
{
    int x;
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (revokes) {
        usleep(5000);
        MPI(MPIX_Comm_revoke(comm));
    } else {
        REVOKED(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE));
    }
    REVOKED(MPI_Barrier(comm));
    REVOKED(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 3, comm));
}

int main(int argc, char **argv)
{
    MPI_Comm children, merged, other;
    char *words[] = {"child", NULL}, port[MPI_MAX_PORT_NAME] = "";
    start_family(&argc, &argv);
    MPI_Comm family = is_child ? parent : (children = spawn(MPI_COMM_WORLD, 2, words));
    for (int by = 0; by < 2; by++) {
        MPI(MPI_Intercomm_merge(family, is_child, &merged));
        raises(merged, by == is_child && rank == 0);
        MPI(MPI_Comm_free(&merged));
        MPI(MPI_Comm_dup(family, &other));
        raises(other, by == is_child && rank == size - 1);
        MPI(MPI_Comm_free(&other));
    }
    if (!is_child) {
        part(&children);
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));
        MPI(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
        if (rank == 0)
            MPI(MPI_Open_port(MPI_INFO_NULL, port));
        if (rank == size - 1 && size > 1) {
            usleep(5000);
            MPI(MPIX_Comm_revoke(other));
        } else if (size > 1) {
            REVOKED(MPI_Comm_accept(port, MPI_INFO_NULL, 0, other, &children));
        }
        if (rank == 0)
            MPI(MPI_Close_port(port));
        MPI(MPI_Comm_free(&other));
    }
    return finish_family();
}
