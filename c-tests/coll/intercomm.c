/* Every collective operation on an intercommunicator of the even and the odd ranks, in all forms, with every root on both sides. */
#include "forms.h"

static MPI_Comm comm;
static int me, n, others, side, form;

/* What rank r of a side has for rank s. */
static int value(int of_side, int r, int s, int i)
{
    return of_side * 1000000 + r * 10000 + s * 100 + i;
}

static int sum(int of_side, int ranks, int s, int i)
{
    int total = 0;
    for (int r = 0; r < ranks; r++)
        total += value(of_side, r, s, i);
    return total;
}

enum { COUNT = 40, MOST = COUNT * 64 };
static int out[MOST], in[MOST];

static void rooted(int root_side, int root_rank)
{
    int counts[64], displs[64], here = side == root_side, root = here ? (me == root_rank ? MPI_ROOT : MPI_PROC_NULL) : root_rank;
    for (int r = 0; r < 64; r++) {
        counts[r] = (r * 3 + 1) % 5;
        displs[r] = r * 5;
    }
    for (int i = 0; i < MOST; i++)
        out[i] = value(side, me, 1, i), in[i] = -1;
    if (here)
        FORM(form, Bcast, bcast, (out, COUNT, MPI_INT, root), comm);
    else {
        FORM(form, Bcast, bcast, (in, COUNT, MPI_INT, root), comm);
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(in[i], value(root_side, root_rank, 1, i));
    }
    int is = root == MPI_ROOT;
    FORM(form, Gather, gather, (here ? NULL : out, here ? 0 : COUNT, MPI_INT, is ? in : NULL, is ? COUNT : 0, MPI_INT, root), comm);
    for (int r = 0; is && r < others; r++)
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(in[r * COUNT + i], value(!side, r, 1, i));
    FORM(form, Gatherv, gatherv, (here ? NULL : out, here ? 0 : counts[me], MPI_INT, is ? in : NULL, counts, displs, MPI_INT, root), comm);
    for (int r = 0; is && r < others; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK_INT(in[displs[r] + i], value(!side, r, 1, i));
    memset(in, -1, sizeof in);
    FORM(form, Scatter, scatter, (is ? out : NULL, is ? COUNT : 0, MPI_INT, here ? NULL : in, here ? 0 : COUNT, MPI_INT, root), comm);
    for (int i = 0; !here && i < COUNT; i++)
        CHECK_INT(in[i], value(root_side, root_rank, 1, me * COUNT + i));
    FORM(form, Scatterv, scatterv, (is ? out : NULL, counts, displs, MPI_INT, here ? NULL : in, here ? 0 : counts[me], MPI_INT, root), comm);
    for (int i = 0; !here && i < counts[me]; i++)
        CHECK_INT(in[i], value(root_side, root_rank, 1, displs[me] + i));
    /* MPICH 5 accepts the null handles as a pair only. */
    int none = root == MPI_PROC_NULL && !reference;
    FORM(form, Reduce, reduce, (none ? NULL : out, is ? in : NULL, none ? 0 : COUNT, none ? MPI_DATATYPE_NULL : MPI_INT, none ? MPI_OP_NULL : MPI_SUM, root), comm);
    for (int i = 0; is && i < COUNT; i++)
        CHECK_INT(in[i], sum(!side, others, 1, i));
}

static void symmetric(void)
{
    int sends[64], receives[64], send_at[64], receive_at[64], bytes_out[64], bytes_in[64], counts[64], blocks[64], begin = 0;
    MPI_Datatype types[64];
    for (int r = 0; r < others; r++)
        for (int i = 0; i < COUNT; i++)
            out[r * COUNT + i] = value(side, me, r, i);
    memset(in, -1, sizeof in);
    FORM(form, Allgather, allgather, (out, COUNT, MPI_INT, in, COUNT, MPI_INT), comm);
    for (int r = 0; r < others; r++)
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(in[r * COUNT + i], value(!side, r, 0, i));
    for (int r = 0; r < others; r++) {
        counts[r] = (r + 2) % 4;
        sends[r] = (me + 2 * r + side) % 4;
        receives[r] = side ? (r + 2 * me) % 4 : (r + 2 * me + 1) % 4;
        send_at[r] = receive_at[r] = r * COUNT;
        bytes_out[r] = bytes_in[r] = r * COUNT * (int) sizeof(int);
        types[r] = MPI_INT;
    }
    FORM(form, Allgatherv, allgatherv, (out, (me + 2) % 4, MPI_INT, in, counts, receive_at, MPI_INT), comm);
    for (int r = 0; r < others; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK_INT(in[r * COUNT + i], value(!side, r, 0, i));
    FORM(form, Alltoall, alltoall, (out, COUNT, MPI_INT, in, COUNT, MPI_INT), comm);
    for (int r = 0; r < others; r++)
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(in[r * COUNT + i], value(!side, r, me, i));
    memset(in, -1, sizeof in);
    FORM(form, Alltoallv, alltoallv, (out, sends, send_at, MPI_INT, in, receives, receive_at, MPI_INT), comm);
    for (int r = 0; r < others; r++)
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(in[r * COUNT + i], i < receives[r] ? value(!side, r, me, i) : -1);
    memset(in, -1, sizeof in);
    FORM(form, Alltoallw, alltoallw, (out, sends, bytes_out, types, in, receives, bytes_in, types), comm);
    for (int r = 0; r < others; r++)
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(in[r * COUNT + i], i < receives[r] ? value(!side, r, me, i) : -1);
    FORM(form, Allreduce, allreduce, (out, in, COUNT, MPI_INT, MPI_SUM), comm);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(in[i], sum(!side, others, 0, i));
    /* As many elements in all on either side. */
    int total = n * others;
    for (int i = 0; i < total; i++)
        out[i] = value(side, me, 5, i);
    FORM(form, Reduce_scatter_block, reduce_scatter_block, (out, in, others, MPI_INT, MPI_SUM), comm);
    for (int i = 0; i < others; i++)
        CHECK_INT(in[i], sum(!side, others, 5, me * others + i));
    for (int r = 0; r < n; r++) {
        blocks[r] = r == 0 ? total - (n - 1) : 1;
        begin += r < me ? blocks[r] : 0;
    }
    FORM(form, Reduce_scatter, reduce_scatter, (out, in, blocks, MPI_INT, MPI_SUM), comm);
    for (int i = 0; i < blocks[me]; i++)
        CHECK_INT(in[i], sum(!side, others, 5, begin + i));
}

int main(int argc, char **argv)
{
    MPI_Comm local;
    start(&argc, &argv);
    side = rank % 2;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local));
    MPI(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 7, &comm));
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &n));
    MPI(MPI_Comm_remote_size(comm, &others));
    for (form = 0; form < FORMS; form++)
        for (int round = 0; round < (slow() ? 1 : 3); round++) {
            for (int s = 0; s < 2; s++)
                for (int r = 0; r < (s == side ? n : others); r++)
                    rooted(s, r);
            symmetric();
            MPI_Request request = MPI_REQUEST_NULL;
            if (form == BLOCKING)
                MPI(MPI_Barrier(comm));
            else if (form == NONBLOCKING)
                MPI(MPI_Ibarrier(comm, &request));
            else {
                MPI(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
                MPI(MPI_Start(&request));
            }
            form_end(form, &request);
        }
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_free(&local));
    return finish();
}
