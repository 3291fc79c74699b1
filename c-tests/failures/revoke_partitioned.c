/* A partitioned message is started, made ready and waited for again and again while another thread revokes its communicator: each of these calls
 * succeeds or says so. */
#include "revoked.h"
#include "threads.h"

enum { ROUNDS = 300, PARTITIONS = 4, BYTES = 8 };

static MPI_Comm comm;

static int is_revoked(int code, const char *what)
{
    int class = code ? check_class_of(code) : MPI_SUCCESS;
    if (class != MPI_SUCCESS && class != MPIX_ERR_REVOKED && class != MPI_ERR_IN_STATUS)
        check_failed(__FILE__, __LINE__, "error class %d of %s", class, what);
    return class != MPI_SUCCESS;
}

#define IS_REVOKED(call) is_revoked(call, #call)

static void *revoke_soon(void *argument)
{
    /* Not always at the same step. */
    for (volatile int i = 0; i < 500 * (int) (intptr_t) argument; i++)
        ;
    MPI(MPIX_Comm_revoke(comm));
    return NULL;
}

int main(int argc, char **argv)
{
    char out[PARTITIONS * BYTES] = "", in[PARTITIONS * BYTES];
    start_multiple(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        pthread_t thread;
        int to = (rank + 1) % size, from = (rank + size - 1) % size, ends = 0;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        MPI(MPI_Psend_init(out, PARTITIONS, BYTES, MPI_CHAR, to, 0, comm, MPI_INFO_NULL, &requests[0]));
        MPI(MPI_Precv_init(in, PARTITIONS, BYTES, MPI_CHAR, from, 0, comm, MPI_INFO_NULL, &requests[1]));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_INT(pthread_create(&thread, NULL, revoke_soon, (void *) (intptr_t) (round % 50)), 0);
        while (!ends) {
            MPI(MPI_Startall(2, requests));
            ends |= IS_REVOKED(MPI_Pready_range(0, PARTITIONS - 1, requests[0]));
            ends |= IS_REVOKED(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        pthread_join(thread, NULL);
        MPI(MPI_Request_free(&requests[0]));
        MPI(MPI_Request_free(&requests[1]));
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
