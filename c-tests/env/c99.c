/* The header is C99 without extensions: nothing but mpi.h, and the constants where C wants constants. */
#include <mpi.h>

static const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_BYTE};
static const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
static const char name[MPI_MAX_OBJECT_NAME + MPI_MAX_PROCESSOR_NAME + MPI_MAX_ERROR_STRING + MPI_MAX_INFO_KEY + MPI_MAX_INFO_VAL
                       + MPI_MAX_LIBRARY_VERSION_STRING + MPI_BSEND_OVERHEAD + MPI_MAX_PORT_NAME + 1];

#include "check.h"

int main(int argc, char **argv)
{
    int bytes;
    start(&argc, &argv);
    switch (argc) {
    case MPI_ANY_SOURCE:
    case MPI_PROC_NULL:
    case MPI_ROOT:
    case MPI_UNDEFINED:
        check_failed(__FILE__, __LINE__, "negative argc");
    }
    MPI(MPI_Type_size(types[1], &bytes));
    CHECK_INT(bytes, 8);
    MPI(MPI_Barrier(comms[0]));
    CHECK_INT(name[0], 0);
    return finish();
}
