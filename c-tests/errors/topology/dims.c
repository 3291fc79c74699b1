/* Wrong arguments of MPI_Dims_create. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int dims[2] = {0, 0}, odd[2] = {3, 0}, negative[2] = {0, -2}, full[2] = {2, 3};
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Dims_create(4, 2, odd), MPI_ERR_DIMS, "dims[0]", "3");
    ERROR(MPI_Dims_create(4, 2, negative), MPI_ERR_DIMS, "dims[1]", "-2");
    ERROR(MPI_Dims_create(4, 2, full), MPI_ERR_DIMS, "dims", "3");
    if (!reference) { /* which hangs or crashes */
        ERROR(MPI_Dims_create(12, 2, full), MPI_ERR_DIMS, "dims", "6");
        ERROR(MPI_Dims_create(0, 2, dims), MPI_ERR_ARG, "nnodes", "0");
        ERROR(MPI_Dims_create(-3, 2, dims), MPI_ERR_ARG, "nnodes", "-3");
        ERROR(MPI_Dims_create(4, -1, dims), MPI_ERR_ARG, "ndims", "-1");
        ERROR(MPI_Dims_create(4, 2, NULL), MPI_ERR_ARG, "dims", NULL);
    }
    return finish();
}
