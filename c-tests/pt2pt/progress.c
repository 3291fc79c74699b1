/* Large messages go on while their ranks are blocked in other calls: in a receive, a barrier, a wait for something else, a
 * loop of Iprobe or Test. */
#include "check.h"

enum { BYTES = 2000000 };

int main(int argc, char **argv)
{
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    start(&argc, &argv);
    int bytes = slow() ? 300000 : BYTES;
    for (int how = 0; how < 6; how++) {
        MPI_Request request;
        MPI_Status status;
        int flag = 0, value = 0;
        if (rank == 0) {
            fill(out, bytes, how);
            MPI(MPI_Isend(out, bytes, MPI_BYTE, 1, how, MPI_COMM_WORLD, &request));
            switch (how) {
            case 0: /* rank 1 answers only when it has all of it */
                MPI(MPI_Recv(&value, 1, MPI_INT, 1, 100, MPI_COMM_WORLD, &status));
                break;
            case 1:
                MPI(MPI_Barrier(MPI_COMM_WORLD));
                break;
            case 2:
                while (!flag)
                    MPI(MPI_Iprobe(1, 100, MPI_COMM_WORLD, &flag, &status));
                MPI(MPI_Recv(&value, 1, MPI_INT, 1, 100, MPI_COMM_WORLD, &status));
                break;
            case 3: {
                MPI_Request other;
                MPI(MPI_Irecv(&value, 1, MPI_INT, 1, 100, MPI_COMM_WORLD, &other));
                while (!flag)
                    MPI(MPI_Test(&other, &flag, &status));
                break;
            }
            case 4:
                MPI(MPI_Ssend(&value, 1, MPI_INT, 1, 101, MPI_COMM_WORLD));
                break;
            case 5: {
                MPI_Message message;
                MPI(MPI_Mprobe(1, 100, MPI_COMM_WORLD, &message, &status));
                MPI(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
                break;
            }
            }
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            memset(in, 0, bytes);
            MPI(MPI_Recv(in, bytes, MPI_BYTE, 0, how, MPI_COMM_WORLD, &status));
            CHECK_PATTERN(in, bytes, how);
            if (how == 1)
                MPI(MPI_Barrier(MPI_COMM_WORLD));
            else if (how == 4)
                MPI(MPI_Recv(&value, 1, MPI_INT, 0, 101, MPI_COMM_WORLD, &status));
            else
                MPI(MPI_Send(&value, 1, MPI_INT, 0, 100, MPI_COMM_WORLD));
        } else if (how == 1) {
            MPI(MPI_Barrier(MPI_COMM_WORLD));
        }
    }
    /* a chain: each rank's large send is received only after the rank behind it has got its own */
    MPI_Request request;
    fill(out, bytes, rank);
    MPI(MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD, &request));
    if (rank)
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Recv(in, bytes, MPI_BYTE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, bytes, (rank + size - 1) % size);
    if (rank + 1 < size)
        MPI(MPI_Send(NULL, 0, MPI_BYTE, rank + 1, 8, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(out);
    free(in);
    return finish();
}
