/* Wrong arguments of generalized requests. */
#include "wrong.h"

static int query(void *state, MPI_Status *status)
{
    (void) state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void) state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Request request, other, copy;
    int value;
    start(&argc, &argv);
    return_errors();
    if (!reference) { /* MPICH 4.0.2 looks at none of these */
        ERROR(MPI_Grequest_start(NULL, release, cancel, NULL, &request), MPI_ERR_ARG, "query_fn", NULL);
        ERROR(MPI_Grequest_start(query, NULL, cancel, NULL, &request), MPI_ERR_ARG, "free_fn", NULL);
        ERROR(MPI_Grequest_start(query, release, NULL, NULL, &request), MPI_ERR_ARG, "cancel_fn", NULL);
        ERROR(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST, "request", NULL);
        MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &other));
        ERROR(MPI_Grequest_complete(other), MPI_ERR_REQUEST, "request", NULL);
        MPI(MPI_Cancel(&other));
        MPI(MPI_Wait(&other, MPI_STATUS_IGNORE));
    }
    ERROR(MPI_Grequest_start(query, release, cancel, NULL, NULL), MPI_ERR_ARG, "request", NULL);
    MPI(MPI_Grequest_start(query, release, cancel, NULL, &request));
    copy = request;
    MPI(MPI_Grequest_complete(request));
    if (!reference) {
        ERROR(MPI_Grequest_complete(request), MPI_ERR_REQUEST, "request", NULL); /* twice */
        ERROR(MPI_Start(&request), MPI_ERR_REQUEST, "request", NULL);
    }
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (!reference)
        ERROR(MPI_Grequest_complete(copy), MPI_ERR_REQUEST, "request", NULL);
    return finish();
}
