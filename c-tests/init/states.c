/* Initialized and Finalized before, between and after; functions that may be called outside. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag = -1, version, subversion, length, class_;
    char text[MPI_MAX_ERROR_STRING];
    watchdog(argv[0]);
    CHECK_INT(MPI_Initialized(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 0);
    CHECK_INT(MPI_Finalized(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 0);
    start(&argc, &argv);
    CHECK_INT(MPI_Initialized(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 1);
    CHECK_INT(MPI_Finalized(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 0);
    CHECK(argc >= 1 && argv[0] != NULL && argv[argc] == NULL);
    MPI(MPI_Finalize());
    CHECK_INT(MPI_Initialized(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 1);
    CHECK_INT(MPI_Finalized(&flag), MPI_SUCCESS);
    CHECK_INT(flag, 1);
    CHECK_INT(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    /* since MPI 4.0 these too */
    CHECK_INT(MPI_Error_class(MPI_ERR_TAG, &class_), MPI_SUCCESS);
    CHECK_INT(class_, MPI_ERR_TAG);
    CHECK_INT(MPI_Error_string(MPI_ERR_TAG, text, &length), MPI_SUCCESS);
    CHECK(length > 0);
    return conclude();
}
