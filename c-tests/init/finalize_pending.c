/* Finalize completes what has been sent: rank 0 is gone from MPI long before rank 1 receives. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char data[100000];
    start(&argc, &argv);
    if (rank == 0) {
        MPI_Request request;
        for (int i = 0; i < 10; i++) {
            static unsigned char parts[10][100000];
            fill(parts[i], sizeof data, i);
            MPI(MPI_Isend(parts[i], 1000 * i * i + 1, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request));
            MPI(MPI_Request_free(&request));
        }
    } else if (rank == 1) {
        for (volatile int i = 0; i < 20000000; i++)
            ;
        for (int i = 9; i >= 0; i--) {
            MPI(MPI_Recv(data, sizeof data, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, 1000 * i * i + 1, i);
        }
    }
    return finish();
}
