/* Wrong uses of the buffer of Bsend: attached twice, none to detach, negative size, null, no room, none at all. */
#include "wrong.h"

int main(int argc, char **argv)
{
    static char space[1000 + MPI_BSEND_OVERHEAD], data[2000];
    void *detached;
    int bytes, in;
    MPI_Count large;
    MPI_Request request;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Bsend(data, 1, MPI_BYTE, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, NULL, NULL);
    ERROR(MPI_Ibsend(data, 1, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER, NULL, NULL);
    if (!reference) {
        detached = space;
        MPI(MPI_Buffer_detach(&detached, &bytes));
        CHECK(detached == NULL);
        CHECK_INT(bytes, 0);
    }
    ERROR(MPI_Buffer_attach(space, -1), MPI_ERR_ARG, "size", "-1");
    ERROR(MPI_Buffer_attach_c(space, -1), MPI_ERR_ARG, "size", "-1");
    if (!reference)
        ERROR(MPI_Buffer_attach(NULL, 1000), MPI_ERR_BUFFER, "buffer", NULL);
    MPI(MPI_Buffer_attach(space, sizeof space));
    ERROR(MPI_Buffer_attach(space, sizeof space), MPI_ERR_BUFFER, NULL, NULL);
    ERROR(MPI_Bsend(data, 2000, MPI_BYTE, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, NULL, NULL);
    ERROR(MPI_Buffer_detach(NULL, &bytes), MPI_ERR_ARG, "buffer", NULL);
    ERROR(MPI_Buffer_detach(&detached, NULL), MPI_ERR_ARG, "size", NULL);
    ERROR(MPI_Buffer_detach_c(&detached, NULL), MPI_ERR_ARG, "size", NULL);
    /* after all of this it works */
    MPI(MPI_Bsend(data, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    MPI(MPI_Recv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Buffer_detach_c(&detached, &large));
    CHECK(detached == space);
    return finish();
}
