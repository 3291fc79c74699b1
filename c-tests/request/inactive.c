/* The empty status of null and inactive requests has MPI_ERROR, too, which is left alone in the status of an operation. */
#include "check.h"

static MPI_Status status, several[3];
static MPI_Request inactive;

static void is_empty(const MPI_Status *empty)
{
    int count = -1;
    CHECK_INT(empty->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_INT(empty->MPI_TAG, MPI_ANY_TAG);
    CHECK_INT(empty->MPI_ERROR, MPI_SUCCESS);
    MPI(MPI_Get_count(empty, MPI_INT, &count));
    CHECK_INT(count, 0);
}

/* The status that a call gives. */
#define ONE(call)          \
    do {                   \
        spoil(&status);    \
        MPI(call);         \
        is_empty(&status); \
    } while (0)

/* The statuses of a null, an inactive and another null request. */
#define ALL(call)                                                         \
    do {                                                                  \
        MPI_Request requests[] = {MPI_REQUEST_NULL, inactive, MPI_REQUEST_NULL}; \
        for (int i = 0; i < 3; i++)                                       \
            spoil(&several[i]);                                           \
        MPI(call);                                                        \
        for (int i = 0; i < 3; i++)                                       \
            is_empty(&several[i]);                                        \
    } while (0)

int main(int argc, char **argv)
{
    int in = 0, flag, index;
    MPI_Request null = MPI_REQUEST_NULL, requests[2];
    start(&argc, &argv);
    MPI(MPI_Recv_init(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &inactive));
    ONE(MPI_Wait(&null, &status));
    ONE(MPI_Test(&null, &flag, &status));
    ONE(MPI_Wait(&inactive, &status));
    ONE(MPI_Test(&inactive, &flag, &status));
    ONE(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    ONE(MPI_Request_get_status(inactive, &flag, &status));
    ONE(MPI_Waitany(1, &inactive, &index, &status));
    ONE(MPI_Testany(1, &inactive, &index, &flag, &status));
    ALL(MPI_Waitall(3, requests, several));
    ALL(MPI_Testall(3, requests, &flag, several));
#if MPI_VERSION >= 4 && MPI_SUBVERSION >= 1 || MPI_VERSION >= 5
    ALL(MPI_Request_get_status_all(3, requests, &flag, several));
#endif
    /* Beside an operation, whose MPI_ERROR stays as it was. */
    MPI(MPI_Start(&inactive));
    MPI(MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    requests[0] = inactive;
    requests[1] = MPI_REQUEST_NULL;
    for (int i = 0; i < 2; i++)
        several[i].MPI_ERROR = 12345;
    MPI(MPI_Waitall(2, requests, several));
    CHECK_INT(several[0].MPI_ERROR, 12345);
    CHECK_INT(several[0].MPI_SOURCE, rank);
    is_empty(&several[1]);
    MPI(MPI_Request_free(&inactive));
    return finish();
}
