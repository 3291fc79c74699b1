/* MPIX_Comm_revoke while the others are in a call on the communicator: it raises MPIX_ERR_REVOKED, whether the process that has revoked it goes on
 * or dies at once. Afterwards every call that is not local does. Arguments: the call, the communicator, and "stay" or "dies". */
#include "revoked.h"

enum { BYTES = 1 << 20 };
static char *buffer;
static int peer;

/* A request that cannot begin any more ends the call, after those before it. */
#define BEGIN(call, requests, number)                               \
    do {                                                            \
        int code_ = call;                                           \
        if (code_) {                                                \
            for (int i_ = 0; i_ < number; i_++)                     \
                REVOKED(MPI_Wait(&requests[i_], MPI_STATUS_IGNORE)); \
            return code_;                                           \
        }                                                           \
    } while (0)

static int in_recv(MPI_Comm comm)
{
    return MPI_Recv(buffer, 1, MPI_CHAR, peer, 5, comm, MPI_STATUS_IGNORE);
}

static int in_any(MPI_Comm comm)
{
    return MPI_Recv(buffer, 1, MPI_CHAR, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE);
}

static int in_probe(MPI_Comm comm)
{
    return MPI_Probe(peer, 5, comm, MPI_STATUS_IGNORE);
}

static int in_mprobe(MPI_Comm comm)
{
    MPI_Message message;
    return MPI_Mprobe(MPI_ANY_SOURCE, 5, comm, &message, MPI_STATUS_IGNORE);
}

static int in_iprobe(MPI_Comm comm)
{
    int flag = 0, code = MPI_SUCCESS;
    while (!code && !flag)
        code = MPI_Iprobe(peer, 5, comm, &flag, MPI_STATUS_IGNORE);
    return code;
}

static int in_ssend(MPI_Comm comm)
{
    return MPI_Ssend(buffer, 1, MPI_CHAR, peer, 5, comm);
}

static int in_send(MPI_Comm comm)
{
    return MPI_Send(buffer, BYTES, MPI_CHAR, peer, 5, comm);
}

static int in_sendrecv(MPI_Comm comm)
{
    return MPI_Sendrecv(buffer, BYTES, MPI_CHAR, peer, 5, buffer + BYTES, BYTES, MPI_CHAR, peer, 6, comm, MPI_STATUS_IGNORE);
}

static int in_wait(MPI_Comm comm)
{
    MPI_Request request;
    BEGIN(MPI_Irecv(buffer, 1, MPI_CHAR, peer, 5, comm, &request), (&request), 0);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    return code;
}

static int in_waitall(MPI_Comm comm)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    BEGIN(MPI_Irecv(buffer, 1, MPI_CHAR, peer, 5, comm, &requests[0]), requests, 0);
    BEGIN(MPI_Irecv(buffer + 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 6, comm, &requests[1]), requests, 1);
    BEGIN(MPI_Issend(buffer + 2, 1, MPI_CHAR, peer, 7, comm, &requests[2]), requests, 2);
    CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 1; i < 3; i++)
        CHECK_INT(check_class_of(statuses[i].MPI_ERROR), MPIX_ERR_REVOKED);
    return statuses[0].MPI_ERROR;
}

static int in_waitany(MPI_Comm comm)
{
    MPI_Request requests[2];
    int at;
    BEGIN(MPI_Irecv(buffer, 1, MPI_CHAR, peer, 5, comm, &requests[0]), requests, 0);
    BEGIN(MPI_Irecv(buffer + 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 6, comm, &requests[1]), requests, 1);
    int code = MPI_Waitany(2, requests, &at, MPI_STATUS_IGNORE);
    REVOKED(MPI_Wait(&requests[!at], MPI_STATUS_IGNORE));
    return code;
}

static int in_waitsome(MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int at[2], n;
    BEGIN(MPI_Irecv(buffer, 1, MPI_CHAR, peer, 5, comm, &requests[0]), requests, 0);
    BEGIN(MPI_Irecv(buffer + 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 6, comm, &requests[1]), requests, 1);
    CHECK_CLASS(MPI_Waitsome(2, requests, &n, at, statuses), MPI_ERR_IN_STATUS);
    if (n == 1)
        REVOKED(MPI_Wait(&requests[!at[0]], MPI_STATUS_IGNORE));
    return statuses[0].MPI_ERROR;
}

static int in_test(MPI_Comm comm)
{
    MPI_Request request;
    int flag = 0, code = MPI_SUCCESS;
    BEGIN(MPI_Irecv(buffer, 1, MPI_CHAR, peer, 5, comm, &request), (&request), 0);
    while (!code && !flag)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return code;
}

static int in_start(MPI_Comm comm)
{
    MPI_Request request;
    BEGIN(MPI_Recv_init(buffer, 1, MPI_CHAR, peer, 5, comm, &request), (&request), 0);
    MPI(MPI_Start(&request));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* It is not active any more, and raises whenever it is started. */
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Start(&request));
    REVOKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
    return code;
}

static int in_barrier(MPI_Comm comm)
{
    return MPI_Barrier(comm);
}

static int in_allreduce(MPI_Comm comm)
{
    return MPI_Allreduce(buffer, buffer + BYTES, BYTES, MPI_BYTE, MPI_BXOR, comm);
}

static int in_ialltoall(MPI_Comm comm)
{
    MPI_Request request;
    BEGIN(MPI_Ialltoall(buffer, 1, MPI_BYTE, buffer + BYTES, 1, MPI_BYTE, comm, &request), (&request), 0);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int in_ibarrier(MPI_Comm comm)
{
    MPI_Request request;
    int flag = 0, code = MPI_SUCCESS;
    BEGIN(MPI_Ibarrier(comm, &request), (&request), 0);
    while (!code && !flag)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return code;
}

static int in_persistent(MPI_Comm comm)
{
    MPI_Request request;
    int inter;
    MPI(MPI_Comm_test_inter(comm, &inter));
    BEGIN(MPI_Barrier_init(comm, MPI_INFO_NULL, &request), (&request), 0);
    MPI(MPI_Start(&request));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI(MPI_Start(&request));
    REVOKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
    return code;
}

static int in_dup(MPI_Comm comm)
{
    MPI_Comm new[64];
    int code = MPI_SUCCESS, made = 0;
    /* Some are made without a word of the others. */
    while (made < 64) {
        new[made] = MPI_COMM_NULL;
        code = MPI_Comm_dup(comm, &new[made]);
        if (code)
            break;
        made++;
    }
    while (made-- > 0)
        MPI(MPI_Comm_free(&new[made]));
    return code;
}

static int in_split(MPI_Comm comm)
{
    MPI_Comm new = MPI_COMM_NULL;
    int code = MPI_Comm_split(comm, 0, 0, &new);
    CHECK(new == MPI_COMM_NULL);
    return code;
}

static int in_idup(MPI_Comm comm)
{
    MPI_Comm new[64];
    MPI_Request requests[64];
    int code = MPI_SUCCESS;
    for (int i = 0; i < 64 && !code; i++) {
        code = MPI_Comm_idup(comm, &new[i], &requests[i]);
        if (code)
            break;
        code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        if (!code)
            MPI(MPI_Comm_free(&new[i]));
    }
    return code;
}

static int in_win(MPI_Comm comm)
{
    MPI_Win win;
    int inter;
    MPI(MPI_Comm_test_inter(comm, &inter));
    if (inter)
        return MPI_Barrier(comm);
    return MPI_Win_create(buffer, BYTES, 1, MPI_INFO_NULL, comm, &win);
}

static int in_nothing(MPI_Comm comm)
{
    await_revocation(comm);
    return MPI_Barrier(comm);
}

#define CALL(name) {#name, in_##name}
static const struct {
    const char *name;
    int (*in)(MPI_Comm);
} calls[] = {
    CALL(recv), CALL(any), CALL(probe), CALL(mprobe), CALL(iprobe), CALL(ssend), CALL(send), CALL(sendrecv), CALL(wait),
    CALL(waitall), CALL(waitany), CALL(waitsome), CALL(test), CALL(start), CALL(barrier), CALL(allreduce), CALL(ialltoall),
    CALL(ibarrier), CALL(persistent), CALL(dup), CALL(split), CALL(idup), CALL(win), CALL(nothing),
};

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD, half = MPI_COMM_NULL, meeting;
    start_failing(&argc, &argv);
    const char *call = argv[1], *on = argv[2];
    int dies = !strcmp(argv[3], "dies"), revoker = last;
    buffer = calloc(2, BYTES);
    /* Which nobody revokes while another one is still in the barrier. */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &meeting));
    if (!strcmp(on, "dup")) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    } else if (!strcmp(on, "inter")) {
        int high = rank >= size / 2;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, high, rank, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : size / 2, 9, &comm));
    }
    /* For one that lives and does not come. */
    int inter;
    MPI(MPI_Comm_test_inter(comm, &inter));
    peer = inter ? 0 : size == 2 ? last : (rank + 1) % (size - 1);
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) {
        if (strcmp(call, calls[i].name) && strcmp(call, "all"))
            continue;
        MPI_Comm used = comm;
        if (!strcmp(call, "all"))
            MPI(MPI_Comm_dup(comm, &used));
        before_deaths(meeting, dies && rank == revoker);
        if (rank == revoker) {
            usleep(5000);
            MPI(MPIX_Comm_revoke(used));
            if (dies)
                raise(SIGKILL);
        } else {
            int class = check_class_of(calls[i].in(used));
            /* The death may be seen first; and some need nothing of the other processes of their group. */
            int needs_it = !inter || rank < size / 2;
            if (class != MPIX_ERR_REVOKED && !(dies && class == MPIX_ERR_PROC_FAILED) && (needs_it || class != MPI_SUCCESS))
                check_failed(__FILE__, __LINE__, "in %s: error class %d", calls[i].name, class);
            await_revocation(used);
        }
        check_raises(used);
        check_local(used);
        check_recovers(used);
        if (used != comm)
            MPI(MPI_Comm_free(&used));
    }
    if (comm != MPI_COMM_WORLD)
        MPI(MPI_Comm_free(&comm));
    if (half != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&half));
    MPI(MPI_Comm_free(&meeting));
    free(buffer);
    return finish();
}
