/* Wrong arguments of the buffer functions of a session (MPI 4.1). */
#include "wrong.h"

int main(int argc, char **argv)
{
    static char space[1000 + MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    MPI_Count large;
    MPI_Session session;
    MPI_Request request;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Session_attach_buffer(MPI_SESSION_NULL, space, 1000), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_attach_buffer_c(MPI_SESSION_NULL, space, 1000), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_detach_buffer(MPI_SESSION_NULL, &detached, &bytes), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_detach_buffer_c(MPI_SESSION_NULL, &detached, &large), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_flush_buffer(MPI_SESSION_NULL), MPI_ERR_SESSION, "session", NULL);
    ERROR(MPI_Session_iflush_buffer(MPI_SESSION_NULL, &request), MPI_ERR_SESSION, "session", NULL);
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    ERROR(MPI_Session_attach_buffer(session, space, -1), MPI_ERR_ARG, "size", "-1");
    ERROR(MPI_Session_iflush_buffer(session, NULL), MPI_ERR_ARG, "request", NULL);
    MPI(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
    return finish();
}
