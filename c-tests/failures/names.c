/* The functions, their twins for tools, the classes and the macros that programs look for. */
#include "failing.h"

#define TWINS(name) CHECK((void *) MPIX_Comm_##name != NULL && (void *) PMPIX_Comm_##name != NULL)

int main(int argc, char **argv)
{
#if !defined OMPI_HAVE_MPI_EXT || !defined OMPI_HAVE_MPI_EXT_FTMPI || !defined OMPI_HAVE_MPIX_COMM_GET_FAILED || \
    !defined OMPI_HAVE_MPIX_COMM_ACK_FAILED || !defined OMPI_HAVE_MPIX_COMM_FAILURE_ACK || !defined OMPI_HAVE_MPIX_COMM_FAILURE_GET_ACKED || \
    !defined OMPI_HAVE_MPIX_COMM_IS_REVOKED || !defined OMPI_HAVE_MPIX_COMM_REVOKE || !defined OMPI_HAVE_MPIX_COMM_AGREE || \
    !defined OMPI_HAVE_MPIX_COMM_IAGREE || !defined OMPI_HAVE_MPIX_COMM_SHRINK || !defined OMPI_HAVE_MPIX_COMM_ISHRINK
#error mpi-ext.h lacks a macro
#endif
    MPI_Group group;
    MPI_Comm comm, new;
    MPI_Request request;
    int flag = 3, acked = -1, class;
    start_failing(&argc, &argv);
    CHECK(MPIX_ERR_PROC_FAILED == 101 && MPIX_ERR_PROC_FAILED_PENDING == 102 && MPIX_ERR_REVOKED == 103);
    MPI(MPI_Error_class(MPIX_ERR_REVOKED, &class));
    CHECK_INT(class, MPIX_ERR_REVOKED);
    TWINS(agree); TWINS(iagree); TWINS(agree_failed); TWINS(iagree_failed); TWINS(shrink); TWINS(ishrink);
    TWINS(get_failed); TWINS(ack_failed); TWINS(failure_ack); TWINS(failure_get_acked); TWINS(is_revoked); TWINS(revoke);
    /* A tool's calls do the same. */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MPI(PMPIX_Comm_agree(comm, &flag));
    MPI(PMPIX_Comm_iagree(comm, &flag, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 3);
    MPI(PMPIX_Comm_get_failed(comm, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    MPI(PMPIX_Comm_ack_failed(comm, 4, &acked));
    CHECK_INT(acked, 0);
    MPI(PMPIX_Comm_failure_ack(comm));
    MPI(PMPIX_Comm_failure_get_acked(comm, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    MPI(PMPIX_Comm_agree_failed(comm, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    MPI(PMPIX_Comm_revoke(comm));
    MPI(PMPIX_Comm_is_revoked(comm, &flag));
    CHECK_INT(flag, 1);
    MPI(PMPIX_Comm_shrink(comm, &new));
    MPI(MPI_Comm_free(&new));
    MPI(PMPIX_Comm_ishrink(comm, &new, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(PMPIX_Comm_iagree_failed(comm, &group, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Barrier(new));
    MPI(MPI_Comm_free(&new));
    MPI(MPI_Comm_free(&comm));
    return finish();
}
