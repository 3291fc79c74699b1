/* args: how each rank sends to the next one before it receives from the one before. It ends where MPI buffers the message, and is wrong: with
 * OXMPI_CHECK=buffering it gets stuck. "right" is right, and goes on.
 */
#include "check.h"

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "send";
    int out = 17, in = 0, dummy;
    MPI_Request request;
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (strcmp(how, "send") == 0)
        MPI(MPI_Send(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    if (strcmp(how, "isend") == 0) {
        MPI(MPI_Isend(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (strcmp(how, "start") == 0) {
        MPI(MPI_Send_init(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &request));
        MPI(MPI_Start(&request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(&request));
    }
    if (strcmp(how, "sendrecv") == 0)
        MPI(MPI_Sendrecv(&out, 1, MPI_INT, to, 1, &dummy, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (strcmp(how, "isendrecv") == 0) {
        /* A message to oneself comes; the one to the next does not leave. */
        MPI(MPI_Isendrecv(&out, 1, MPI_INT, to, 1, &dummy, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request));
        MPI_Request own;
        MPI(MPI_Isend(&out, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &own));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI(MPI_Wait(&own, MPI_STATUS_IGNORE));
        CHECK_INT(dummy, 17);
    }
    if (strcmp(how, "right") == 0) {
        MPI(MPI_Sendrecv(&out, 1, MPI_INT, to, 3, &in, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Sendrecv_replace(&in, 1, MPI_INT, to, 3, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(in, 17);
        MPI(MPI_Isend(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &request));
    }
    MPI(MPI_Recv(&in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(in, 17);
    if (strcmp(how, "right") == 0)
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return finish();
}
