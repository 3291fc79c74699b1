/* Ready sends to receives that are known to be posted: blocking, nonblocking, persistent; all sizes. */
#include "check.h"

static unsigned char out[300000], in[300000];

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 4, 100, 5000, 70000, 300000};
    start(&argc, &argv);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int how = 0; how < 3; how++) {
            int tag = (int) s * 3 + how, bytes = sizes[s], to = (rank + 1) % size, from = (rank + size - 1) % size;
            MPI_Request receive, request;
            MPI_Status status;
            fill(out, bytes, tag + rank);
            MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &receive)); /* rank to itself too, if alone */
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (how == 0) {
                MPI(MPI_Rsend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
            } else if (how == 1) {
                MPI(MPI_Irsend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
                MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            } else {
                MPI(MPI_Rsend_init(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
                MPI(MPI_Start(&request));
                MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
                MPI(MPI_Request_free(&request));
            }
            MPI(MPI_Wait(&receive, &status));
            CHECK_STATUS(status, from, tag, bytes);
            CHECK_PATTERN(in, bytes, tag + from);
        }
    return finish();
}
