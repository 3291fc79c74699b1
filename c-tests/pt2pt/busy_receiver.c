/* The receiver computes without calling MPI while messages of growing size are sent to it, then takes them backwards. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char data[8][200000], in[200000];
    start(&argc, &argv);
    if (rank == 0) {
        MPI_Request requests[8];
        for (int i = 0; i < 8; i++) {
            fill(data[i], sizeof in, i);
            MPI(MPI_Isend(data[i], 1 << (2 * i), MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]));
        }
        MPI(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
        volatile unsigned long work = 0;
        for (unsigned long i = 0; i < 20000000; i++)
            work += i;
        for (int i = 7; i >= 0; i--) {
            MPI(MPI_Recv(in, sizeof in, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(in, 1 << (2 * i), i);
        }
    }
    return finish();
}
