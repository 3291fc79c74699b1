/* Conversions of statuses between languages: there is none of MPI_STATUS_IGNORE. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    MPI_Fint words[5];
    MPI_F08_status other;
    start(&argc, &argv);
    return_errors();
    memset(&status, 0, sizeof status);
    memset(&other, 0, sizeof other);
    ERROR(MPI_Status_c2f(MPI_STATUS_IGNORE, words), MPI_ERR_ARG, "c_status", NULL);
    ERROR(MPI_Status_c2f08(MPI_STATUS_IGNORE, &other), MPI_ERR_ARG, "c_status", NULL);
    ERROR(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &status), MPI_ERR_ARG, "f08_status", NULL);
    ERROR(MPI_Status_f082f(MPI_F08_STATUS_IGNORE, words), MPI_ERR_ARG, "f08_status", NULL);
    ERROR(MPI_Status_c2f(NULL, words), MPI_ERR_ARG, "c_status", NULL);
    MPI(MPI_Status_c2f(&status, words));
    MPI(MPI_Status_c2f08(&status, &other));
    MPI(MPI_Status_f082c(&other, &status));
    return finish();
}
