/* A synchronous send does not end before its receive has begun. No clock: the receiver sends a token just before it
 * posts the receive; when the synchronous send has ended, that token must be there. */
#include "check.h"

static char data[200000];

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 500, 8192, 200000};
    start(&argc, &argv);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int how = 0; how < 4; how++) {
            int tag = (int) s * 10 + how, flag = 0;
            MPI_Request request;
            if (rank == 0) {
                switch (how) {
                case 0:
                    MPI(MPI_Ssend(data, sizes[s], MPI_BYTE, 1, tag, MPI_COMM_WORLD));
                    break;
                case 1:
                    MPI(MPI_Issend(data, sizes[s], MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request));
                    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
                    break;
                case 2:
                    MPI(MPI_Ssend_init(data, sizes[s], MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request));
                    MPI(MPI_Start(&request));
                    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
                    MPI(MPI_Request_free(&request));
                    break;
                case 3:
                    MPI(MPI_Issend(data, sizes[s], MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request));
                    for (int i = 0; i < 1000; i++) {
                        MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
                        CHECK_INT(flag, 0);
                    }
                    MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 1001, MPI_COMM_WORLD));
                    while (!flag)
                        MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
                    break;
                }
                /* Rank 1 sent the token before it began to receive, so it cannot be missing now. */
                MPI(MPI_Iprobe(1, 1000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                CHECK_INT(flag, 1);
                MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            } else if (rank == 1) {
                MPI_Status status;
                if (how == 3)
                    MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 1001, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                MPI(MPI_Probe(0, tag, MPI_COMM_WORLD, &status)); /* a probe does not begin to receive */
                CHECK_STATUS(status, 0, tag, sizes[s]);
                MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, 1000, MPI_COMM_WORLD));
                MPI(MPI_Recv(data, sizes[s], MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status));
            }
        }
    /* An Issend that nobody receives stays incomplete while later messages of the same pair go through. */
    if (rank == 0) {
        MPI_Request request;
        int flag = -1;
        MPI(MPI_Issend(data + 100, 10, MPI_BYTE, 1, 2000, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 200; i++) {
            MPI(MPI_Send(data, 100, MPI_BYTE, 1, 2001, MPI_COMM_WORLD));
            MPI(MPI_Recv(data, 100, MPI_BYTE, 1, 2001, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK_INT(flag, 0);
        }
        MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 2002, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == 1) {
        for (int i = 0; i < 200; i++) {
            MPI(MPI_Recv(data, 100, MPI_BYTE, 0, 2001, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Send(data, 100, MPI_BYTE, 0, 2001, MPI_COMM_WORLD));
        }
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 2002, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Recv(data, 10, MPI_BYTE, 0, 2000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return finish();
}
