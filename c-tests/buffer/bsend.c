/* Bsend, Ibsend, Bsend_init: local whatever the receiver does, within the space attached; the buffer is used over and over;
 * detach waits for what is in it. */
#include "check.h"

enum { COUNT = 20 };

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 100, 4000, 50000};
    static unsigned char data[50000], in[50000];
    int packed, bytes, total = 0;
    void *space, *detached = NULL;
    start(&argc, &argv);
    for (int i = 0; i < COUNT; i++) {
        MPI(MPI_Pack_size(sizes[i % 5], MPI_BYTE, MPI_COMM_WORLD, &packed));
        total += packed + MPI_BSEND_OVERHEAD;
    }
    space = malloc(total);
    for (int round = 0; round < 10; round++) {
        MPI(MPI_Buffer_attach(space, total));
        if (rank == 0) {
            MPI_Request request;
            for (int i = 0; i < COUNT; i++) {
                fill(data, sizes[i % 5], i + round);
                if (i % 3 == 0) {
                    MPI(MPI_Bsend(data, sizes[i % 5], MPI_BYTE, 1, i, MPI_COMM_WORLD));
                } else if (i % 3 == 1) {
                    MPI(MPI_Ibsend(data, sizes[i % 5], MPI_BYTE, 1, i, MPI_COMM_WORLD, &request));
                    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
                } else {
                    MPI(MPI_Bsend_init(data, sizes[i % 5], MPI_BYTE, 1, i, MPI_COMM_WORLD, &request));
                    MPI(MPI_Start(&request));
                    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
                    MPI(MPI_Request_free(&request));
                }
                memset(data, 0xff, sizes[i % 5]);
            }
            /* All were local: only now the receiver is told to begin. */
            MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 1000, MPI_COMM_WORLD));
        } else if (rank == 1) {
            MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = COUNT - 1; i >= 0; i--) {
                MPI_Status status;
                MPI(MPI_Recv(in, sizeof in, MPI_BYTE, 0, i, MPI_COMM_WORLD, &status));
                CHECK_STATUS(status, 0, i, sizes[i % 5]);
                CHECK_PATTERN(in, sizes[i % 5], i + round);
            }
        }
        bytes = -1;
        MPI(MPI_Buffer_detach(&detached, &bytes));
        CHECK(detached == space);
        CHECK_INT(bytes, total);
        memset(space, 0xaa, total); /* ours again */
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(space);
    return finish();
}
