/* Errors of matched receives and of partitioned requests go to their communicator's handler, which returns them here; that of MPI_COMM_SELF
 * would end the job. */
#include "check.h"

static MPI_Comm comm;

static MPI_Message match(MPI_Request *send)
{
    static char data[50];
    MPI_Message message;
    MPI_Status status;
    MPI(MPI_Isend(data, 50, MPI_CHAR, rank, 1, comm, send));
    MPI(MPI_Mprobe(rank, 1, comm, &message, &status));
    return message;
}

static void matched(void)
{
    char room[10];
    MPI_Request send, receive;
    MPI_Message message = match(&send);
    MPI(MPI_Imrecv(room, 10, MPI_CHAR, &message, &receive));
    CHECK_INT(check_class_of(MPI_Wait(&receive, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    if (!reference) {
        message = match(&send);
        CHECK_INT(check_class_of(MPI_Mrecv(room, 10, MPI_CHAR, &message, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
        MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
}

/* Of a communicator that is freed between probe and receive, and of which another one may have the handle. */
static void freed(void)
{
    char room[50];
    MPI_Request send;
    MPI_Comm other;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Message message = match(&send);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    MPI(MPI_Mrecv(room, 50, MPI_CHAR, &message, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_free(&other));
}

static void partitioned(void)
{
    char data[2] = {0, 0};
    int none[1] = {0};
    MPI_Request request;
    MPI(MPI_Psend_init(data, 2, 1, MPI_CHAR, MPI_PROC_NULL, 1, comm, MPI_INFO_NULL, &request));
    MPI(MPI_Start(&request));
    CHECK_INT(check_class_of(MPI_Pready(9, request)), MPI_ERR_ARG);
    CHECK_INT(check_class_of(MPI_Pready_range(0, 9, request)), MPI_ERR_ARG);
    CHECK_INT(check_class_of(MPI_Pready_range(1, 0, request)), MPI_ERR_ARG);
    CHECK_INT(check_class_of(MPI_Pready_list(-1, none, request)), MPI_ERR_ARG);
    CHECK_INT(check_class_of(MPI_Pready_list(1, NULL, request)), MPI_ERR_ARG);
    MPI(MPI_Pready_range(0, 1, request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    matched();
    if (!reference)
        partitioned();
    MPI(MPI_Comm_free(&comm));
    freed();
    return finish();
}
