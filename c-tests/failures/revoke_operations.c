/* A communicator is revoked while nonblocking or persistent collective operations on it are under way: the call that completes each of them raises
 * MPIX_ERR_REVOKED, whatever way it is completed, and from then on every call that is not local does. Operations that need nothing of the last rank, which revokes
 * and does not come, may be complete. Arguments: "nonblocking" or "persistent", "intra" or "inter", elements, and "late" if some are outside of MPI when it is
 * revoked: they find it in what others have stored, or in what they are sent. */
#include "operations.h"

#define REVOKED(call) CHECK_CLASS(call, MPIX_ERR_REVOKED)

/* Completes a request, in turns by each call that can. */
static int complete(MPI_Request *request, int turn)
{
    MPI_Request requests[2] = {*request, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int code = MPI_SUCCESS, flag = 0, index, number = 0, indices[2], by_status = 0;
    switch (turn % 8) {
    case 0: code = MPI_Wait(requests, statuses); break;
    case 1: while (!code && !flag) code = MPI_Test(requests, &flag, statuses); break;
    case 2: code = MPI_Waitany(2, requests, &index, statuses); break;
    case 3: while (!code && !flag) code = MPI_Testany(2, requests, &index, &flag, statuses); break;
    case 4: code = MPI_Waitall(2, requests, statuses); by_status = 1; break;
    case 5: while (!code && !flag) code = MPI_Testall(2, requests, &flag, statuses); by_status = 1; break;
    case 6: code = MPI_Waitsome(2, requests, &number, indices, statuses); by_status = 1; break;
    default: while (!code && !number) code = MPI_Testsome(2, requests, &number, indices, statuses); by_status = 1; break;
    }
    if (by_status && code) {
        CHECK_INT(code, MPI_ERR_IN_STATUS);
        code = statuses[0].MPI_ERROR;
    }
    *request = requests[0];
    return code;
}

/* Which ranks cannot complete an operation that the last rank does not come to: the root is that rank, of an intercommunicator it is in the other group. */
static int needs_last(int operation)
{
    int is_here = rank % 2 == last % 2;
    /* What a rank of its own group gets is the other group's. */
    if (is_inter && is_here)
        return 0;
    switch (operation) {
    case 2: case 4: case 5: case 15: case 16: return 0;
    default: return 1;
    }
}

int main(int argc, char **argv)
{
    start_failing(&argc, &argv);
    form = !strcmp(argv[1], "nonblocking") ? 1 : 2;
    is_inter = !strcmp(argv[2], "inter");
    count = atoi(argv[3]);
    int late = argc > 4, ended = 0;
    describe_blocks();
    for (int turn = 0; turn < 8 * OPERATIONS; turn++) {
        int operation = turn % OPERATIONS, code = MPI_SUCCESS, flag = 0, x = 0;
        MPI_Request request = MPI_REQUEST_NULL, again = MPI_REQUEST_NULL;
        MPI_Comm new = MPI_COMM_NULL;
        if (!exists(operation))
            continue;
        MPI_Comm comm = communicator(MPI_COMM_WORLD);
        root = is_inter ? rank % 2 != last % 2 ? last / 2 : rank == last ? MPI_ROOT : MPI_PROC_NULL : last;
        /* Some go the ways that later operations go. */
        for (int i = 0; i < turn % 3; i++)
            MPI(MPI_Barrier(comm));
        if (rank != last) {
            MPI(begin(operation, comm, &request));
            if (form == 2)
                MPI(MPI_Start(&request));
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == last) {
            usleep(turn % 4 * 700);
            MPI(MPIX_Comm_revoke(comm));
        } else {
            if (late && rank % 2)
                usleep(4000);
            code = complete(&request, turn + turn / OPERATIONS);
            if (code != MPI_SUCCESS || needs_last(operation)) {
                if (check_class_of(code) != MPIX_ERR_REVOKED)
                    check_failed(__FILE__, __LINE__, "%s ends with error class %d", names[operation], check_class_of(code));
                ended++;
                /* At once. */
                REVOKED(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
                REVOKED(MPI_Ibarrier(comm, &again));
                REVOKED(MPI_Comm_dup(comm, &new));
                MPI(MPIX_Comm_is_revoked(comm, &flag));
                CHECK_INT(flag, 1);
            }
            CHECK((request == MPI_REQUEST_NULL) == (form == 1));
            if (form == 2) {
                while (!flag) {
                    MPI(MPIX_Comm_is_revoked(comm, &flag));
                    usleep(100);
                }
                MPI(MPI_Start(&request));
                REVOKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
                MPI(MPI_Request_free(&request));
            }
        }
        MPI(MPI_Comm_free(&comm));
    }
    CHECK(rank == last || ended > 0);
    return finish();
}
