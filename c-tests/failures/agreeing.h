/* Agreement and shrinking in the blocking and the nonblocking form. */
#include "check.h"

static CHECK_UNUSED int agree(MPI_Comm comm, int *flag, int nonblocking)
{
    MPI_Request request;
    if (!nonblocking)
        return MPIX_Comm_agree(comm, flag);
    MPI(MPIX_Comm_iagree(comm, flag, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static CHECK_UNUSED MPI_Comm shrink(MPI_Comm comm, int nonblocking)
{
    MPI_Comm new = MPI_COMM_NULL;
    MPI_Request request;
    if (!nonblocking) {
        MPI(MPIX_Comm_shrink(comm, &new));
        return new;
    }
    MPI(MPIX_Comm_ishrink(comm, &new, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return new;
}
