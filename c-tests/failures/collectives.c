/* Each collective operation, blocking, nonblocking and persistent, on a communicator with a process that has died: it ends, with MPIX_ERR_PROC_FAILED or
 * without an error, and where one has failed later ones do. MPI_Comm_disconnect ends, too. Whatever failed, the survivors agree, shrink, and all operations
 * work on what is left. Arguments: the form, "intra" or "inter". */
#include "operations.h"

static int failures;

/* The code of the whole operation. */
static int run(int operation, MPI_Comm c)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = begin(operation, c, &request);
    if (form == 0)
        return code;
    if (code != MPI_SUCCESS) {
        CHECK(request == MPI_REQUEST_NULL);
        return code;
    }
    if (form == 2) {
        code = MPI_Start(&request);
        int end = MPI_Wait(&request, MPI_STATUS_IGNORE);
        code = code ? code : end;
        MPI(MPI_Request_free(&request));
    } else {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(request == MPI_REQUEST_NULL);
    return code;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[OPERATIONS], left, again;
    int flag = 1;
    start_failing(&argc, &argv);
    form = !strcmp(argv[1], "blocking") ? 0 : !strcmp(argv[1], "nonblocking") ? 1 : 2;
    is_inter = !strcmp(argv[2], "inter");
    describe_blocks();
    root = 0;
    if (is_inter)
        root = rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL;
    for (int i = 0; i < OPERATIONS; i++)
        comms[i] = communicator(MPI_COMM_WORLD);
    last_dies("kill");
    for (int i = 0; i < OPERATIONS; i++) {
        if (!exists(i))
            continue;
        int failed = 0;
        for (int round = 0; round < 3; round++) {
            int code = run(i, comms[i]);
            if (code != MPI_SUCCESS && check_class_of(code) != MPIX_ERR_PROC_FAILED)
                check_failed(__FILE__, __LINE__, "error class %d of %s", check_class_of(code), names[i]);
            if (failed && code == MPI_SUCCESS && i != 16 && i != 15)
                check_failed(__FILE__, __LINE__, "%s succeeds behind one that has failed", names[i]);
            failed |= code != MPI_SUCCESS;
        }
        failures += failed;
    }
    /* Some need no data of the dead. A barrier needs all. */
    CHECK(failures > 0);
    for (int i = 0; i < OPERATIONS; i++) {
        int code = i % 2 ? MPI_Comm_free(&comms[i]) : MPI_Comm_disconnect(&comms[i]);
        CHECK(code == MPI_SUCCESS || check_class_of(code) == MPIX_ERR_PROC_FAILED);
    }
    MPI(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    MPI(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    if (!is_inter || size > 3) {
        again = communicator(left);
        for (int i = 0; i < OPERATIONS; i++)
            if (exists(i))
                MPI(run(i, again));
        MPI(MPI_Comm_disconnect(&again));
    }
    MPI(MPI_Comm_free(&left));
    return finish();
}
