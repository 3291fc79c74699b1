/* Generalized requests: callbacks, status from the query function, among other requests. */
#include "check.h"

static int queries, frees, cancels, told;

static int query(void *state, MPI_Status *status)
{
    queries++;
    MPI_Status_set_elements(status, MPI_INT, *(int *) state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 55;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void) state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    cancels++;
    told = complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int state = 7, flag, count, value = 4, in = 0;
    MPI_Request request, requests[2], copy;
    MPI_Status status, statuses[2];
    start(&argc, &argv);
    MPI(MPI_Grequest_start(query, release, cancel, &state, &request));
    MPI(MPI_Test(&request, &flag, &status));
    CHECK_INT(flag, 0);
    CHECK_INT(queries, 0);
    MPI(MPI_Cancel(&request));
    CHECK_INT(cancels, 1);
    CHECK_INT(told, 0);
    MPI(MPI_Grequest_complete(request));
    MPI(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_INT(queries, 1);
    CHECK_INT(frees, 1);
    CHECK_INT(status.MPI_TAG, 55);
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 7);

    MPI(MPI_Grequest_start(query, release, cancel, &state, &requests[0]));
    MPI(MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]));
    copy = requests[0];
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    MPI(MPI_Grequest_complete(copy));
    MPI(MPI_Waitall(2, requests, statuses));
    CHECK_INT(queries, 2);
    CHECK_INT(frees, 2);
    CHECK_INT(statuses[0].MPI_TAG, 55);
    CHECK_STATUS(statuses[1], rank, 1, 4);

    MPI(MPI_Grequest_start(query, release, cancel, &state, &request));
    copy = request;
    MPI(MPI_Request_free(&request));
    MPI(MPI_Grequest_complete(copy));
    CHECK_INT(frees, 3);
    return finish();
}
