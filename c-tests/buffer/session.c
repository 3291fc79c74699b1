/* The buffer of a session (MPI 4.1): attach, flush, iflush, detach, plain and large. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Session session;
    char space[1000 + MPI_BSEND_OVERHEAD];
    void *detached = NULL;
    int bytes = -1;
    MPI_Count large = -1;
    MPI_Request request;
    start(&argc, &argv);
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MPI(MPI_Session_attach_buffer(session, space, sizeof space));
    MPI(MPI_Session_flush_buffer(session));
    MPI(MPI_Session_iflush_buffer(session, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Session_detach_buffer(session, &detached, &bytes));
    CHECK(detached == space);
    CHECK_INT(bytes, sizeof space);
    MPI(MPI_Session_attach_buffer_c(session, space, sizeof space));
    MPI(MPI_Session_detach_buffer_c(session, &detached, &large));
    CHECK(detached == space);
    CHECK_INT(large, sizeof space);
    MPI(MPI_Session_finalize(&session));
    return finish();
}
