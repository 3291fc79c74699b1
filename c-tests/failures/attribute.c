/* MPI_COMM_WORLD's attribute MPIX_FT is true in a program that has the functions for failed processes. Bad arguments are errors. args: its value. */
#include "failing.h"

int main(int argc, char **argv)
{
    int *survives, found = 0, flag = 1;
    MPI_Group group;
    start_failing(&argc, &argv);
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &survives, &found));
    CHECK(found && *survives == atoi(argv[1]));
    CHECK_CLASS(MPIX_Comm_get_failed(MPI_COMM_NULL, &group), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Comm_get_failed(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Comm_failure_ack(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Comm_ack_failed(MPI_COMM_WORLD, -1, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Comm_is_revoked(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Comm_is_revoked(MPI_COMM_NULL, &flag), MPI_ERR_COMM);
    return finish();
}
