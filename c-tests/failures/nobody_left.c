/* All processes that could send are dead, and acknowledged: a receive or probe from any source gives MPIX_ERR_PROC_FAILED, and a request is complete
 * then. The communicator is an intercommunicator whose remote group dies. args: how they die. */
#include "failing.h"

int main(int argc, char **argv)
{
    MPI_Comm half, inter, left = MPI_COMM_NULL;
    MPI_Request request, pending;
    MPI_Message message;
    int x, flag, code, failed, acked;
    start_failing(&argc, &argv);
    int high = rank >= size / 2, dead = size - size / 2;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, high, 0, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : size / 2, 3, &inter));
    MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    MPI(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, &pending));
    before_deaths(MPI_COMM_WORLD, high);
    if (high) {
        if (!strcmp(argv[1], "exit"))
            _exit(0);
        raise(SIGKILL);
    }
    PENDING(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    CHECK(pending != MPI_REQUEST_NULL);
    for (failed = 0; failed < dead; usleep(1000)) {
        MPI_Group group;
        MPI(MPIX_Comm_get_failed(inter, &group));
        MPI(MPI_Group_size(group, &failed));
        if (group != MPI_GROUP_EMPTY)
            MPI(MPI_Group_free(&group));
    }
    MPI(MPIX_Comm_ack_failed(inter, dead, &acked));
    CHECK_INT(acked, dead);
    FAILED(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    CHECK(pending == MPI_REQUEST_NULL);
    FAILED(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
    FAILED(MPI_Probe(MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
    FAILED(MPI_Mprobe(MPI_ANY_SOURCE, 1, inter, &message, MPI_STATUS_IGNORE));
    MPI(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, &request));
    for (code = MPI_SUCCESS, flag = 0; code == MPI_SUCCESS && !flag;)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    FAILED(code);
    CHECK(request == MPI_REQUEST_NULL);
    /* The flag is the remote group's, of which nobody is left; all failures are acknowledged. */
    flag = 6;
    MPI(MPIX_Comm_agree(inter, &flag));
    FAILED(MPIX_Comm_shrink(inter, &left));
    CHECK(left == MPI_COMM_NULL);
    MPI(MPIX_Comm_ishrink(inter, &left, &request));
    FAILED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(left == MPI_COMM_NULL);
    /* The local group works. */
    MPI(MPI_Barrier(half));
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
    return finish();
}
