/* The last rank dies while a message of its is under way. args: how rank 0 waits for it, and gets an error, again and again. */
#include "check.h"

enum { BYTES = 4 << 20, PARTS = 4 };

static char data[BYTES];
static MPI_Comm world = MPI_COMM_WORLD;

static int is_loss(int code)
{
    return code != MPI_SUCCESS && check_class_of(code) == MPIX_ERR_PROC_FAILED;
}

/* The last rank dies; when that is known, what it has begun is waited for. */
static void let_die(int last)
{
    int x;
    MPI(MPI_Send(NULL, 0, MPI_INT, last, 5, world));
    CHECK(is_loss(MPI_Recv(&x, 1, MPI_INT, last, 6, world, MPI_STATUS_IGNORE)));
}

static void matched(int last, int blocks)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    MPI(MPI_Mprobe(last, 1, world, &message, &status));
    let_die(last);
    if (blocks) {
        CHECK(is_loss(MPI_Mrecv(data, BYTES, MPI_CHAR, &message, &status)));
        return;
    }
    MPI(MPI_Imrecv(data, BYTES, MPI_CHAR, &message, &request));
    CHECK(is_loss(MPI_Wait(&request, &status)));
}

static void partitioned(int last, int waits)
{
    MPI_Request request;
    MPI(MPI_Precv_init(data, PARTS, BYTES / PARTS, MPI_CHAR, last, 1, world, MPI_INFO_NULL, &request));
    for (int time = 0; time < 2; time++) {
        int code = MPI_SUCCESS, done = 0;
        MPI(MPI_Start(&request));
        if (time == 0)
            let_die(last);
        if (waits)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        while (!waits && !done && code == MPI_SUCCESS)
            code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(is_loss(code));
    }
    MPI(MPI_Request_free(&request));
}

/* Loops of tests of two receives, which never find a message. */
static void tests(int last, const char *how)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int x[2], code = MPI_SUCCESS, done = 0, index, indices[2], all = !strcmp(how, "testall");
    for (int i = 0; i < 2; i++)
        MPI(MPI_Irecv(&x[i], 1, MPI_INT, last, 10 + i, world, &requests[i]));
    MPI(MPI_Send(NULL, 0, MPI_INT, last, 5, world));
    for (int left = 2; left > 0; left -= all ? 2 : 1) {
        for (code = MPI_SUCCESS, done = 0; !done && code == MPI_SUCCESS;)
            if (all)
                code = MPI_Testall(2, requests, &done, statuses);
            else if (!strcmp(how, "testany"))
                code = MPI_Testany(2, requests, &index, &done, statuses);
            else if (!strcmp(how, "testsome"))
                code = MPI_Testsome(2, requests, &done, indices, statuses);
            else
                code = MPI_Test(&requests[left - 1], &done, statuses);
        if (code == MPI_ERR_IN_STATUS) {
            if (!all)
                left -= done - 1;
            CHECK(is_loss(statuses[0].MPI_ERROR));
        } else
            CHECK(is_loss(code));
    }
    for (int i = 0; i < 2; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    start(&argc, &argv);
    int last = size - 1;
    MPI(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    if (rank == last) {
        MPI_Request request;
        if (!strcmp(how, "mrecv") || !strcmp(how, "imrecv"))
            MPI(MPI_Isend(data, BYTES, MPI_CHAR, 0, 1, world, &request));
        if (!strncmp(how, "partitioned", 11)) {
            MPI(MPI_Psend_init(data, PARTS, BYTES / PARTS, MPI_CHAR, 0, 1, world, MPI_INFO_NULL, &request));
            MPI(MPI_Start(&request));
            MPI(MPI_Pready(1, request));
        }
        MPI(MPI_Recv(NULL, 0, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE));
        raise(SIGKILL);
    }
    if (rank == 0 && (!strcmp(how, "mrecv") || !strcmp(how, "imrecv")))
        matched(last, how[0] == 'm');
    else if (rank == 0 && !strncmp(how, "partitioned", 11))
        partitioned(last, !strcmp(how, "partitioned"));
    else if (rank == 0)
        tests(last, how);
    MPI(MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL));
    /* Nobody can finalize without the last one; whether all before was right is told by the text. */
    if (rank == 0 && check_failures == 0)
        fprintf(stderr, "all was right\n");
    return MPI_Finalize();
}
