/* Wrong arguments of the functions for several requests: counts, null arrays, wrong handles in them, null results. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int flag, index, outcount, indices[2];
    MPI_Request wrong[2] = {MPI_REQUEST_NULL, (MPI_Request) MPI_INT}, null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Waitany(-1, null, &index, &status), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Testany(-1, null, &index, &flag, &status), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Waitall(-1, null, statuses), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Testall(-1, null, &flag, statuses), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Waitsome(-1, null, &outcount, indices, statuses), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Testsome(-1, null, &outcount, indices, statuses), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Startall(-1, null), MPI_ERR_COUNT, "count", "-1");

    ERROR(MPI_Waitany(2, NULL, &index, &status), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Testany(2, NULL, &index, &flag, &status), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Waitall(2, NULL, statuses), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Testall(2, NULL, &flag, statuses), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Waitsome(2, NULL, &outcount, indices, statuses), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Testsome(2, NULL, &outcount, indices, statuses), MPI_ERR_ARG, "array_of_requests", NULL);
    ERROR(MPI_Startall(2, NULL), MPI_ERR_ARG, "array_of_requests", NULL);

    ERROR(MPI_Waitany(2, wrong, &index, &status), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Testany(2, wrong, &index, &flag, &status), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Waitall(2, wrong, statuses), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Testall(2, wrong, &flag, statuses), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Waitsome(2, wrong, &outcount, indices, statuses), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Testsome(2, wrong, &outcount, indices, statuses), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Startall(2, wrong), MPI_ERR_REQUEST, "array_of_requests", NULL);
    ERROR(MPI_Startall(2, null), MPI_ERR_REQUEST, "array_of_requests", NULL);

    ERROR(MPI_Waitany(2, null, NULL, &status), MPI_ERR_ARG, "ind", NULL);
    ERROR(MPI_Testany(2, null, NULL, &flag, &status), MPI_ERR_ARG, "ind", NULL);
    ERROR(MPI_Testany(2, null, &index, NULL, &status), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Testall(2, null, NULL, statuses), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Waitsome(2, null, NULL, indices, statuses), MPI_ERR_ARG, "outcount", NULL);
    ERROR(MPI_Testsome(2, null, NULL, indices, statuses), MPI_ERR_ARG, "outcount", NULL);
    ERROR(MPI_Waitsome(2, null, &outcount, NULL, statuses), MPI_ERR_ARG, "array_of_indices", NULL);
    ERROR(MPI_Testsome(2, null, &outcount, NULL, statuses), MPI_ERR_ARG, "array_of_indices", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Waitall(2, null, NULL), MPI_ERR_ARG, "array_of_statuses", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Testall(2, null, &flag, NULL), MPI_ERR_ARG, "array_of_statuses", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Waitsome(2, null, &outcount, indices, NULL), MPI_ERR_ARG, "array_of_statuses", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Testsome(2, null, &outcount, indices, NULL), MPI_ERR_ARG, "array_of_statuses", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Waitany(2, null, &index, NULL), MPI_ERR_ARG, "status", NULL);
    if (!ignores_null_status)
        ERROR(MPI_Testany(2, null, &index, &flag, NULL), MPI_ERR_ARG, "status", NULL);
    return finish();
}
