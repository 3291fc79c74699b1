/* Wrong arguments of the functions for one request: Wait, Test, Request_free, Cancel, Start, Request_get_status. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int flag, value;
    MPI_Request null = MPI_REQUEST_NULL, wrong = (MPI_Request) MPI_INT, active, stale;
    MPI_Status status;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Wait(NULL, &status), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Wait(&wrong, &status), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Test(NULL, &flag, &status), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Test(&wrong, &flag, &status), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Request_free(NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Request_free(&null), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Request_free(&wrong), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Cancel(NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Cancel(&null), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Cancel(&wrong), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Start(NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Start(&null), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Start(&wrong), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Request_get_status(wrong, &flag, &status), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Request_get_status(null, NULL, &status), MPI_ERR_ARG, "flag", NULL);
    MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &active));
    ERROR(MPI_Test(&active, NULL, &status), MPI_ERR_ARG, "flag", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Test(&active, &flag, NULL), MPI_ERR_ARG, "status", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Request_get_status(active, &flag, NULL), MPI_ERR_ARG, "status", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Wait(&active, NULL), MPI_ERR_ARG, "status", NULL);
    if (!reference) {
        /* not persistent; a stale handle */
        ERROR(MPI_Start(&active), MPI_ERR_REQUEST, "request", NULL);
    }
    stale = active;
    MPI(MPI_Cancel(&active));
    MPI(MPI_Wait(&active, &status));
    if (!reference) {
        ERROR(MPI_Wait(&stale, &status), MPI_ERR_REQUEST, "request", NULL);
        ERROR(MPI_Test(&stale, &flag, &status), MPI_ERR_REQUEST, "request", NULL);
        ERROR(MPI_Cancel(&stale), MPI_ERR_REQUEST, "request", NULL);
        ERROR(MPI_Request_free(&stale), MPI_ERR_REQUEST, "request", NULL);
        MPI(MPI_Recv_init(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &active));
        MPI(MPI_Start(&active));
        ERROR(MPI_Start(&active), MPI_ERR_REQUEST, "request", NULL); /* started already */
        MPI(MPI_Cancel(&active));
        MPI(MPI_Wait(&active, &status));
        ERROR(MPI_Cancel(&active), MPI_ERR_REQUEST, "request", NULL); /* inactive */
        MPI(MPI_Request_free(&active));
    }
    return finish();
}
