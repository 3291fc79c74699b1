/* The access functions of MPI 4.1: get and set of source, tag and error. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    int value = -1, in;
    start(&argc, &argv);
    spoil(&status);
    MPI(MPI_Status_set_source(&status, 3));
    MPI(MPI_Status_set_tag(&status, 4));
    MPI(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK_INT(status.MPI_SOURCE, 3);
    CHECK_INT(status.MPI_TAG, 4);
    CHECK_INT(status.MPI_ERROR, MPI_ERR_TRUNCATE);
    MPI(MPI_Status_get_source(&status, &value));
    CHECK_INT(value, 3);
    MPI(MPI_Status_get_tag(&status, &value));
    CHECK_INT(value, 4);
    MPI(MPI_Status_get_error(&status, &value));
    CHECK_INT(value, MPI_ERR_TRUNCATE);
    MPI_Count large = -1;
    MPI(MPI_Status_set_elements_c(&status, MPI_SHORT, 6000000000ll));
    MPI(MPI_Get_elements_c(&status, MPI_SHORT, &large));
    CHECK_INT(large, 6000000000ll);
    value = 9;
    MPI(MPI_Sendrecv(&value, 1, MPI_INT, rank, 8, &in, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &status));
    MPI(MPI_Status_get_source(&status, &value));
    CHECK_INT(value, rank);
    MPI(MPI_Status_get_tag(&status, &value));
    CHECK_INT(value, 8);
    return finish();
}
