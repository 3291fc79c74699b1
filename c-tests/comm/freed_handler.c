/* An operation that fails after its communicator was freed has that communicator's error handler. */
#include "check.h"

static int called;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    called++;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int form = 0; form < 4; form++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Errhandler own = MPI_ERRORS_RETURN;
        int in[10], out[10] = {0}, class_ = 0;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (form % 2)
            MPI(MPI_Comm_create_errhandler(handler, &own));
        MPI(MPI_Comm_set_errhandler(comm, own));
        called = 0;
        if (form < 2) {
            MPI(MPI_Irecv(in, 1, MPI_INT, rank, 1, comm, &request));
        } else {
            MPI(MPI_Recv_init(in, 1, MPI_INT, rank, 1, comm, &request));
            MPI(MPI_Start(&request));
        }
        /* to itself: the receive is truncated */
        MPI_Request send;
        MPI(MPI_Isend(out, 10, MPI_INT, rank, 1, comm, &send));
        MPI(MPI_Comm_free(&comm));
        int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI(MPI_Error_class(code, &class_));
        CHECK_INT(class_, MPI_ERR_TRUNCATE);
        CHECK_INT(called, form % 2);
        MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
        if (form >= 2)
            MPI(MPI_Request_free(&request));
        if (form % 2)
            MPI(MPI_Errhandler_free(&own));
    }
    return finish();
}
