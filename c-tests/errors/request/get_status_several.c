/* Wrong arguments of MPI_Request_get_status_any, _all, _some. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int flag, index, outcount, indices[2];
    MPI_Request wrong[2] = {MPI_REQUEST_NULL, (MPI_Request) MPI_INT}, null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Request_get_status_any(-1, null, &index, &flag, &status), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Request_get_status_all(-1, null, &flag, statuses), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Request_get_status_some(-1, null, &outcount, indices, statuses), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Request_get_status_any(2, NULL, &index, &flag, &status), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Request_get_status_all(2, NULL, &flag, statuses), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Request_get_status_some(2, NULL, &outcount, indices, statuses), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Request_get_status_any(2, wrong, &index, &flag, &status), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Request_get_status_all(2, wrong, &flag, statuses), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Request_get_status_some(2, wrong, &outcount, indices, statuses), MPI_ERR_REQUEST, "array_of_requests", NULL);
    return finish();
}
