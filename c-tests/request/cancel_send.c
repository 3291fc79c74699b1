/* MPI_Cancel of a send: either it is cancelled and nobody receives it, or it is received. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank == 0) {
        for (int i = 0; i < 20; i++) {
            MPI_Request request;
            MPI_Status status;
            int cancelled = -1;
            MPI(MPI_Isend(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request));
            MPI(MPI_Cancel(&request));
            MPI(MPI_Wait(&request, &status));
            MPI(MPI_Test_cancelled(&status, &cancelled));
            CHECK(cancelled == 0 || cancelled == 1);
            MPI(MPI_Send(&cancelled, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
        }
    } else if (rank == 1) {
        for (int i = 0; i < 20; i++) {
            int cancelled, value = -1, flag;
            MPI(MPI_Recv(&cancelled, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (!cancelled) {
                MPI(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_INT(value, i);
            } else {
                MPI(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                CHECK_INT(flag, 0);
            }
        }
    }
    return finish();
}
