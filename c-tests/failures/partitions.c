/* Partitioned communication under way on a communicator that is revoked, or whose peer dies: the request ends with an error, at whatever point the
 * operation is. Arguments: "revoke" or "death". */
#include "revoked.h"

enum { PARTS = 4, BYTES = 100000, POINTS = 6 };

/* How far the operation of this rank is; the last rank does not do its part. */
static int is_sender(int point)
{
    return point < 3;
}

static int begin(MPI_Comm comm, int point, char *data, MPI_Request *request)
{
    int flag, partners[PARTS] = {0, 1, 2, 3};
    if (is_sender(point))
        MPI(MPI_Psend_init(data, PARTS, BYTES, MPI_CHAR, last, rank, comm, MPI_INFO_NULL, request));
    else
        MPI(MPI_Precv_init(data, PARTS, BYTES, MPI_CHAR, last, rank, comm, MPI_INFO_NULL, request));
    if (point == 3)
        return 0;
    MPI(MPI_Start(request));
    if (point == 1)
        MPI(MPI_Pready(1, *request));
    if (point == 2)
        MPI(MPI_Pready_list(PARTS, partners, *request));
    if (!is_sender(point))
        MPI(MPI_Parrived(*request, 1, &flag));
    return 1;
}

/* What the last rank does: sends the plans, and of one operation a part. */
static void half_do(MPI_Comm comm, int point, char *data, MPI_Request *requests)
{
    for (int i = 0; i < last; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (is_sender(point) || point == 4)
            continue;
        MPI(MPI_Psend_init(data, PARTS, BYTES, MPI_CHAR, i, i, comm, MPI_INFO_NULL, &requests[i]));
        if (point == 5) {
            MPI(MPI_Start(&requests[i]));
            MPI(MPI_Pready(1, requests[i]));
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Request request, requests[64];
    static char data[PARTS * BYTES];
    start_failing(&argc, &argv);
    int revokes = !strcmp(argv[1], "revoke"), wanted = revokes ? MPIX_ERR_REVOKED : MPIX_ERR_PROC_FAILED;
    int first = revokes ? 0 : atoi(argv[2]), end = revokes ? POINTS : first + 1;
    for (int point = first; point < end; point++) {
        int active = 0;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        if (rank == last)
            half_do(comm, point, data, requests);
        else
            active = begin(comm, point, data, &request);
        before_deaths(MPI_COMM_WORLD, rank == last && !revokes);
        if (rank == last) {
            usleep(3000);
            if (!revokes)
                raise(SIGKILL);
            MPI(MPIX_Comm_revoke(comm));
            for (int i = 0; i < last; i++)
                if (requests[i] != MPI_REQUEST_NULL) {
                    if (point == 5)
                        REVOKED(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
                    REVOKED(MPI_Pready(2, requests[i]));
                    MPI(MPI_Request_free(&requests[i]));
                }
        } else {
            /* A sender that has not said all to be ready waits for itself. */
            if (!revokes && point < 2) {
                for (int i = 0; i < PARTS; i++)
                    if (point == 0 || i != 1)
                        MPI(MPI_Pready(i, request));
            }
            int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK_INT(check_class_of(code), active ? wanted : MPI_SUCCESS);
            if (revokes)
                await_revocation(comm);
            if (revokes) {
                MPI(MPI_Start(&request));
                REVOKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
            MPI(MPI_Request_free(&request));
        }
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
