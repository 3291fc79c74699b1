/* A rank that has not heard of a revocation finds it in the memory of a collective operation, in which another rank has sent it messages already. The
 * operations behind it fail, too, and do not take those messages for theirs. Arguments: the operation behind it. */
#include "revoked.h"

enum { COUNT = 19, ROUNDS = 6 };

/* With holes, so it goes by messages. */
static int exchange(MPI_Comm comm)
{
    static int out[64 * COUNT * 4], in[64 * COUNT * 4], counts[64], places[64];
    MPI_Datatype holes;
    MPI(MPI_Type_vector(2, 2, 4, MPI_INT, &holes));
    MPI(MPI_Type_commit(&holes));
    for (int i = 0; i < size; i++)
        counts[i] = COUNT / 4, places[i] = i * 8;
    int code = MPI_Alltoallv(out, counts, places, holes, in, counts, places, holes, comm);
    MPI(MPI_Type_free(&holes));
    return code;
}

static int behind(const char *what, MPI_Comm comm)
{
    static int data[200], more[200];
    MPI_Comm new = MPI_COMM_NULL;
    int code;
    if (!strcmp(what, "dup"))
        return MPI_Comm_dup(comm, &new);
    if (!strcmp(what, "split"))
        return MPI_Comm_split(comm, 0, 0, &new);
    if (!strcmp(what, "exchange"))
        return exchange(comm);
    if (!strcmp(what, "allreduce"))
        return MPI_Allreduce(data, more, 200, MPI_INT, MPI_SUM, comm);
    MPI_Request request;
    code = MPI_Ibcast(data, 200, MPI_INT, 0, comm, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    start_failing(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        for (int i = 0; i < 3; i++)
            MPI(exchange(comm));
        for (int i = 0; i < 3; i++)
            MPI(MPI_Barrier(comm));
        /* Nobody is in a call on it when it is revoked. */
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            usleep(10000);
            MPI(MPIX_Comm_revoke(comm));
        } else if (rank == 1) {
            /* Outside of MPI. */
            usleep(30000);
            REVOKED(exchange(comm));
            REVOKED(behind(argv[1], comm));
            REVOKED(behind(argv[1], comm));
        } else {
            REVOKED(exchange(comm));
        }
        await_revocation(comm);
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
