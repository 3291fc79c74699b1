/* MPI_Init and MPI_Init_thread a second time are errors that can be returned, and MPI goes on. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int provided = -1;
    watchdog(argv[0]);
    MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    check_ranks();
    return_errors();
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    ERROR(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided), MPI_ERR_OTHER, NULL, NULL); /* a second time */
    ERROR(MPI_Init(NULL, NULL), MPI_ERR_OTHER, NULL, NULL);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
