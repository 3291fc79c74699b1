/* A call that names a dead process gives MPIX_ERR_PROC_FAILED: blocking at once, nonblocking when it completes, and the request is complete then.
 * Calls among the living succeed. args: how the last rank dies. */
#include "failing.h"

static char big[1 << 20];

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Comm w = MPI_COMM_WORLD;
    int x = 0, next, flag, code;
    start_failing(&argc, &argv);
    last_dies(argv[1]);

    FAILED(MPI_Recv(&x, 1, MPI_INT, last, 0, w, MPI_STATUS_IGNORE));
    FAILED(MPI_Probe(last, 0, w, MPI_STATUS_IGNORE));
    FAILED(MPI_Mprobe(last, 0, w, &message, MPI_STATUS_IGNORE));
    FAILED(MPI_Ssend(&x, 1, MPI_INT, last, 0, w));
    FAILED(MPI_Send(big, sizeof big, MPI_CHAR, last, 0, w));
    FAILED(MPI_Sendrecv(&x, 1, MPI_INT, last, 0, &x, 1, MPI_INT, last, 0, w, MPI_STATUS_IGNORE));
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Iprobe(last, 0, w, &flag, MPI_STATUS_IGNORE);
    FAILED(code);

    /* Never at the start. */
    MPI(MPI_Irecv(&x, 1, MPI_INT, last, 0, w, &request));
    FAILED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
    MPI(MPI_Issend(&x, 1, MPI_INT, last, 0, w, &request));
    FAILED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
    MPI(MPI_Irecv(&x, 1, MPI_INT, last, 0, w, &request));
    for (code = MPI_SUCCESS, flag = 0; code == MPI_SUCCESS && !flag;)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    FAILED(code);
    CHECK(request == MPI_REQUEST_NULL);

    /* The communicator is the same for the others. */
    if (last > 1) {
        int left = (rank + last - 1) % last;
        next = (rank + 1) % last;
        MPI(MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &x, 1, MPI_INT, left, 1, w, MPI_STATUS_IGNORE));
        CHECK_INT(x, left);
    }
    CHECK_INT(failed_of(w), 1 << last);
    return finish();
}
