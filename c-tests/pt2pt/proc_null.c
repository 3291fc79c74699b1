/* MPI_PROC_NULL as source and destination of every function: at once, buffers untouched, the status of the standard. */
#include "check.h"

#define CHECK_NULL_STATUS(status) CHECK_STATUS(status, MPI_PROC_NULL, MPI_ANY_TAG, 0)

int main(int argc, char **argv)
{
    int value = 42, flag = 0, other = 43;
    char space[MPI_BSEND_OVERHEAD + 100];
    void *detached;
    MPI_Status status;
    MPI_Request request, requests[8];
    MPI_Message message;
    start(&argc, &argv);
    MPI(MPI_Buffer_attach(space, sizeof space));
    MPI(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    MPI(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    MPI(MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    MPI(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    MPI(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Irsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]));
    MPI(MPI_Ibsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[3]));
    MPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    MPI(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Ssend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Rsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]));
    MPI(MPI_Bsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[3]));
    MPI(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[4]));
    for (int i = 0; i < 3; i++) {
        MPI_Status statuses[5];
        MPI(MPI_Startall(5, requests));
        MPI(MPI_Waitall(5, requests, statuses));
        if (!reference) /* there the source is any source */
            CHECK_NULL_STATUS(statuses[4]);
    }
    for (int i = 0; i < 5; i++)
        MPI(MPI_Request_free(&requests[i]));

    spoil(&status);
    MPI(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    CHECK_NULL_STATUS(status);
    spoil(&status);
    MPI(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    MPI(MPI_Wait(&request, &status));
    if (!reference) /* not so in MPICH 4.0.2 */
        CHECK_NULL_STATUS(status);
    spoil(&status);
    MPI(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    CHECK_NULL_STATUS(status);
    spoil(&status);
    MPI(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_NULL_STATUS(status);

    spoil(&status);
    MPI(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_NULL_STATUS(status);
    spoil(&status);
    MPI(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_NULL_STATUS(status);
    flag = 0;
    MPI(MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK_INT(flag, 1);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    spoil(&status);
    MPI(MPI_Wait(&request, &status));
    CHECK_NULL_STATUS(status);

    spoil(&status);
    MPI(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &other, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK_NULL_STATUS(status);
    spoil(&status);
    MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK_NULL_STATUS(status);
    if (!reference) { /* crashes there */
        MPI(MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &other, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
        spoil(&status);
        MPI(MPI_Wait(&request, &status));
        CHECK_NULL_STATUS(status);
        MPI(MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }

    /* a chain: the ends have no neighbour */
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    other = -1;
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, right, 9, &other, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &status));
    CHECK_INT(other, rank - 1);
    CHECK_INT(status.MPI_SOURCE, left);
    CHECK_INT(value, 42);
    int bytes;
    MPI(MPI_Buffer_detach(&detached, &bytes));
    return finish();
}
