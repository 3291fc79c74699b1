/* A thread revokes a communicator while others of its process, and of other processes, wait on it: all are told. */
#include "revoked.h"
#include "threads.h"

static MPI_Comm comm;

static void *receives(void *argument)
{
    int x;
    (void)argument;
    REVOKED(MPI_Recv(&x, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE));
    return NULL;
}

static void *waits(void *argument)
{
    MPI_Request requests[2];
    int x, y, at;
    (void)argument;
    int code = MPI_Irecv(&x, 1, MPI_INT, rank, 2, comm, &requests[0]);
    if (code) {
        CHECK_INT(check_class_of(code), MPIX_ERR_REVOKED);
        return NULL;
    }
    code = MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[1]);
    if (code) {
        REVOKED(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        return NULL;
    }
    REVOKED(MPI_Waitany(2, requests, &at, MPI_STATUS_IGNORE));
    REVOKED(MPI_Wait(&requests[!at], MPI_STATUS_IGNORE));
    return NULL;
}

static void *probes(void *argument)
{
    (void)argument;
    REVOKED(MPI_Probe(MPI_ANY_SOURCE, 4, comm, MPI_STATUS_IGNORE));
    return NULL;
}

/* One process does not come. */
static void *meets(void *argument)
{
    (void)argument;
    REVOKED(MPI_Barrier(comm));
    return NULL;
}

int main(int argc, char **argv)
{
    void *(*all[])(void *) = {receives, waits, probes, meets};
    start_multiple(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int round = 0; round < 10; round++) {
        pthread_t threads[4];
        int flag = 1, revoker = round % size, count = rank == (revoker + 1) % size ? 3 : 4;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        for (int i = 0; i < count; i++)
            CHECK(!pthread_create(&threads[i], NULL, all[i], NULL));
        if (rank == revoker) {
            usleep(round % 3 * 3000);
            MPI(MPIX_Comm_revoke(comm));
        }
        for (int i = 0; i < count; i++)
            CHECK(!pthread_join(threads[i], NULL));
        await_revocation(comm);
        MPIX_Comm_agree(comm, &flag);
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
