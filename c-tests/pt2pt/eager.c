/* With OXMPI_EAGER_BYTES above it, a standard send is over before its receive is posted: here the receiver asks for the
 * message only when the sender has sent another one after it. Without the setting this waits for ever. */
#include "check.h"

enum { BYTES = 100000 };

int main(int argc, char **argv)
{
    static unsigned char data[BYTES];
    start(&argc, &argv);
    if (rank == 0) {
        fill(data, BYTES, 1);
        MPI(MPI_Send(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Recv(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, BYTES, 1);
    }
    return finish();
}
