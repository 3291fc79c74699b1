/* More requests than there can be: MPI_ERR_NO_MEM from the call that begins one, the communicator's error handler called, and those that
 * there are complete. The limit of the address space makes the table short of memory sooner (args: memory). */
#include "../common/little_memory.h"

enum { MOST = 1 << 22 };

static int handled;

static void count(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    handled++;
}

int main(int argc, char **argv)
{
    MPI_Request *requests;
    MPI_Errhandler handler;
    MPI_Comm comm;
    int code = MPI_SUCCESS, begun = 0, at, value = 0, other = 0;
    int of_memory = argc > 1 && !strcmp(argv[1], "memory");
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI(MPI_Comm_create_errhandler(count, &handler));
    MPI(MPI_Comm_set_errhandler(comm, handler));
    requests = malloc((MOST + 1) * sizeof *requests);
    if (of_memory)
        limit_address_space(address_space() + (16 << 20));
    for (begun = 0; begun <= MOST; begun++) {
        code = MPI_Irecv(&value, 1, MPI_INT, 0, begun, comm, &requests[begun]);
        if (code != MPI_SUCCESS)
            break;
    }
    if (of_memory)
        set_free();
    CHECK_CLASS(code, MPI_ERR_NO_MEM);
    CHECK_INT(handled, 1);
    CHECK(begun < MOST);
    check_error_text(__FILE__, __LINE__, code, "MPI_Irecv(", "requests", NULL);
    if (!of_memory) {
        CHECK(begun > MOST / 2);
        /* The others that begin one. */
        MPI_Request one = MPI_REQUEST_NULL;
        ERROR(MPI_Issend(&value, 1, MPI_INT, 0, 5, comm, &one), MPI_ERR_NO_MEM, "requests", NULL);
        ERROR(MPI_Ibarrier(comm, &one), MPI_ERR_NO_MEM, "requests", NULL);
        ERROR(MPI_Recv_init(&value, 1, MPI_INT, 0, 5, comm, &one), MPI_ERR_NO_MEM, "requests", NULL);
        ERROR(MPI_Send_init(&value, 1, MPI_INT, 0, 5, comm, &one), MPI_ERR_NO_MEM, "requests", NULL);
        ERROR(MPI_Comm_idup(comm, &(MPI_Comm) { MPI_COMM_NULL }, &one), MPI_ERR_NO_MEM, "requests", NULL);
        CHECK_INT(handled, 6);
        /* What the library needs itself it still has. */
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (at = 0; at < begun; at++)
        MPI(MPI_Cancel(&requests[at]));
    MPI(MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE));
    MPI(MPI_Irecv(&other, 1, MPI_INT, 0, 1, comm, &requests[0]));
    value = 12;
    MPI(MPI_Send(&value, 1, MPI_INT, 0, 1, comm));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_INT(other, 12);
    free(requests);
    MPI(MPI_Errhandler_free(&handler));
    MPI(MPI_Comm_free(&comm));
    return finish();
}
