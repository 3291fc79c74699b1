/* One operation: its buffers, its call in the three forms, and the look at what it has brought. */
#ifndef KILLED_CALLS_H
#define KILLED_CALLS_H

#include "data.h"

/* Operations under way at a time, and address space for a buffer of each. */
enum { MOST_UNDER_WAY = 3 };

struct call {
    const struct step *step;
    MPI_Comm comm;
    int rank, size, in_place;
    /* Blocks given and taken, in elements; of the w forms in bytes. */
    int blocks, gives[MOST_RANKS], gives_at[MOST_RANKS], takes[MOST_RANKS], takes_at[MOST_RANKS];
    MPI_Aint gives_far[2], takes_far[2];
    MPI_Datatype types[MOST_RANKS];
    char *out, *in;
    size_t out_bytes, in_bytes;
    MPI_Request request;
};

static char *buffers[MOST_UNDER_WAY][2];
static size_t buffer_bytes;

static void make_buffers(void)
{
    buffer_bytes = (size_t) (size < 4 ? 4 : size) * MOST_BLOCK * 4;
    for (int i = 0; i < 2 * MOST_UNDER_WAY; i++) {
        buffers[i / 2][i % 2] = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(buffers[i / 2][i % 2] != MAP_FAILED);
    }
}

static int varies(enum kind kind)
{
    return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV || kind == ALLTOALLW ||
           kind == REDUCE_SCATTER || kind == NEIGHBOR_ALLGATHERV || kind == NEIGHBOR_ALLTOALLV || kind == NEIGHBOR_ALLTOALLW;
}

/* Elements of the block that one gives to another. */
static int length_of(const struct step *step, int from, int to)
{
    if (!varies(step->kind))
        return step->count;
    uint64_t random = seed_of(step, from, to);
    return below(&random, 8) ? (int) (next_random(&random) % ((uint64_t) step->count + 1)) : 0;
}

/* Who gives a block, and which of the giver's blocks it is, as the giver and the taker both know it. */
struct label {
    int from, to;
};

static struct label given(const struct call *call, int block)
{
    enum kind kind = call->step->kind;
    if (kind == ALLGATHER || kind == ALLGATHERV || kind == GATHER || kind == GATHERV || kind == BCAST ||
        kind == NEIGHBOR_ALLGATHER || kind == NEIGHBOR_ALLGATHERV)
        return (struct label) {call->rank, 0};
    return (struct label) {call->rank, block};
}

static struct label taken(const struct call *call, int block)
{
    enum kind kind = call->step->kind;
    if (is_of_neighbors(kind)) {
        int from = (call->rank + (block ? 1 : call->size - 1)) % call->size;
        int one_for_all = kind == NEIGHBOR_ALLGATHER || kind == NEIGHBOR_ALLGATHERV;
        return (struct label) {from, one_for_all ? 0 : 1 - block};
    }
    if (kind == SCATTER || kind == SCATTERV)
        return (struct label) {call->step->root, call->rank};
    if (kind == BCAST)
        return (struct label) {call->step->root, 0};
    if (kind == ALLTOALL || kind == ALLTOALLV || kind == ALLTOALLW)
        return (struct label) {block, call->rank};
    return (struct label) {block, 0};
}

/* How many blocks this rank gives and takes in an operation that moves data. */
static void count_blocks(const struct call *call, int *gives, int *takes)
{
    int is_root = call->rank == call->step->root;
    switch (call->step->kind) {
    case BCAST: *gives = is_root, *takes = !is_root; break;
    case GATHER: case GATHERV: *gives = 1, *takes = is_root ? call->size : 0; break;
    case SCATTER: case SCATTERV: *gives = is_root ? call->size : 0, *takes = 1; break;
    case ALLGATHER: case ALLGATHERV: *gives = 1, *takes = call->size; break;
    case ALLTOALL: case ALLTOALLV: case ALLTOALLW: *gives = *takes = call->size; break;
    case NEIGHBOR_ALLGATHER: case NEIGHBOR_ALLGATHERV: *gives = 1, *takes = 2; break;
    default: *gives = *takes = is_of_neighbors(call->step->kind) ? 2 : 0;
    }
}

static void lay_out_movement(struct call *call)
{
    const struct step *step = call->step;
    int gives, takes, at = 0;
    count_blocks(call, &gives, &takes);
    for (int i = 0; i < gives; i++) {
        struct label label = given(call, i);
        call->gives[i] = length_of(step, label.from, label.to);
        call->gives_at[i] = at;
        write_block(element(call->out, step->type, at), step->type, call->gives[i], seed_of(step, label.from, label.to));
        at += call->gives[i];
    }
    call->out_bytes = (size_t) at * (size_t) extent_of[step->type];
    at = 0;
    for (int i = 0; i < takes; i++) {
        struct label label = taken(call, i);
        call->takes[i] = length_of(step, label.from, label.to);
        call->takes_at[i] = at;
        at += call->takes[i];
    }
    call->in_bytes = (size_t) at * (size_t) extent_of[step->type];
    memset(call->in, 0xee, call->in_bytes);
    call->blocks = takes;
    /* A broadcast has one buffer on all ranks. */
    if (step->kind == BCAST && gives)
        call->in = call->out;
    if (step->kind == BCAST)
        call->gives[0] = step->count;
    for (int i = 0; i < MOST_RANKS; i++)
        call->types[i] = datatype_of[step->type];
    for (int i = 0; i < 2; i++) {
        call->gives_far[i] = (MPI_Aint) call->gives_at[i] * extent_of[step->type];
        call->takes_far[i] = (MPI_Aint) call->takes_at[i] * extent_of[step->type];
    }
    if (step->kind == ALLTOALLW)
        for (int i = 0; i < takes; i++) {
            call->gives_at[i] *= extent_of[step->type];
            call->takes_at[i] *= extent_of[step->type];
        }
}

/* First element and number of elements of the result that this rank gets; counts of all ranks. */
static int share_of(struct call *call, int *first)
{
    const struct step *step = call->step;
    *first = 0;
    if (step->kind != REDUCE_SCATTER && step->kind != REDUCE_SCATTER_BLOCK)
        return step->count;
    for (int i = 0; i < call->size; i++) {
        call->takes[i] = length_of(step, 0, i);
        *first += i < call->rank ? call->takes[i] : 0;
    }
    return call->takes[call->rank];
}

static void lay_out_reduction(struct call *call)
{
    const struct step *step = call->step;
    int first, mine = share_of(call, &first), all = 0, extent = extent_of[step->type];
    for (int i = 0; i < call->size; i++)
        all += call->takes[i];
    if (step->kind != REDUCE_SCATTER && step->kind != REDUCE_SCATTER_BLOCK)
        all = step->count;
    call->in_place = step->in_place && (step->kind == ALLREDUCE || step->kind == SCAN || step->kind == EXSCAN ||
                                        (step->kind == REDUCE && call->rank == step->root));
    call->out_bytes = (size_t) all * (size_t) extent;
    call->in_bytes = (size_t) mine * (size_t) extent;
    memset(call->in, 0xee, call->in_bytes);
    char *from = call->in_place ? call->in : call->out;
    write_block(from, step->type, all, seed_of(step, call->rank, 0));
}

static void prepare(struct call *call, const struct step *step, MPI_Comm comm, int slot)
{
    memset(call, 0, sizeof *call);
    call->step = step;
    call->comm = comm;
    call->request = MPI_REQUEST_NULL;
    call->out = buffers[slot][0];
    call->in = buffers[slot][1];
    MPI(MPI_Comm_rank(comm, &call->rank));
    MPI(MPI_Comm_size(comm, &call->size));
    if (is_reduction(step->kind))
        lay_out_reduction(call);
    else
        lay_out_movement(call);
}

#define FORM(Name, name, ...) \
    (step->form == BLOCKING ? MPI_##Name(__VA_ARGS__, call->comm) \
     : step->form == NONBLOCKING ? MPI_I##name(__VA_ARGS__, call->comm, &call->request) \
                                 : MPI_##Name##_init(__VA_ARGS__, call->comm, MPI_INFO_NULL, &call->request))

/* The call itself; of a persistent one, its making. */
static int issue(struct call *call)
{
    const struct step *step = call->step;
    MPI_Datatype type = datatype_of[step->type];
    MPI_Op op = operation_of[step->reduction];
    int count = step->count, root = step->root, mine = call->takes[call->rank];
    const void *from = call->in_place ? MPI_IN_PLACE : call->out;
    switch (step->kind) {
    case BARRIER:
        return step->form == BLOCKING ? MPI_Barrier(call->comm)
               : step->form == NONBLOCKING ? MPI_Ibarrier(call->comm, &call->request)
                                           : MPI_Barrier_init(call->comm, MPI_INFO_NULL, &call->request);
    case BCAST: return FORM(Bcast, bcast, call->in, count, type, root);
    case GATHER: return FORM(Gather, gather, from, count, type, call->in, count, type, root);
    case GATHERV: return FORM(Gatherv, gatherv, from, call->gives[0], type, call->in, call->takes, call->takes_at, type, root);
    case SCATTER: return FORM(Scatter, scatter, from, count, type, call->in, count, type, root);
    case SCATTERV: return FORM(Scatterv, scatterv, from, call->gives, call->gives_at, type, call->in, call->takes[0], type, root);
    case ALLGATHER: return FORM(Allgather, allgather, from, count, type, call->in, count, type);
    case ALLGATHERV: return FORM(Allgatherv, allgatherv, from, call->gives[0], type, call->in, call->takes, call->takes_at, type);
    case ALLTOALL: return FORM(Alltoall, alltoall, from, count, type, call->in, count, type);
    case ALLTOALLV:
        return FORM(Alltoallv, alltoallv, from, call->gives, call->gives_at, type, call->in, call->takes, call->takes_at, type);
    case ALLTOALLW:
        return FORM(Alltoallw, alltoallw, from, call->gives, call->gives_at, call->types, call->in, call->takes, call->takes_at,
                    call->types);
    case REDUCE: return FORM(Reduce, reduce, from, call->in, count, type, op, root);
    case ALLREDUCE: return FORM(Allreduce, allreduce, from, call->in, count, type, op);
    case REDUCE_SCATTER: return FORM(Reduce_scatter, reduce_scatter, from, call->in, call->takes, type, op);
    case REDUCE_SCATTER_BLOCK: return FORM(Reduce_scatter_block, reduce_scatter_block, from, call->in, mine, type, op);
    case SCAN: return FORM(Scan, scan, from, call->in, count, type, op);
    case EXSCAN: return FORM(Exscan, exscan, from, call->in, count, type, op);
    case NEIGHBOR_ALLGATHER: return FORM(Neighbor_allgather, neighbor_allgather, from, count, type, call->in, count, type);
    case NEIGHBOR_ALLGATHERV:
        return FORM(Neighbor_allgatherv, neighbor_allgatherv, from, call->gives[0], type, call->in, call->takes, call->takes_at, type);
    case NEIGHBOR_ALLTOALL: return FORM(Neighbor_alltoall, neighbor_alltoall, from, count, type, call->in, count, type);
    case NEIGHBOR_ALLTOALLV:
        return FORM(Neighbor_alltoallv, neighbor_alltoallv, from, call->gives, call->gives_at, type, call->in, call->takes,
                    call->takes_at, type);
    default:
        return FORM(Neighbor_alltoallw, neighbor_alltoallw, from, call->gives, call->gives_far, call->types, call->in, call->takes,
                    call->takes_far, call->types);
    }
}

/* What a call that succeeded has brought is right. */
static void verify(struct call *call)
{
    const struct step *step = call->step;
    enum kind kind = step->kind;
    long wrong = -1;
    int block = 0;
    if (is_reduction(kind)) {
        int first, mine = share_of(call, &first), last = call->size - 1;
        if (kind == REDUCE && call->rank != step->root)
            return;
        if (kind == SCAN || kind == EXSCAN)
            last = call->rank - (kind == EXSCAN);
        if (last >= 0)
            wrong = wrong_in_reduced(call->in, step, last, first, mine);
    } else
        for (; block < call->blocks && wrong < 0; block++) {
            struct label label = taken(call, block);
            int at = call->takes_at[block] / (kind == ALLTOALLW ? extent_of[step->type] : 1);
            wrong = wrong_in_block(element(call->in, step->type, at), step->type, call->takes[block],
                                   seed_of(step, label.from, label.to));
        }
    if (wrong >= 0)
        check_failed(__FILE__, __LINE__, "WRONG: %s (%s) succeeded with wrong data, position %ld of block %d", kind_names[kind],
                     form_names[step->form], wrong, block - 1);
}

#endif
