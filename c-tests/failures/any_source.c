/* A receive or probe from any source, with a failure that is not acknowledged: a blocking one gives MPIX_ERR_PROC_FAILED; a wait for a
 * nonblocking one gives MPIX_ERR_PROC_FAILED_PENDING, and the request stays active and can still match. Once the failure is acknowledged
 * they wait again. Of several requests those that stay active have that error, others that are not complete MPI_ERR_PENDING. */
#include "failing.h"

static MPI_Comm w;
static int x[3];

static MPI_Request any(int tag)
{
    MPI_Request request;
    MPI(MPI_Irecv(&x[0], 1, MPI_INT, MPI_ANY_SOURCE, tag, w, &request));
    return request;
}

static void cancel(MPI_Request *request)
{
    MPI(MPI_Cancel(request));
    MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void blocking(void)
{
    MPI_Message message;
    int flag, code;
    FAILED(MPI_Recv(x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, w, MPI_STATUS_IGNORE));
    FAILED(MPI_Probe(MPI_ANY_SOURCE, 5, w, MPI_STATUS_IGNORE));
    FAILED(MPI_Mprobe(MPI_ANY_SOURCE, 5, w, &message, MPI_STATUS_IGNORE));
    FAILED(MPI_Sendrecv(&x[1], 1, MPI_INT, MPI_PROC_NULL, 0, x, 1, MPI_INT, MPI_ANY_SOURCE, 0, w, MPI_STATUS_IGNORE));
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Iprobe(MPI_ANY_SOURCE, 5, w, &flag, MPI_STATUS_IGNORE);
    FAILED(code);
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Improbe(MPI_ANY_SOURCE, 5, w, &flag, &message, MPI_STATUS_IGNORE);
    FAILED(code);
}

static void one(void)
{
    MPI_Request request = any(1);
    int flag = 1, code;
    PENDING(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request != MPI_REQUEST_NULL);
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    PENDING(code);
    CHECK(!flag && request != MPI_REQUEST_NULL);
    cancel(&request);
}

static void several(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int index, indices[3], count, flag, code;
    requests[0] = any(1);
    MPI(MPI_Irecv(&x[1], 1, MPI_INT, rank, 2, w, &requests[1]));
    MPI(MPI_Irecv(&x[2], 1, MPI_INT, rank, 3, w, &requests[2]));
    MPI(MPI_Send(&rank, 1, MPI_INT, rank, 3, w));
    CHECK_INT(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    PENDING(statuses[0].MPI_ERROR);
    CHECK_INT(statuses[1].MPI_ERROR, MPI_ERR_PENDING);
    CHECK_INT(statuses[2].MPI_ERROR, MPI_SUCCESS);
    CHECK_INT(x[2], rank);
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Testall(2, requests, &flag, statuses);
    CHECK_INT(code, MPI_ERR_IN_STATUS);
    PENDING(statuses[0].MPI_ERROR);
    CHECK_INT(statuses[1].MPI_ERROR, MPI_ERR_PENDING);
    PENDING(MPI_Waitany(2, requests, &index, statuses));
    CHECK_INT(index, 0);
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Testany(2, requests, &index, &flag, statuses);
    PENDING(code);
    CHECK_INT(index, 0);
    CHECK_INT(MPI_Waitsome(2, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK(count == 1 && indices[0] == 0);
    PENDING(statuses[0].MPI_ERROR);
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Testsome(2, requests, &count, indices, statuses);
    CHECK_INT(code, MPI_ERR_IN_STATUS);
    CHECK(count == 1 && indices[0] == 0);
    PENDING(statuses[0].MPI_ERROR);
    /* A message that is there is taken all the same. */
    MPI(MPI_Send(&rank, 1, MPI_INT, rank, 1, w));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(x[0] == rank && requests[0] == MPI_REQUEST_NULL);
    cancel(&requests[1]);
}

/* After the acknowledgement they wait, for a message that comes late. */
static void acknowledged(MPI_Comm living)
{
    MPI_Status status;
    MPI_Request request = any(4);
    PENDING(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* Nobody sends before all have found that. */
    MPI(MPI_Barrier(living));
    MPI(MPIX_Comm_failure_ack(w));
    CHECK_INT(acked_of(w), 1 << last);
    int to = (rank + 1) % last, from = (rank + last - 1) % last;
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            usleep(20000);
        MPI(MPI_Send(&rank, 1, MPI_INT, to, 4 + i, w));
        if (i == 0)
            MPI(MPI_Wait(&request, &status));
        else if (i == 1)
            MPI(MPI_Recv(x, 1, MPI_INT, MPI_ANY_SOURCE, 4 + i, w, &status));
        else {
            MPI(MPI_Probe(MPI_ANY_SOURCE, 4 + i, w, &status));
            MPI(MPI_Recv(x, 1, MPI_INT, status.MPI_SOURCE, 4 + i, w, &status));
        }
        CHECK_INT(status.MPI_SOURCE, from);
        CHECK_INT(x[0], from);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm living;
    start_failing(&argc, &argv);
    w = MPI_COMM_WORLD;
    MPI(MPI_Comm_split(w, rank == last, 0, &living));
    /* Begun before the death. */
    MPI_Request early = rank == last ? MPI_REQUEST_NULL : any(9);
    last_dies(argv[1]);
    PENDING(MPI_Wait(&early, MPI_STATUS_IGNORE));
    MPI(MPI_Send(&rank, 1, MPI_INT, rank, 9, w));
    MPI(MPI_Wait(&early, MPI_STATUS_IGNORE));
    CHECK_INT(x[0], rank);
    blocking();
    one();
    several();
    acknowledged(living);
    MPI(MPI_Comm_free(&living));
    return finish();
}
