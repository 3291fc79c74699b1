/* Wrong arguments of Mrecv and Imrecv: the message stays and is received afterwards. */
#include "wrong.h"

static int in[4];

int main(int argc, char **argv)
{
    MPI_Message message, null = MPI_MESSAGE_NULL, wrong = (MPI_Message) MPI_INT;
    MPI_Status status;
    MPI_Request request, send;
    int out = 5;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Isend(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &send));
    MPI(MPI_Mprobe(rank, 3, MPI_COMM_WORLD, &message, &status));
    ERROR(MPI_Mrecv(in, -1, MPI_INT, &message, &status), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Mrecv_c(in, -1, MPI_INT, &message, &status), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Mrecv(NULL, 1, MPI_INT, &message, &status), MPI_ERR_BUFFER, "buf", NULL);
    ERROR(MPI_Mrecv(in, 1, MPI_DATATYPE_NULL, &message, &status), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Imrecv(in, -1, MPI_INT, &message, &request), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Imrecv_c(in, -1, MPI_INT, &message, &request), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Imrecv(NULL, 1, MPI_INT, &message, &request), MPI_ERR_BUFFER, "buf", NULL);
    ERROR(MPI_Imrecv(in, 1, MPI_DATATYPE_NULL, &message, &request), MPI_ERR_TYPE, "datatype", NULL);
    if (!reference) {
        ERROR(MPI_Mrecv(in, 1, MPI_INT, &null, &status), MPI_ERR_REQUEST, "message", NULL);
        ERROR(MPI_Mrecv(in, 1, MPI_INT, &wrong, &status), MPI_ERR_REQUEST, "message", NULL);
        ERROR(MPI_Imrecv(in, 1, MPI_INT, &null, &request), MPI_ERR_REQUEST, "message", NULL);
        ERROR(MPI_Imrecv(in, 1, MPI_INT, &wrong, &request), MPI_ERR_REQUEST, "message", NULL);
        ERROR(MPI_Mrecv(in, 1, MPI_INT, NULL, &status), MPI_ERR_ARG, "message", NULL);
        ERROR(MPI_Imrecv(in, 1, MPI_INT, NULL, &request), MPI_ERR_ARG, "message", NULL);
        ERROR(MPI_Imrecv(in, 1, MPI_INT, &message, NULL), MPI_ERR_ARG, "request", NULL);
        if (!ignores_null_status)
            ERROR(MPI_Mrecv(in, 1, MPI_INT, &message, NULL), MPI_ERR_ARG, "status", NULL);
    }
    (void) null, (void) wrong;
    MPI(MPI_Mrecv(in, 4, MPI_INT, &message, &status));
    CHECK_STATUS(status, rank, 3, 4);
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    return finish();
}
