/* Wrong arguments of the access functions of a status (MPI 4.1). */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    int value;
    start(&argc, &argv);
    return_errors();
    memset(&status, 0, sizeof status);
    ERROR(MPI_Status_get_source(NULL, &value), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Status_get_tag(NULL, &value), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Status_get_error(NULL, &value), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Status_get_source(&status, NULL), MPI_ERR_ARG, "source", NULL);
    ERROR(MPI_Status_get_tag(&status, NULL), MPI_ERR_ARG, "tag", NULL);
    ERROR(MPI_Status_get_error(&status, NULL), MPI_ERR_ARG, "err", NULL);
    ERROR(MPI_Status_set_source(NULL, 1), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Status_set_tag(NULL, 1), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Status_set_error(NULL, 1), MPI_ERR_ARG, "status", NULL);
    return finish();
}
