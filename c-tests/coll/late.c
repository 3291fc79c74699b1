/* Ranks that wait long for one that is late, in operations whose arguments differ from rank to rank by right: none is taken for a mistake. The late
 * rank has called fewer operations there than the others, more or none, on communicators with ids that others had before it. */
#include <unistd.h>
#include "check.h"

enum { MOST = 64 };
static int in[16 * 1024], out[16 * 1024], counts[MOST], displs[MOST];

/* Longer than it takes to find a mistake. Nothing depends on it. */
static void be_late(int who)
{
    if (rank == who)
        usleep(4000000);
}

/* Operations with arguments that only some ranks need, or that are not the same, all under way when the last rank comes. Few on one communicator,
 * so that each is remembered. */
static void differ(int late)
{
    enum { COMMUNICATORS = 4, EACH = 4 };
    MPI_Comm c[COMMUNICATORS];
    MPI_Request r[COMMUNICATORS * EACH];
    int n = 0, root = rank == 0, sends[MOST], receives[MOST], places[MOST];
    MPI_Datatype pair;
    MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    MPI(MPI_Type_commit(&pair));
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1, displs[i] = 4 * i, places[i] = 4 * i;
        sends[i] = (i * 3 + rank * 5) % 4, receives[i] = (rank * 3 + i * 5) % 4;
    }
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &c[i]));
    be_late(late);
#define OUT (out + 256 * n)
#define BEGIN(call) do { MPI(call); n++; } while (0)
    BEGIN(MPI_Igatherv(in, rank + 1, MPI_INT, OUT, counts, displs, MPI_INT, 0, c[0], &r[n]));
    BEGIN(MPI_Iscatterv(in, counts, displs, MPI_INT, OUT, rank + 1, MPI_INT, 0, c[0], &r[n]));
    BEGIN(MPI_Iallgatherv(in, rank + 1, MPI_INT, OUT, counts, displs, MPI_INT, c[0], &r[n]));
    BEGIN(MPI_Ialltoallv(in, sends, places, MPI_INT, OUT, receives, places, MPI_INT, c[0], &r[n]));
    /* what is of no meaning but at the root */
    BEGIN(MPI_Igather(in, 2, MPI_INT, OUT, root ? 2 : 77, MPI_INT, 0, c[1], &r[n]));
    BEGIN(MPI_Iscatter(in, root ? 2 : 77, MPI_INT, OUT, 2, MPI_INT, 0, c[1], &r[n]));
    if (root) {
        BEGIN(MPI_Igather(MPI_IN_PLACE, 99, MPI_DOUBLE, OUT, 2, MPI_INT, 0, c[1], &r[n]));
        BEGIN(MPI_Iscatter(in, 2, MPI_INT, MPI_IN_PLACE, 99, MPI_DOUBLE, 0, c[1], &r[n]));
    } else {
        BEGIN(MPI_Igather(in, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, c[1], &r[n]));
        BEGIN(MPI_Iscatter(NULL, 0, MPI_DATATYPE_NULL, OUT, 2, MPI_INT, 0, c[1], &r[n]));
    }
    /* as many bytes of other types, in place and not */
    BEGIN(rank % 2 ? MPI_Ibcast(OUT, 4, MPI_INT, 0, c[2], &r[n]) : MPI_Ibcast(OUT, 2, pair, 0, c[2], &r[n]));
    BEGIN(rank % 2 ? MPI_Iallgather(in, 2, MPI_INT, OUT, 1, pair, c[2], &r[n])
                 : MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, OUT, 2, MPI_INT, c[2], &r[n]));
    BEGIN(rank % 2 ? MPI_Ialltoall(in, 1, pair, OUT, 2, MPI_INT, c[2], &r[n]) : MPI_Ialltoall(in, 2, MPI_INT, OUT, 1, pair, c[2], &r[n]));
    BEGIN(rank % 2 ? MPI_Iallreduce(MPI_IN_PLACE, OUT, 5, MPI_INT, MPI_MAX, c[2], &r[n])
                 : MPI_Iallreduce(in, OUT, 5, MPI_INT, MPI_MAX, c[2], &r[n]));
    BEGIN(MPI_Ireduce_scatter(in, OUT, counts, MPI_INT, MPI_MAX, c[3], &r[n]));
    BEGIN(MPI_Iexscan(in, OUT, 3, MPI_INT, MPI_MAX, c[3], &r[n]));
    BEGIN(MPI_Ireduce(root ? MPI_IN_PLACE : in, OUT, 7, MPI_INT, MPI_MAX, 0, c[3], &r[n]));
    BEGIN(MPI_Ireduce(in, OUT, 0, MPI_INT, MPI_MAX, 0, c[3], &r[n]));
    /* all have come, and the last does nothing for them */
    be_late(late);
    MPI(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI(MPI_Comm_free(&c[i]));
    MPI(MPI_Type_free(&pair));
}

/* Roots that run ahead, with other amounts each time. */
static void run_ahead(MPI_Comm c, int late)
{
    for (int i = 0; i < 15; i++)
        MPI(MPI_Bcast(in, i % 3 ? i : 0, MPI_INT, (late + 1) % size, c));
    be_late(late);
    for (int i = 0; i < 15; i++)
        MPI(MPI_Reduce(in, out, 4 * i, MPI_INT, MPI_MAX, (late + 1) % size, c));
    MPI(MPI_Barrier(c));
}

/* More of them than are remembered, of other amounts each, waited for in any order, on two communicators that share the late rank. */
static void at_the_same_time(MPI_Comm c, MPI_Comm other, int late)
{
    enum { MANY = 20 };
    MPI_Request r[2 * MANY];
    int n = 0;
    for (int i = 0; i < MANY; i++) {
        MPI(MPI_Ibcast(in + 40 * i, i, MPI_INT, i % size, c, &r[n++]));
        MPI(MPI_Iallreduce(MPI_IN_PLACE, out + 100 * i, 10 + 4 * i, MPI_INT, MPI_MAX, other, &r[n++]));
    }
    if (rank % 2)
        MPI(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    else
        for (int i = n; i-- > 0;)
            MPI(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    MPI(MPI_Allgather_init(in, 3, MPI_INT, out, 3, MPI_INT, c, MPI_INFO_NULL, &r[0]));
    MPI(MPI_Bcast_init(in, 1000, MPI_INT, 0, other, MPI_INFO_NULL, &r[1]));
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            be_late(late);
        MPI(rank == late ? MPI_Start(&r[1]) : MPI_Start(&r[0]));
        MPI(rank == late ? MPI_Start(&r[0]) : MPI_Start(&r[1]));
        MPI(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
    MPI(MPI_Request_free(&r[0]));
    MPI(MPI_Request_free(&r[1]));
}

int main(int argc, char **argv)
{
    MPI_Comm c, d;
    start(&argc, &argv);
    int late = size - 1;
    for (int i = 0; i < 3; i++) {
        /* ids of communicators that others had, on which the ranks had called other operations */
        for (int j = 0; j < 20; j++) {
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &c));
            for (int k = 0; k < j % 4; k++)
                MPI(MPI_Bcast(in, 10 * j + k, MPI_INT, k % size, c));
            MPI(MPI_Comm_free(&c));
        }
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &c));
        /* the ranks but the last, and that one alone */
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == late, -rank, &d));
        for (int k = 0; k < 2 + 7 * (rank == late); k++)
            MPI(MPI_Allreduce(in, out, 3 + k, MPI_INT, MPI_MAX, d));
        MPI(MPI_Comm_free(&d));
        MPI(MPI_Comm_dup(c, &d));
        if (i == 0)
            run_ahead(c, late);
        else if (i == 1)
            differ(late);
        else
            at_the_same_time(c, d, late);
        MPI(MPI_Comm_free(&c));
        MPI(MPI_Comm_free(&d));
    }
    return finish();
}
