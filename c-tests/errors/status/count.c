/* Wrong arguments of the status functions. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    int count;
    MPI_Count large;
    start(&argc, &argv);
    return_errors();
    memset(&status, 0, sizeof status);
    ERROR(MPI_Get_count(NULL, MPI_INT, &count), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Get_count(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_count(&status, (MPI_Datatype) MPI_COMM_WORLD, &count), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_count(&status, MPI_INT, NULL), MPI_ERR_ARG, "count", NULL);
    ERROR(MPI_Get_count_c(&status, MPI_DATATYPE_NULL, &large), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_count_c(&status, MPI_INT, NULL), MPI_ERR_ARG, "count", NULL);
    ERROR(MPI_Get_elements(NULL, MPI_INT, &count), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Get_elements(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_elements(&status, MPI_INT, NULL), MPI_ERR_ARG, "count", NULL);
    ERROR(MPI_Get_elements_x(&status, MPI_DATATYPE_NULL, &large), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_elements_c(&status, MPI_DATATYPE_NULL, &large), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Status_set_elements(NULL, MPI_INT, 1), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Status_set_elements(&status, MPI_DATATYPE_NULL, 1), MPI_ERR_TYPE, "datatype", NULL);
    if (!reference)
        ERROR(MPI_Status_set_elements(&status, MPI_INT, -1), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Status_set_cancelled(NULL, 1), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Test_cancelled(NULL, &count), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Test_cancelled(&status, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Type_size(MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG, "size", NULL);
    return finish();
}
