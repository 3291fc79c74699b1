/* A send whose message was announced to a process that computes: MPIX_Comm_revoke ends it, although the receiver does not call MPI. The buffer is
 * the program's then, and what is sent between the two afterwards is right. Arguments: the call. */
#include "revoked.h"
#include <fcntl.h>
#include <sched.h>

enum { BYTES = 1 << 21, FEW = 40000, ROUNDS = 12 };
static char *buffer, ended[200], outside[210];
static int is_strided;

/* The receiver computes from before the sender begins its call until that has ended: no call of MPI tells either of it. */
static void tell(const char *path)
{
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0);
    close(file);
}

static void await(const char *path)
{
    while (access(path, F_OK))
        usleep(200);
    CHECK_INT(unlink(path), 0);
}

static int in_isend(MPI_Comm comm)
{
    MPI_Request request;
    int code = MPI_Isend(buffer, BYTES, MPI_CHAR, 1, 5, comm, &request);
    if (code)
        return code;
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    return code;
}

static int in_ssend(MPI_Comm comm)
{
    return MPI_Ssend(buffer, 8, MPI_CHAR, 1, 5, comm);
}

static int in_test(MPI_Comm comm)
{
    MPI_Request request;
    int flag = 0, code = MPI_Issend(buffer, FEW, MPI_CHAR, 1, 5, comm, &request);
    while (!code && !flag)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return code;
}

static int in_strided(MPI_Comm comm)
{
    MPI_Datatype strided;
    MPI(MPI_Type_vector(BYTES / 32, 8, 16, MPI_CHAR, &strided));
    MPI(MPI_Type_commit(&strided));
    int code = MPI_Send(buffer, 1, strided, 1, 5, comm);
    MPI(MPI_Type_free(&strided));
    return code;
}

static int in_start(MPI_Comm comm)
{
    MPI_Request request;
    int code = MPI_Send_init(buffer, BYTES, MPI_CHAR, 1, 5, comm, &request);
    if (code)
        return code;
    MPI(MPI_Start(&request));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI(MPI_Start(&request));
    REVOKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
    return code;
}

static int in_sendrecv(MPI_Comm comm)
{
    static char in[8];
    return MPI_Sendrecv(buffer, BYTES, MPI_CHAR, 1, 5, in, 8, MPI_CHAR, 1, 6, comm, MPI_STATUS_IGNORE);
}

static int in_replace(MPI_Comm comm)
{
    return MPI_Sendrecv_replace(buffer, BYTES, MPI_CHAR, 1, 5, 1, 6, comm, MPI_STATUS_IGNORE);
}

/* One that was to be cancelled, which takes the receiver's word. One that has not left this process may be cancelled without it, and is sent again. */
static int in_cancel(MPI_Comm comm)
{
    int code, was_cancelled;
    do {
        MPI_Request request;
        MPI_Status status;
        code = MPI_Issend(buffer, BYTES, MPI_CHAR, 1, 5, comm, &request);
        if (code)
            return code;
        MPI(MPI_Cancel(&request));
        code = MPI_Wait(&request, &status);
        CHECK(request == MPI_REQUEST_NULL);
        if (!code)
            MPI(MPI_Test_cancelled(&status, &was_cancelled));
    } while (!code && was_cancelled);
    return code;
}

/* The same where the message has not left whole, and the program polls. */
static int in_cancel_many(MPI_Comm comm)
{
    enum { MANY = 400 };
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    int count = 0, flag = 0, code = MPI_SUCCESS;
    while (count < MANY && !code) {
        code = MPI_Isend(buffer, FEW, MPI_CHAR, 1, 5, comm, &requests[count]);
        count += !code;
    }
    for (int i = count - 1; i >= 0; i -= 3)
        MPI(MPI_Cancel(&requests[i]));
    int all = MPI_SUCCESS;
    while (!all && !flag)
        all = MPI_Testall(count, requests, &flag, statuses);
    if (all == MPI_SUCCESS)
        return code;
    for (int i = 0; i < count; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            code = statuses[i].MPI_ERROR;
    }
    return code;
}

/* So many that the receiver's memory is full. */
static int in_many(MPI_Comm comm)
{
    enum { MANY = 400 };
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    int count = 0, code = MPI_SUCCESS;
    while (count < MANY && !code) {
        code = MPI_Isend(buffer, FEW, MPI_CHAR, 1, 5, comm, &requests[count]);
        count += !code;
    }
    if (MPI_Waitall(count, requests, statuses) == MPI_SUCCESS)
        return code;
    for (int i = 0; i < count; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            code = statuses[i].MPI_ERROR;
    }
    return code;
}

/* A receiver that has not heard of the revocation yet: it gets what was sent, or the error. */
static void receive_late(MPI_Comm comm)
{
    MPI_Status status;
    int bytes, code = MPI_Recv(buffer, BYTES, MPI_CHAR, 0, 5, comm, &status);
    if (code) {
        CHECK_INT(check_class_of(code), MPIX_ERR_REVOKED);
        return;
    }
    MPI(MPI_Get_count(&status, MPI_CHAR, &bytes));
    if (!is_strided)
        CHECK_PATTERN(buffer, bytes, 1);
}

#define CALL(name) {#name, in_##name}
static const struct {
    const char *name;
    int (*in)(MPI_Comm);
} calls[] = {CALL(isend), CALL(ssend), CALL(test), CALL(strided), CALL(start), CALL(sendrecv), CALL(replace), CALL(cancel), CALL(cancel_many), CALL(many)};

/* Messages of the two on another communicator are those that were sent. */
static void check_talk(int round)
{
    MPI_Status status;
    for (int from = 0; from < 2; from++)
        for (int bytes = 8; bytes <= BYTES; bytes *= 64) {
            if (rank == from) {
                fill(buffer, bytes, round + from);
                MPI(MPI_Send(buffer, bytes, MPI_CHAR, !rank, 7, MPI_COMM_WORLD));
            } else if (rank == !from) {
                memset(buffer, 0, bytes);
                MPI(MPI_Recv(buffer, bytes, MPI_CHAR, from, 7, MPI_COMM_WORLD, &status));
                CHECK_PATTERN(buffer, bytes, round + from);
            }
        }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int pid = getpid(), at = 0;
    start_failing(&argc, &argv);
    MPI(MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(ended, sizeof ended, "%s/oxmpi-announced-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", pid);
    snprintf(outside, sizeof outside, "%s-outside", ended);
    while (strcmp(calls[at].name, argv[1]))
        at++;
    is_strided = !strcmp(argv[1], "strided");
    buffer = calloc(1, BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        if (rank == 0)
            fill(buffer, BYTES, 1);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            await(outside);
            REVOKED(calls[at].in(comm));
            memset(buffer, -1, BYTES);
            tell(ended);
        } else if (rank == 1) {
            tell(outside);
            await(ended);
            if (round % 2)
                await_revocation(comm);
            else
                receive_late(comm);
        } else if (rank == 2) {
            usleep(3000);
            MPI(MPIX_Comm_revoke(comm));
        }
        if (rank == 1)
            await_revocation(comm);
        check_talk(round);
        MPI(MPI_Comm_free(&comm));
    }
    free(buffer);
    return finish();
}
