/* What a process had sent before it died is received, whole and in order, by whatever call; the next receive from it gives MPIX_ERR_PROC_FAILED. What
 * it had only announced is an error, too. args: how the last rank dies. */
#include "failing.h"

enum { FEW = 8, SIZES = 4 };
static const int bytes_of[SIZES] = {0, 8, 1000, 10000};
static char data[1 << 21], big[1 << 21];

int main(int argc, char **argv)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    int flag = 0, bytes, code;
    start_failing(&argc, &argv);
    /* Begun before the death. */
    MPI_Request early = MPI_REQUEST_NULL;
    if (rank != last)
        MPI(MPI_Irecv(&flag, 1, MPI_INT, last, 99, w, &early));
    if (rank == last)
        for (int to = 0; to < last; to++) {
            for (int i = 0; i < FEW; i++) {
                fill(data, bytes_of[i % SIZES], i);
                MPI(MPI_Send(data, bytes_of[i % SIZES], MPI_CHAR, to, i, w));
            }
            MPI(MPI_Isend(big, sizeof big, MPI_CHAR, to, 50, w, &request));
        }
    /* What has not left the memory of the last rank dies with it: the announcement is behind all of it. */
    for (int there = rank == last; !there;)
        MPI(MPI_Iprobe(last, 50, w, &there, MPI_STATUS_IGNORE));
    last_is_dead(argv[1]);
    for (int i = 0; i < FEW; i++) {
        memset(data, 0, sizeof data);
        switch (i) {
        case 0: MPI(MPI_Recv(data, sizeof data, MPI_CHAR, last, i, w, &status)); break;
        case 1: MPI(MPI_Probe(last, i, w, &status));
                MPI(MPI_Get_count(&status, MPI_CHAR, &bytes));
                CHECK_INT(bytes, bytes_of[i % SIZES]);
                MPI(MPI_Recv(data, sizeof data, MPI_CHAR, last, i, w, &status)); break;
        case 2: MPI(MPI_Mprobe(last, i, w, &message, &status));
                MPI(MPI_Mrecv(data, sizeof data, MPI_CHAR, &message, &status)); break;
        case 3: for (flag = 0; !flag;) MPI(MPI_Iprobe(last, i, w, &flag, &status));
                MPI(MPI_Recv(data, sizeof data, MPI_CHAR, last, i, w, &status)); break;
        case 4: for (flag = 0; !flag;) MPI(MPI_Improbe(last, i, w, &flag, &message, &status));
                MPI(MPI_Imrecv(data, sizeof data, MPI_CHAR, &message, &request));
                MPI(MPI_Wait(&request, &status)); break;
        case 5: MPI(MPI_Irecv(data, sizeof data, MPI_CHAR, last, i, w, &request));
                for (flag = 0; !flag;) MPI(MPI_Test(&request, &flag, &status));
                break;
        /* From anybody: a message that is there is taken though the failure is not acknowledged. */
        case 6: MPI(MPI_Recv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, i, w, &status)); break;
        case 7: MPI(MPI_Irecv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, i, w, &request));
                MPI(MPI_Wait(&request, &status)); break;
        }
        CHECK_STATUS(status, last, i, bytes_of[i % SIZES]);
        CHECK_PATTERN(data, bytes_of[i % SIZES], i);
        FAILED(MPI_Recv(data, sizeof data, MPI_CHAR, last, i, w, &status));
    }
    code = MPI_Recv(data, sizeof data, MPI_CHAR, last, 50, w, &status);
    FAILED(code);
    FAILED(MPI_Wait(&early, MPI_STATUS_IGNORE));
    return finish();
}
