/* MPIX_Comm_agree_failed and MPIX_Comm_iagree_failed: all get the group of those who have died, also where some did not know; and agreement once that is acknowledged by all. */
#include "check.h"
#include <signal.h>

int main(int argc, char **argv)
{
    MPI_Group failed, all;
    int first[2], flag = 3, count, places[2] = {0, 1}, victims = 2;
    start(&argc, &argv);
    return_errors();
    MPI(MPIX_Comm_agree_failed(MPI_COMM_WORLD, &failed));
    CHECK(failed == MPI_GROUP_EMPTY);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0 || rank == size - 1)
        kill(getpid(), SIGKILL);
    MPI(MPIX_Comm_agree_failed(MPI_COMM_WORLD, &failed));
    MPI(MPI_Group_size(failed, &count));
    CHECK_INT(count, victims);
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Group_translate_ranks(failed, victims, places, all, first));
    CHECK_INT(first[0], 0);
    CHECK_INT(first[1], size - 1);
    MPI_Request request;
    MPI_Group again = MPI_GROUP_NULL;
    MPI(MPIX_Comm_iagree_failed(MPI_COMM_WORLD, &again, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Group_compare(again, failed, &count));
    CHECK_INT(count, MPI_IDENT);
    /* One that has not acknowledged is enough. */
    if (rank != 1)
        MPI(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    CHECK_INT(check_class_of(MPIX_Comm_agree(MPI_COMM_WORLD, &flag)), MPIX_ERR_PROC_FAILED);
    CHECK_INT(flag, 3);
    MPI(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    MPI(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    CHECK_INT(flag, 3);
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
