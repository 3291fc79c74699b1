/* With OXMPI_CHECK_SIGNATURES: what a message carries is given back when it is over, also with requests that pend all the time.
 */
#include "churn.h"

static void exchange(int messages)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, in[4];
    MPI_Request request;
    for (int i = 0; i < messages; i++) {
        int out[4] = {i, i + 1, i + 2, i + 3};
        MPI(MPI_Sendrecv(out, 4, MPI_INT, next, 1, in, 4, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in[0] == i && in[3] == i + 3);
        MPI(MPI_Irecv(in, 4, MPI_INT, before, 2, MPI_COMM_WORLD, &request));
        MPI(MPI_Send(out, 3, MPI_INT, next, 2, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(in[2] == i + 2);
    }
}

int main(int argc, char **argv)
{
    MPI_Request pending;
    int late = -1, value = 7;
    start(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, messages = slow() ? 200 : 1000;
    exchange(messages); /* what the transport needs for good */
    for (int pends = 0; pends < 2; pends++) {
        if (pends)
            MPI(MPI_Irecv(&late, 1, MPI_INT, before, 9, MPI_COMM_WORLD, &pending));
        long memory = resident_bytes();
        exchange(messages);
        if (!slow()) /* less than a fourth of what the types and signatures of all messages have */
            CHECK(resident_bytes() - memory < 2000L * messages);
    }
    MPI(MPI_Send(&value, 1, MPI_INT, next, 9, MPI_COMM_WORLD));
    MPI(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    CHECK_INT(late, 7);
    return finish();
}
