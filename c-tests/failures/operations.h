/* Each collective operation, blocking, nonblocking or persistent, on an intracommunicator or an intercommunicator. */
#include "failing.h"

enum { COUNT = 3000, MOST = 8, OPERATIONS = 17 };
static int out[COUNT * MOST], in[COUNT * MOST], counts[MOST], places[MOST];
static MPI_Datatype types[MOST];
static int byte_places[MOST];
static int form, is_inter, root, count = COUNT;
static CHECK_UNUSED const char *const names[OPERATIONS] = {
    "barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
    "alltoallw", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};

/* The call of each form with these arguments. */
#define IN_FORM(name, ...) (form == 0 ? MPI_##name(__VA_ARGS__) : form == 1 ? MPI_I##name##_(__VA_ARGS__, request) : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request))
#define MPI_IBarrier_ MPI_Ibarrier
#define MPI_IBcast_ MPI_Ibcast
#define MPI_IReduce_ MPI_Ireduce
#define MPI_IAllreduce_ MPI_Iallreduce
#define MPI_IGather_ MPI_Igather
#define MPI_IGatherv_ MPI_Igatherv
#define MPI_IScatter_ MPI_Iscatter
#define MPI_IScatterv_ MPI_Iscatterv
#define MPI_IAllgather_ MPI_Iallgather
#define MPI_IAllgatherv_ MPI_Iallgatherv
#define MPI_IAlltoall_ MPI_Ialltoall
#define MPI_IAlltoallv_ MPI_Ialltoallv
#define MPI_IAlltoallw_ MPI_Ialltoallw
#define MPI_IReduce_scatter_ MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IScan_ MPI_Iscan
#define MPI_IExscan_ MPI_Iexscan

static int begin(int operation, MPI_Comm c, MPI_Request *request)
{
    const int n = count;
    switch (operation) {
    case 0: return IN_FORM(Barrier, c);
    case 1: return IN_FORM(Bcast, in, n, MPI_INT, root, c);
    case 2: return IN_FORM(Reduce, out, in, n, MPI_INT, MPI_SUM, root, c);
    case 3: return IN_FORM(Allreduce, out, in, n, MPI_INT, MPI_SUM, c);
    case 4: return IN_FORM(Gather, out, n, MPI_INT, in, n, MPI_INT, root, c);
    case 5: return IN_FORM(Gatherv, out, n, MPI_INT, in, counts, places, MPI_INT, root, c);
    case 6: return IN_FORM(Scatter, out, n, MPI_INT, in, n, MPI_INT, root, c);
    case 7: return IN_FORM(Scatterv, out, counts, places, MPI_INT, in, n, MPI_INT, root, c);
    case 8: return IN_FORM(Allgather, out, n, MPI_INT, in, n, MPI_INT, c);
    case 9: return IN_FORM(Allgatherv, out, n, MPI_INT, in, counts, places, MPI_INT, c);
    case 10: return IN_FORM(Alltoall, out, n, MPI_INT, in, n, MPI_INT, c);
    case 11: return IN_FORM(Alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT, c);
    case 12: return IN_FORM(Alltoallw, out, counts, byte_places, types, in, counts, byte_places, types, c);
    case 13: return IN_FORM(Reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, c);
    case 14: return IN_FORM(Reduce_scatter_block, out, in, n, MPI_INT, MPI_SUM, c);
    case 15: return IN_FORM(Scan, out, in, n, MPI_INT, MPI_SUM, c);
    default: return IN_FORM(Exscan, out, in, n, MPI_INT, MPI_SUM, c);
    }
}

static CHECK_UNUSED void describe_blocks(void)
{
    for (int i = 0; i < MOST; i++)
        counts[i] = count, places[i] = i * count, byte_places[i] = 4 * i * count, types[i] = MPI_INT;
}

static CHECK_UNUSED int exists(int operation)
{
    /* Those that scatter a reduction want as many elements in both groups, which need not be of one size. */
    return !is_inter || operation < 13;
}

/* A duplicate, or an intercommunicator of the even and the odd ranks. */
static CHECK_UNUSED MPI_Comm communicator(MPI_Comm of)
{
    MPI_Comm half, new;
    int r, n;
    if (!is_inter) {
        MPI(MPI_Comm_dup(of, &new));
    } else {
        MPI(MPI_Comm_rank(of, &r));
        MPI(MPI_Comm_size(of, &n));
        MPI(MPI_Comm_split(of, r % 2, 0, &half));
        MPI(MPI_Intercomm_create(half, 0, of, !(r % 2), 3, &new));
        MPI(MPI_Comm_free(&half));
    }
    MPI(MPI_Comm_set_errhandler(new, MPI_ERRORS_RETURN));
    return new;
}
