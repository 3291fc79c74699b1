/* A send buffer that is a rank's own place in the receive buffer: every rank is told, so that none is left in an operation which the
 * others have given up, and the next operation is the same one for all. Blocking, nonblocking and persistent forms. */
#include "wrong.h"

#define MOST 64

static MPI_Comm comm;
static int b[4 * MOST], counts[MOST], places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

/* All ranks come here together: a rank that had gone on would give a one for another operation. */
static void together(void)
{
    int one = 1, sum = 0, i;
    for (i = 0; i < 3; i++) {
        MPI(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % size, comm));
        if (rank == i % size)
            CHECK_INT(sum, size);
    }
    MPI(MPI_Barrier(comm));
}

#define OVERLAP(call)                                          \
    do {                                                       \
        ERROR(call, MPI_ERR_BUFFER, "sendbuf", NULL);          \
        together();                                            \
    } while (0)

static void own_place(void)
{
    int *own = b + rank, same[MOST];
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Datatype t = MPI_INT;
    for (int i = 0; i < MOST; i++)
        same[i] = 0;
    OVERLAP(MPI_Allgather(own, 1, t, b, 1, t, comm));
    OVERLAP(MPI_Iallgather(own, 1, t, b, 1, t, comm, &r));
    OVERLAP(MPI_Allgather_init(own, 1, t, b, 1, t, comm, none, &r));
    OVERLAP(MPI_Allgather(b + 3 * rank, 3, t, b, 3, t, comm));
    OVERLAP(MPI_Allgather(b + 3 * rank, 12, MPI_BYTE, b, 3, t, comm));
    OVERLAP(MPI_Allgatherv(b + 2 * rank, 1, t, b, counts, places, t, comm));
    OVERLAP(MPI_Iallgatherv(b + 2 * rank, 1, t, b, counts, places, t, comm, &r));
    OVERLAP(MPI_Allgatherv_init(b + 2 * rank, 1, t, b, counts, places, t, comm, none, &r));
    OVERLAP(MPI_Alltoall(own, 1, t, b, 1, t, comm));
    OVERLAP(MPI_Ialltoall(own, 1, t, b, 1, t, comm, &r));
    OVERLAP(MPI_Alltoall_init(own, 1, t, b, 1, t, comm, none, &r));
    OVERLAP(MPI_Alltoallv(b + 2 * rank, counts, same, t, b, counts, places, t, comm));
    OVERLAP(MPI_Ialltoallv(b + 2 * rank, counts, same, t, b, counts, places, t, comm, &r));
    OVERLAP(MPI_Alltoallw(b + 2 * rank, counts, same, types, b, counts, bytes, types, comm));
    OVERLAP(MPI_Reduce_scatter_block(b, own, 1, t, MPI_SUM, comm));
    OVERLAP(MPI_Ireduce_scatter_block(b, own, 1, t, MPI_SUM, comm, &r));
    OVERLAP(MPI_Reduce_scatter_block_init(b, own, 1, t, MPI_SUM, comm, none, &r));
    OVERLAP(MPI_Reduce_scatter(b, own, counts, t, MPI_SUM, comm));
    OVERLAP(MPI_Allreduce(b, b, 1, t, MPI_SUM, comm));
    OVERLAP(MPI_Scan(b, b, 1, t, MPI_SUM, comm));
    OVERLAP(MPI_Exscan(b, b, 1, t, MPI_SUM, comm));
    /* a rank that gets nothing is told too */
    if (size > 1) {
        counts[size - 1] = 0;
        OVERLAP(MPI_Reduce_scatter(b, b, counts, t, MPI_SUM, comm));
        counts[size - 1] = 1;
    }
    CHECK(r == MPI_REQUEST_NULL);
}

/* Every rank of a grid with periods has neighbors. */
static void neighbors(void)
{
    int one = 1, two[2] = {1, 1}, at[2] = {0, 1};
    MPI_Aint distances[2] = {0, (MPI_Aint) sizeof(int)};
    MPI_Datatype t = MPI_INT, ts[2] = {MPI_INT, MPI_INT};
    MPI_Comm grid;
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &one, 0, &grid));
    MPI(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    OVERLAP(MPI_Neighbor_allgather(b, 1, t, b, 1, t, grid));
    OVERLAP(MPI_Neighbor_allgather(b + 1, 1, t, b, 1, t, grid));
    OVERLAP(MPI_Neighbor_allgatherv(b + 1, 1, t, b, two, at, t, grid));
    OVERLAP(MPI_Neighbor_alltoall(b, 1, t, b, 1, t, grid));
    OVERLAP(MPI_Neighbor_alltoall(b + 1, 1, t, b, 1, t, grid));
    OVERLAP(MPI_Neighbor_alltoallv(b + 1, two, at, t, b, two, at, t, grid));
    OVERLAP(MPI_Neighbor_alltoallw(b + 1, two, distances, ts, b, two, distances, ts, grid));
    /* no data, no overlap */
    MPI(MPI_Neighbor_allgather(b, 0, t, b, 0, t, grid));
    MPI(MPI_Neighbor_alltoall(b, 0, t, b, 0, t, grid));
    MPI(MPI_Comm_free(&grid));
}

/* Only the root can know: on one rank alone. */
static void at_the_root(void)
{
    int mine = rank;
    MPI_Comm self;
    MPI_Datatype t = MPI_INT;
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &self));
    MPI(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    ERROR(MPI_Gather(b, 1, t, b, 1, t, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    ERROR(MPI_Scatter(b, 1, t, b, 1, t, 0, self), MPI_ERR_BUFFER, "sendbuf", NULL);
    MPI(MPI_Comm_free(&self));
    for (int root = 0; root < size; root++) {
        int *own = b + rank;
        MPI_Request r = MPI_REQUEST_NULL;
        if (rank == root) {
            ERROR(MPI_Gather(own, 1, t, b, 1, t, root, comm), MPI_ERR_BUFFER, "sendbuf", NULL);
            ERROR(MPI_Igather(own, 1, t, b, 1, t, root, comm, &r), MPI_ERR_BUFFER, "sendbuf", NULL);
            ERROR(MPI_Gatherv(b + 2 * rank, 1, t, b, counts, places, t, root, comm), MPI_ERR_BUFFER, "sendbuf", NULL);
            ERROR(MPI_Scatter(b, 1, t, own, 1, t, root, comm), MPI_ERR_BUFFER, "sendbuf", NULL);
            ERROR(MPI_Scatterv(b, counts, places, t, b + 2 * rank, 1, t, root, comm), MPI_ERR_BUFFER, "sendbuf", NULL);
        }
        MPI(MPI_Gather(&mine, 1, t, b, 1, t, root, comm));
        if (rank == root)
            for (int i = 0; i < size; i++)
                CHECK_INT(b[i], i);
    }
}

/* What is no overlap stays allowed. */
static void apart(void)
{
    int zero[MOST] = {0};
    MPI_Datatype odd, t = MPI_INT;
    MPI(MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint) sizeof(int), &odd));
    MPI(MPI_Type_commit(&odd));
    for (int i = 0; i < 2 * size; i++)
        b[i] = -1;
    b[2 * rank + 1] = rank;
    MPI(MPI_Allgather(b + 2 * rank + 1, 1, t, b, 1, odd, comm));
    for (int i = 0; i < size; i++)
        CHECK_INT(b[2 * i], i);
    MPI(MPI_Allgather(b, 0, t, b, 0, t, comm));
    MPI(MPI_Allgatherv(b, 0, t, b, zero, places, t, comm));
    MPI(MPI_Alltoall(b, 0, t, b, 0, t, comm));
    MPI(MPI_Alltoallv(b, zero, zero, t, b, zero, places, t, comm));
    MPI(MPI_Reduce_scatter(b, b, zero, t, MPI_SUM, comm));
    b[size] = 5;
    MPI(MPI_Allgather(b + size, 1, t, b, 1, t, comm));
    for (int i = 0; i < size; i++)
        CHECK_INT(b[i], 5);
    MPI(MPI_Type_free(&odd));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return_errors();
    for (int i = 0; i < MOST; i++) {
        counts[i] = 1;
        places[i] = 2 * i;
        bytes[i] = places[i] * (int) sizeof(int);
        types[i] = MPI_INT;
    }
    own_place();
    neighbors();
    at_the_root();
    apart();
    MPI(MPI_Comm_free(&comm));
    return finish();
}
