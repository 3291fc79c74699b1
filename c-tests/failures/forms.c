/* Each form of a call that names a dead process: none fails at its start, the call that completes the request has MPIX_ERR_PROC_FAILED, and the
 * request is complete or, if it is persistent, inactive. Of several requests the others succeed. args: how the last rank dies. */
#include "failing.h"

static char big[1 << 20], in[1 << 20];
static MPI_Comm w;

/* Completes a request, in turns by each call that can. */
static void fails(MPI_Request *request, int persistent)
{
    static int turn;
    MPI_Status statuses[2];
    int index = -1, flag = 0, count = 0, indices[2], code = MPI_SUCCESS, by_status = 0;
    MPI_Request requests[2] = {*request, MPI_REQUEST_NULL};
    switch (turn++ % 8) {
    case 0: code = MPI_Wait(requests, &statuses[0]); break;
    case 1: while (!code && !flag) code = MPI_Test(requests, &flag, &statuses[0]); break;
    case 2: code = MPI_Waitany(2, requests, &index, &statuses[0]); CHECK_INT(index, 0); break;
    case 3: while (!code && !flag) code = MPI_Testany(2, requests, &index, &flag, &statuses[0]); CHECK_INT(index, 0); break;
    case 4: code = MPI_Waitall(2, requests, statuses); by_status = 1; break;
    case 5: while (!code && !flag) code = MPI_Testall(2, requests, &flag, statuses); by_status = 1; break;
    case 6: code = MPI_Waitsome(2, requests, &count, indices, statuses); by_status = 1; CHECK(count == 1 && indices[0] == 0); break;
    case 7: while (!code && !count) code = MPI_Testsome(2, requests, &count, indices, statuses); by_status = 1; CHECK(count == 1 && indices[0] == 0); break;
    }
    if (by_status) {
        CHECK_INT(code, MPI_ERR_IN_STATUS);
        code = statuses[0].MPI_ERROR;
    }
    FAILED(code);
    *request = requests[0];
    CHECK((*request == MPI_REQUEST_NULL) == !persistent);
    if (persistent) {
        /* It is inactive, and can be started again. */
        MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
        MPI(MPI_Start(request));
        FAILED(MPI_Wait(request, MPI_STATUS_IGNORE));
        MPI(MPI_Startall(1, request));
        FAILED(MPI_Wait(request, MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(request));
    }
}

#define EACH(call) do { for (int n_ = 0; n_ < 8; n_++) { MPI_Request request; MPI(call); fails(&request, 0); } } while (0)
#define PERSISTENT(call) do { for (int n_ = 0; n_ < 8; n_++) { MPI_Request request; MPI(call); MPI(MPI_Start(&request)); fails(&request, 1); } } while (0)

int main(int argc, char **argv)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Message message;
    int code, flag;
    start_failing(&argc, &argv);
    w = MPI_COMM_WORLD;
    last_is_dead(argv[1]);
    EACH(MPI_Irecv(in, 1, MPI_CHAR, last, 0, w, &request));
    EACH(MPI_Irecv(in, sizeof in, MPI_CHAR, last, MPI_ANY_TAG, w, &request));
    EACH(MPI_Issend(big, 1, MPI_CHAR, last, 0, w, &request));
    EACH(MPI_Isend(big, sizeof big, MPI_CHAR, last, 0, w, &request));
    EACH(MPI_Isendrecv(big, 1, MPI_CHAR, last, 0, in, 1, MPI_CHAR, last, 0, w, &request));
    EACH(MPI_Isendrecv(big, 1, MPI_CHAR, MPI_PROC_NULL, 0, in, 1, MPI_CHAR, last, 0, w, &request));
    EACH(MPI_Isendrecv_replace(big, 100, MPI_CHAR, last, 0, last, 0, w, &request));
    PERSISTENT(MPI_Recv_init(in, 1, MPI_CHAR, last, 0, w, &request));
    PERSISTENT(MPI_Ssend_init(big, 1, MPI_CHAR, last, 0, w, &request));
    PERSISTENT(MPI_Send_init(big, sizeof big, MPI_CHAR, last, 0, w, &request));
    FAILED(MPI_Sendrecv_replace(big, 100, MPI_CHAR, last, 0, last, 0, w, MPI_STATUS_IGNORE));
    FAILED(MPI_Sendrecv(big, sizeof big, MPI_CHAR, last, 0, in, 1, MPI_CHAR, MPI_PROC_NULL, 0, w, MPI_STATUS_IGNORE));
    int other = last > 1 ? (rank + 1) % last : rank, from = last > 1 ? (rank + last - 1) % last : rank;
    /* The receive succeeds: the error is that of the send. */
    MPI(MPI_Isend(big, 8, MPI_CHAR, other, 8, w, &requests[0]));
    FAILED(MPI_Sendrecv(big, sizeof big, MPI_CHAR, last, 0, in, 8, MPI_CHAR, from, 8, w, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (code = MPI_SUCCESS; code == MPI_SUCCESS;)
        code = MPI_Improbe(last, 0, w, &flag, &message, MPI_STATUS_IGNORE);
    FAILED(code);

    /* What could leave has left: such a send may succeed; its buffer is the program's in any case. */
    static char attached[1000 + MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    MPI(MPI_Buffer_attach(attached, sizeof attached));
    code = MPI_Bsend(big, 100, MPI_CHAR, last, 0, w);
    CHECK(code == MPI_SUCCESS || check_class_of(code) == MPIX_ERR_PROC_FAILED);
    MPI(MPI_Buffer_detach(&detached, &bytes));
    code = MPI_Send(big, 1, MPI_CHAR, last, 0, w);
    CHECK(code == MPI_SUCCESS || check_class_of(code) == MPIX_ERR_PROC_FAILED);

    /* A request that is freed before it is complete is of no interest; one that is cancelled completes. */
    MPI(MPI_Isend(big, sizeof big, MPI_CHAR, last, 0, w, &requests[0]));
    MPI(MPI_Request_free(&requests[0]));
    MPI(MPI_Irecv(in, 1, MPI_CHAR, last, 0, w, &requests[0]));
    MPI(MPI_Cancel(&requests[0]));
    MPI(MPI_Wait(&requests[0], &statuses[0]));
    MPI(MPI_Test_cancelled(&statuses[0], &flag));
    CHECK_INT(flag, 1);

    /* Those that need no dead process succeed beside one that does. */
    MPI(MPI_Irecv(in, 1, MPI_CHAR, last, 5, w, &requests[0]));
    MPI(MPI_Irecv(in + 8, 8, MPI_CHAR, from, 6, w, &requests[1]));
    MPI(MPI_Isend(big, 8, MPI_CHAR, other, 6, w, &requests[2]));
    MPI(MPI_Irecv(in + 16, 8, MPI_CHAR, MPI_PROC_NULL, 6, w, &requests[3]));
    CHECK_INT(MPI_Waitall(4, requests, statuses), MPI_ERR_IN_STATUS);
    FAILED(statuses[0].MPI_ERROR);
    for (int i = 1; i < 4; i++)
        CHECK(statuses[i].MPI_ERROR == (requests[i] == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_ERR_PENDING));
    MPI(MPI_Waitall(3, requests + 1, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    CHECK(!memcmp(in + 8, big, 8));
    return finish();
}
