/* Wrong arguments of the buffer functions of communicators (MPI 4.1). */
#include "wrong.h"

int main(int argc, char **argv)
{
    static char space[1000 + MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    MPI_Count large;
    MPI_Request request;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Comm_attach_buffer(MPI_COMM_NULL, space, 1000), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_attach_buffer_c(MPI_COMM_NULL, space, 1000), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_detach_buffer(MPI_COMM_NULL, &detached, &bytes), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_detach_buffer_c(MPI_COMM_NULL, &detached, &large), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_flush_buffer(MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_iflush_buffer(MPI_COMM_NULL, &request), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, -1), MPI_ERR_ARG, "size", "-1");
    MPI(MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, sizeof space));
    ERROR(MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, sizeof space), MPI_ERR_BUFFER, NULL, NULL);
    ERROR(MPI_Comm_detach_buffer(MPI_COMM_WORLD, NULL, &bytes), MPI_ERR_ARG, "buffer", NULL);
    ERROR(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &detached, NULL), MPI_ERR_ARG, "size", NULL);
    ERROR(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Buffer_iflush(NULL), MPI_ERR_ARG, "request", NULL);
    MPI(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &detached, &bytes));
    return finish();
}
