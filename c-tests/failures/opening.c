/* A rank of another node dies while ranks of this one wait for the first rank to say where their staging area is: the wait ends by the loss, and so
 * does the operation. What the first rank says late is not taken for data. */
#include "failing.h"

enum { COUNT = 40000 };

int main(int argc, char **argv)
{
    static int out[COUNT], in[COUNT];
    int token = 0, done = 0, sums[4], blocks[4 * 64] = {0};
    MPI_Request request;
    MPI_Comm comm;
    start_failing(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    before_deaths(MPI_COMM_WORLD, rank == last);
    if (rank == last) {
        MPI(MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        raise(SIGKILL);
    }
    /* Its partner on the other node is lost to the rank beside the first one, which is in the next operation then. */
    int code = MPI_Iallreduce(out, in, COUNT, MPI_INT, MPI_SUM, comm, &request);
    if (code != MPI_SUCCESS) {
        /* So late that it knows already. */
        FAILED(code);
        done = 1;
    }
    if (rank == 0) {
        for (int i = 0; i < 200 && !done; i++) {
            MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            usleep(200);
        }
        MPI(MPI_Send(&token, 1, MPI_INT, last, 0, MPI_COMM_WORLD));
        usleep(150000);
    }
    FAILED(MPI_Reduce_scatter_block(blocks, sums, 4, MPI_INT, MPI_SUM, comm));
    if (!done)
        FAILED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* Nobody is in MPI_Finalize before. */
    done = 1;
    FAILED(MPIX_Comm_agree(comm, &done));
    return finish();
}
