/* MPI 4.1: a buffer of a communicator is used for its messages, and the others for theirs; flush, iflush, detach. */
#include "check.h"

int main(int argc, char **argv)
{
    int data[100], in[100], bytes = -1, failed;
    const int room = 400 + MPI_BSEND_OVERHEAD;
    char *of_dup = malloc(room), *of_world = malloc(room), *of_process = malloc(room);
    void *detached;
    MPI_Comm dup;
    MPI_Request request;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Comm_attach_buffer(dup, of_dup, room));
    /* only dup has one */
    failed = MPI_Bsend(data, 100, MPI_INT, rank, 1, MPI_COMM_WORLD);
    CHECK_CLASS(failed, MPI_ERR_BUFFER);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            data[i] = i + round;
        MPI(MPI_Bsend(data, 100, MPI_INT, rank, 1, dup));
        memset(data, 0, sizeof data);
        MPI(MPI_Recv(in, 100, MPI_INT, rank, 1, dup, MPI_STATUS_IGNORE));
        CHECK_INT(in[99], 99 + round);
        if (round == 0) {
            MPI(MPI_Comm_flush_buffer(dup));
        } else if (round == 1) {
            MPI(MPI_Comm_iflush_buffer(dup, &request));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    /* world's own, dup's own and the process's: COMM_SELF uses the process's */
    MPI(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, of_world, room));
    MPI(MPI_Buffer_attach(of_process, room));
    MPI_Comm comms[3] = {dup, MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int c = 0; c < 3; c++) {
        data[0] = 70 + c;
        MPI(MPI_Bsend(data, 100, MPI_INT, c == 2 ? 0 : rank, 2, comms[c]));
    }
    MPI_Request receives[3];
    int got[3][100];
    for (int c = 0; c < 3; c++)
        MPI(MPI_Irecv(got[c], 100, MPI_INT, c == 2 ? 0 : rank, 2, comms[c], &receives[c]));
    MPI(MPI_Waitall(3, receives, MPI_STATUSES_IGNORE));
    for (int c = 0; c < 3; c++)
        CHECK_INT(got[c][0], 70 + c);
    MPI(MPI_Buffer_flush());
    MPI(MPI_Buffer_iflush(&request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_detach_buffer(dup, &detached, &bytes));
    CHECK(detached == of_dup);
    CHECK_INT(bytes, room);
    MPI_Count large = -1;
    MPI(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &detached, &large));
    CHECK(detached == of_world);
    CHECK_INT(large, room);
    MPI(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == of_process);
    MPI(MPI_Comm_free(&dup));
    free(of_dup), free(of_world), free(of_process);
    return finish();
}
