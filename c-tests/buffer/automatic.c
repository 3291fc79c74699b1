/* MPI_BUFFER_AUTOMATIC (MPI 4.1): any amount, for the process and for a communicator; detach gives the marker back. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char data[300000], in[300000];
    int bytes = -1;
    void *detached = NULL;
    start(&argc, &argv);
    for (int way = 0; way < 2; way++) {
        if (way == 0)
            MPI(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
        else
            MPI(MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0));
        for (int i = 0; i < 20; i++) {
            fill(data, i * 15000, i);
            MPI(MPI_Bsend(data, i * 15000, MPI_BYTE, (rank + 1) % size, i, MPI_COMM_WORLD));
        }
        for (int i = 19; i >= 0; i--) {
            MPI(MPI_Recv(in, i * 15000, MPI_BYTE, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(in, i * 15000, i);
        }
        if (way == 0) {
            MPI(MPI_Buffer_flush());
            MPI(MPI_Buffer_detach(&detached, &bytes));
        } else {
            MPI(MPI_Comm_flush_buffer(MPI_COMM_WORLD));
            MPI(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &detached, &bytes));
        }
        CHECK(detached == MPI_BUFFER_AUTOMATIC);
        CHECK_INT(bytes, 0);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
