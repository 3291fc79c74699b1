/* The last rank will not answer: it has ended before MPI_Init, has died (and mpiexec was told to go on), or is in MPI_Finalize. Whoever
 * waits for it gets an error that names it; what can come all the same is waited for. args: how it is lost, then what the
 * others do: messages, several, collective, finalize, or sets, where nobody needs it. */
#include "dying.h"
#include <unistd.h>

static char big[1 << 20], text[MPI_MAX_ERROR_STRING];
static const char *how, *what;
static int last;

static int is_loss(int code)
{
    int length;
    if (code == MPI_SUCCESS)
        return 0;
    MPI(MPI_Error_string(code, text, &length));
    char wanted[60];
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD %s", last,
             !strcmp(how, "absent") ? "has ended without calling MPI_Init" : !strcmp(how, "dead") ? "has ended" : "is in MPI_Finalize");
    return check_class_of(code) == (!strcmp(how, "leaving") ? MPI_ERR_OTHER : MPIX_ERR_PROC_FAILED) && strstr(text, wanted);
}

#define LOSS(call) CHECK(is_loss(call))

static void messages(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Message message;
    int x = 0, gone = strcmp(how, "leaving");
    LOSS(MPI_Recv(&x, 1, MPI_INT, last, 0, w, MPI_STATUS_IGNORE));
    if (size == 2)
        LOSS(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, w, MPI_STATUS_IGNORE));
    LOSS(MPI_Probe(last, 0, w, MPI_STATUS_IGNORE));
    LOSS(MPI_Mprobe(last, 0, w, &message, MPI_STATUS_IGNORE));
    LOSS(MPI_Ssend(&x, 1, MPI_INT, last, 0, w));
    LOSS(MPI_Send(big, sizeof big, MPI_CHAR, last, 0, w));
    LOSS(MPI_Sendrecv(big, sizeof big, MPI_CHAR, last, 0, &x, 1, MPI_INT, last, 0, w, MPI_STATUS_IGNORE));
    LOSS(MPI_Sendrecv(big, 1, MPI_CHAR, MPI_PROC_NULL, 0, &x, 1, MPI_INT, last, 0, w, MPI_STATUS_IGNORE));
    LOSS(MPI_Sendrecv_replace(big, sizeof big, MPI_CHAR, last, 0, last, 0, w, MPI_STATUS_IGNORE));
    /* A send that is marked ends without an error. */
    for (int test = 0; test < 2; test++) {
        MPI_Request request;
        MPI_Status status;
        int done = 0, cancelled = 0;
        MPI(MPI_Issend(&x, 1, MPI_INT, last, 0, w, &request));
        MPI(MPI_Cancel(&request));
        while (test && !done)
            MPI(MPI_Test(&request, &done, &status));
        if (!test)
            MPI(MPI_Wait(&request, &status));
        MPI(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled);
    }
    /* Who has ended takes nothing any more, who is in MPI_Finalize all that fits into memory. */
    int code = MPI_SUCCESS, sent = 0;
    while (code == MPI_SUCCESS && sent++ < 5000)
        code = MPI_Send(big, 100, MPI_CHAR, last, 0, w);
    CHECK(gone ? is_loss(code) : code == MPI_SUCCESS);
    for (code = MPI_SUCCESS, sent = 0; code == MPI_SUCCESS && sent++ < 500;)
        code = MPI_Send(big, 5000, MPI_CHAR, last, 0, w);
    CHECK(gone ? is_loss(code) : code == MPI_SUCCESS);
}

static void several(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int x[2], index = -1, count = 0, indices[2], flag;
    for (int i = 0; i < 2; i++)
        MPI(MPI_Irecv(&x[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]));
    LOSS(MPI_Wait(&requests[0], &statuses[0]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    CHECK_INT(MPI_Waitsome(2, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(count, 1);
    CHECK_INT(indices[0], 1);
    LOSS(statuses[0].MPI_ERROR);
    for (int i = 0; i < 2; i++)
        MPI(MPI_Irecv(&x[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]));
    CHECK_INT(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < 2; i++)
        LOSS(statuses[i].MPI_ERROR);
    /* This message comes, however long it takes; the other receive can be cancelled. */
    MPI(MPI_Irecv(&x[0], 1, MPI_INT, last, 0, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Irecv(&x[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    MPI(MPI_Waitany(2, requests, &index, &statuses[0]));
    CHECK_INT(index, 1);
    MPI(MPI_Cancel(&requests[0]));
    MPI(MPI_Wait(&requests[0], &statuses[0]));
    MPI(MPI_Test_cancelled(&statuses[0], &flag));
    CHECK(flag);
    MPI(MPI_Irecv(&x[0], 1, MPI_INT, last, 0, MPI_COMM_WORLD, &requests[0]));
    requests[1] = MPI_REQUEST_NULL;
    LOSS(MPI_Waitany(2, requests, &index, &statuses[0]));
    CHECK_INT(index, 0);
    MPI(MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD));
}

static void collective(void)
{
    MPI_Comm w = MPI_COMM_WORLD, comm;
    MPI_Request request;
    int x = 0, all[64];
    LOSS(MPI_Barrier(w));
    LOSS(MPI_Bcast(&x, 1, MPI_INT, last, w));
    LOSS(MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, w));
    LOSS(MPI_Comm_dup(w, &comm));
    MPI(MPI_Ibarrier(w, &request));
    LOSS(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* The ranks of a process set that the last one is not in. */
static int sets(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MPI(MPI_Group_from_session_pset(session, "some", &group));
    MPI(MPI_Comm_create_from_group(group, "lost", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    for (int i = 0; i < 10; i++)
        MPI(MPI_Barrier(comm));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Session_finalize(&session));
    return check_failures != 0;
}

int main(int argc, char **argv)
{
    const char *number = getenv("PMI_RANK"), *ranks = getenv("PMI_SIZE");
    how = argc > 1 ? argv[1] : "";
    what = argc > 2 ? argv[2] : "";
    last = atoi(ranks ? ranks : "1") - 1;
    if (!strcmp(how, "absent") && atoi(number ? number : "0") == last)
        return 0;
    if (!strcmp(what, "sets")) {
        watchdog(argv[0]);
        return sets();
    }
    start(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (!strcmp(how, "dead")) {
        before_deaths(MPI_COMM_WORLD, rank == last);
        if (rank == last)
            raise(SIGKILL);
    }
    if (rank != last && !strcmp(what, "collective"))
        collective();
    if (rank == 0 && !strcmp(what, "messages"))
        messages();
    if (rank == 0 && !strcmp(what, "several"))
        several();
    if (rank == 1 && rank != last && !strcmp(what, "several")) {
        MPI(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sleep(2);
        MPI(MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        /* MPI_Finalize may end the job. */
        MPI(MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    if (!strcmp(how, "leaving"))
        return finish();
    /* Nobody can finalize without the last one; whether all before was right is told by the text. */
    if (rank == 0 && check_failures == 0)
        fprintf(stderr, "all was right\n");
    return MPI_Finalize();
}
