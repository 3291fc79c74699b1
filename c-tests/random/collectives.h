/* Collective operations in all forms: blocking, nonblocking, persistent; in place; of neighbours; of intercommunicators.
 * An operation that moves data is a list of blocks that this rank gives and one of those it gets, each with the seed of its stream;
 * a reduction is a fold, in the order of ranks, over numbers that every rank can compute.
 */
#ifndef RANDOM_COLLECTIVES_H
#define RANDOM_COLLECTIVES_H

#include "layout.h"

enum { COLLECTIVES_MOST = 12, BLOCKS = RANKS };
enum collective_form { COLLECTIVE_BLOCKING, COLLECTIVE_NONBLOCKING, COLLECTIVE_PERSISTENT };
enum collective_kind {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, REDUCE, ALLREDUCE,
    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, NEIGHBOR_ALLGATHER, NEIGHBOR_ALLGATHERV, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW, KINDS
};
static const char *const collective_names[] = {
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce",
    "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
    "Neighbor_alltoallv", "Neighbor_alltoallw"};

struct blocks {
    int number, count[BLOCKS], place[BLOCKS]; /* in items */
    size_t elements[BLOCKS];
    uint64_t seed[BLOCKS];
    MPI_Aint far[BLOCKS];                      /* the same in bytes, for alltoallw */
    int near[BLOCKS];
    MPI_Datatype types[BLOCKS];
    struct layout layout;
    struct area area;
};

struct collective {
    enum collective_kind kind;
    enum collective_form form;
    int comm, root, root_side, in_place, base, reduction;
    size_t elements;
    uint64_t seed;
    /* Of this rank. */
    struct blocks give, get;
    struct area before;     /* the receive buffer of an exscan that gets nothing */
    MPI_Request persistent;
    int made;
};

/* Reductions: type, operation, bytes. */
enum { ADD_INT, XOR_LONG, MAX_DOUBLE, ADD_DOUBLE, MIN_LONG, MATRICES, ADD_OWN, MAXLOC_INT, REDUCTIONS };
static const size_t reduction_bytes[REDUCTIONS] = {4, 8, 8, 8, 8, 16, 4, 8};
static MPI_Datatype matrix_type;
static MPI_Op matrix_op, own_add_op;

/* 2 x 2 matrices of unsigned numbers: associative, not commutative. */
static void multiply(const uint32_t *a, const uint32_t *b, uint32_t *to)
{
    uint32_t product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(to, product, sizeof product);
}

static void multiply_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        multiply((uint32_t *) in + 4 * i, (uint32_t *) inout + 4 * i, (uint32_t *) inout + 4 * i);
}

static void add_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        ((uint32_t *) inout)[i] += ((uint32_t *) in)[i];
}

static void reductions_start(void)
{
    MPI(MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix_type));
    MPI(MPI_Type_commit(&matrix_type));
    MPI(MPI_Op_create(multiply_all, 0, &matrix_op));
    MPI(MPI_Op_create(add_all, 1, &own_add_op));
}

static void reductions_end(void)
{
    MPI(MPI_Type_free(&matrix_type));
    MPI(MPI_Op_free(&matrix_op));
    MPI(MPI_Op_free(&own_add_op));
}

static MPI_Datatype reduction_type(int reduction)
{
    const MPI_Datatype types[] = {MPI_INT, MPI_UINT64_T, MPI_DOUBLE, MPI_DOUBLE, MPI_INT64_T, matrix_type, MPI_UNSIGNED, MPI_2INT};
    return types[reduction];
}

static MPI_Op reduction_op(int reduction)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_SUM, MPI_MIN, matrix_op, own_add_op, MPI_MAXLOC};
    return ops[reduction];
}

union number {
    int32_t i[2];
    uint64_t u;
    int64_t l;
    double d;
    uint32_t matrix[4];
};

/* What a rank gives for element k. */
static union number number_of(int reduction, uint64_t seed, int who, size_t k)
{
    union number n = {{0}};
    uint64_t x = mix(seed, ((uint64_t) who << 32) + k);
    switch (reduction) {
    case ADD_INT: n.i[0] = (int32_t) (x % 1000000) - 500000; break;
    case ADD_DOUBLE: n.d = (double) (x % 1000000) - 500000; break;
    case MAX_DOUBLE: n.d = (double) (x % 1000000) - 500000; break;
    case MIN_LONG: case XOR_LONG: n.u = x; break;
    case ADD_OWN: n.matrix[0] = (uint32_t) x; break;
    case MAXLOC_INT: n.i[0] = (int32_t) (x % 5); n.i[1] = (int32_t) (x >> 40); break;
    default:
        n.matrix[0] = (uint32_t) x, n.matrix[1] = (uint32_t) (x >> 20), n.matrix[2] = (uint32_t) (x >> 32), n.matrix[3] = 1 + (uint32_t) (x >> 7);
    }
    return n;
}

static void fold(int reduction, union number *to, const union number *with)
{
    switch (reduction) {
    case ADD_INT: to->i[0] += with->i[0]; break;
    case ADD_DOUBLE: to->d += with->d; break;
    case MAX_DOUBLE: to->d = to->d > with->d ? to->d : with->d; break;
    case MIN_LONG: to->l = to->l < with->l ? to->l : with->l; break;
    case XOR_LONG: to->u ^= with->u; break;
    case ADD_OWN: to->matrix[0] += with->matrix[0]; break;
    case MAXLOC_INT:
        if (with->i[0] > to->i[0] || (with->i[0] == to->i[0] && with->i[1] < to->i[1]))
            *to = *with;
        break;
    default: multiply(to->matrix, with->matrix, to->matrix);
    }
}

/* Numbers k of the fold over ranks first to last. */
static void place_numbers(unsigned char *to, const struct collective *o, uint64_t seed, int first, int last, size_t from, size_t count)
{
    size_t bytes = reduction_bytes[o->reduction];
    for (size_t k = 0; k < count; k++) {
        union number all = number_of(o->reduction, seed, first, from + k);
        for (int who = first + 1; who <= last; who++) {
            union number one = number_of(o->reduction, seed, who, from + k);
            fold(o->reduction, &all, &one);
        }
        memcpy(to + k * bytes, &all, bytes);
    }
}

static int is_reduction(const struct collective *o)
{
    return o->kind >= REDUCE && o->kind <= EXSCAN;
}

/* Same on every rank; 0 if there is nothing to do on what was drawn. */
static int collective_plan(struct lane *l, struct collective *o)
{
    memset(o, 0, sizeof *o);
    o->persistent = MPI_REQUEST_NULL;
    int kind = pick(&l->plan, KINDS), form = pick(&l->plan, 3), root = pick(&l->plan, RANKS), large = once_in(&l->plan, 4);
    o->comm = pick(&l->plan, POOL);
    o->root_side = pick(&l->plan, 2);
    o->in_place = once_in(&l->plan, 4);
    o->base = pick(&l->plan, BASES);
    o->reduction = pick(&l->plan, REDUCTIONS);
    o->elements = pick_bytes(&l->plan, large ? 150000 : 3000) / base_bytes[o->base];
    o->seed = next_random(&l->plan);
    struct communicator *c = &l->pool[o->comm];
    if (!c->live || c->shared)
        return 0;
    if (c->inter) {
        static const enum collective_kind possible[] = {BARRIER, BCAST, ALLGATHER, ALLTOALL, ALLREDUCE, GATHER};
        kind = possible[kind % 6];
        o->in_place = 0;
    } else {
        o->root_side = 0;
    }
    if (kind >= NEIGHBOR_ALLGATHER && c->topology == NO_TOPOLOGY)
        kind = BCAST + (kind - NEIGHBOR_ALLGATHER);
    /* MPICH 4.0 knows neither the directions of a grid nor its own neighbour twice. */
    if (reference && kind >= NEIGHBOR_ALLTOALL)
        kind = BCAST + (kind - NEIGHBOR_ALLTOALL);
    o->root = root % c->size[o->root_side];
    o->kind = (enum collective_kind) kind;
    /* MPICH 4.0 gives wrong data at a second start, and errors. */
    o->form = (c->inter || reference) && form == 2 ? COLLECTIVE_NONBLOCKING : (enum collective_form) form;
    if (kind == BCAST || kind == BARRIER || kind >= NEIGHBOR_ALLGATHER)
        o->in_place = 0;
    if (kind >= ALLTOALL && kind <= ALLTOALLW && c->inter)
        o->in_place = 0;
    if (o->elements * base_bytes[o->base] * (size_t) c->size[0] > 600000)
        o->elements = 600000 / base_bytes[o->base] / (size_t) c->size[0];
    if (is_reduction(o))
        o->elements = o->elements * base_bytes[o->base] / reduction_bytes[o->reduction];
    return 1;
}

/* How many times as many elements the block from a to b has, in an operation with several counts. */
static size_t times(const struct collective *o, int a, int b)
{
    if (o->in_place && a > b) {
        int kept = a;
        a = b;
        b = kept;
    }
    return (size_t) (mix(o->seed, (uint64_t) (77 + a * RANKS + b)) % 4);
}

static uint64_t block_seed(const struct collective *o, int iteration, int side, int a, int b)
{
    return mix(mix(o->seed, (uint64_t) iteration), (uint64_t) ((side * RANKS + a) * 2 * RANKS + b));
}

static void block(struct blocks *into, size_t elements, uint64_t seed)
{
    into->elements[into->number] = elements;
    into->seed[into->number++] = seed;
}

/* Which blocks this rank gives and gets. */
static void blocks_of(struct collective *o, const struct communicator *c, int iteration)
{
    struct blocks *give = &o->give, *get = &o->get;
    int n = c->size[c->side], me = c->me, side = c->side, there = c->inter ? !side : 0, far = c->size[there];
    int is_root = side == o->root_side && me == o->root, takes_part = !c->inter || is_root || side != o->root_side;
    size_t e = o->elements;
    give->number = get->number = 0;
    for (int i = 0; i < far; i++) {
        switch (o->kind) {
        case GATHER: if (is_root) block(get, e, block_seed(o, iteration, there, i, 0)); break;
        case GATHERV: if (is_root) block(get, e * times(o, i, 0), block_seed(o, iteration, there, i, 0)); break;
        case SCATTER: if (is_root) block(give, e, block_seed(o, iteration, 0, 0, i)); break;
        case SCATTERV: if (is_root) block(give, e * times(o, 0, i), block_seed(o, iteration, 0, 0, i)); break;
        case ALLGATHER: block(get, e, block_seed(o, iteration, there, i, 0)); break;
        case ALLGATHERV: block(get, e * times(o, 0, i), block_seed(o, iteration, there, i, 0)); break;
        case ALLTOALL:
            block(give, e, block_seed(o, iteration, side, me, i));
            block(get, e, block_seed(o, iteration, there, i, me));
            break;
        case ALLTOALLV: case ALLTOALLW:
            block(give, e * times(o, me, i), block_seed(o, iteration, side, me, i));
            block(get, e * times(o, i, me), block_seed(o, iteration, there, i, me));
            break;
        default: break;
        }
    }
    switch (o->kind) {
    case BCAST:
        if (is_root)
            block(give, e, block_seed(o, iteration, 0, 0, 0));
        else if (takes_part)
            block(get, e, block_seed(o, iteration, 0, 0, 0));
        break;
    case GATHER:
        if (!c->inter || side != o->root_side)
            block(give, e, block_seed(o, iteration, side, me, 0));
        break;
    case ALLGATHER: block(give, e, block_seed(o, iteration, side, me, 0)); break;
    case GATHERV: block(give, e * times(o, me, 0), block_seed(o, iteration, side, me, 0)); break;
    case ALLGATHERV: block(give, e * times(o, 0, me), block_seed(o, iteration, side, me, 0)); break;
    case SCATTER: block(get, e, block_seed(o, iteration, 0, 0, me)); break;
    case SCATTERV: block(get, e * times(o, 0, me), block_seed(o, iteration, 0, 0, me)); break;
    case NEIGHBOR_ALLGATHER: case NEIGHBOR_ALLGATHERV: {
        int many = o->kind == NEIGHBOR_ALLGATHERV;
        block(give, many ? e * times(o, me, 0) : e, block_seed(o, iteration, 0, me, 0));
        for (int k = 0; k < c->ins[me]; k++) {
            int from = c->in[me][k];
            block(get, from < 0 ? (many ? 0 : e) : many ? e * times(o, from, 0) : e, from < 0 ? 0 : block_seed(o, iteration, 0, from, 0));
        }
        break;
    }
    case NEIGHBOR_ALLTOALL: case NEIGHBOR_ALLTOALLV: case NEIGHBOR_ALLTOALLW: {
        int many = o->kind != NEIGHBOR_ALLTOALL;
        for (int k = 0; k < c->outs[me]; k++)
            block(give, many ? e * times(o, me, k) : e, block_seed(o, iteration, 0, me, k));
        for (int k = 0; k < c->ins[me]; k++) {
            int from = c->in[me][k], slot = c->slot[me][k];
            block(get, from < 0 ? (many ? 0 : e) : many ? e * times(o, from, slot) : e, from < 0 ? 0 : block_seed(o, iteration, 0, from, slot));
        }
        break;
    }
    default: break;
    }
    (void) n;
}

/* Where the blocks are: one after the other, or with gaps where the operation takes displacements. */
static void lay_out(struct lane *l, const struct collective *o, struct blocks *b, int gaps)
{
    int next = 0;
    if (!b->layout.elements) {
        b->layout = layout_make(&l->own, o->base, o->elements);
        if (o->elements % b->layout.elements) {
            layout_free(&b->layout);
            b->layout = (struct layout) {.type = bases()[o->base], .base = o->base, .element = base_bytes[o->base], .extent = (ptrdiff_t) base_bytes[o->base]};
            layout_block(&b->layout, 0, 1);
        }
    }
    for (int i = 0; i < b->number; i++) {
        next += gaps ? pick(&l->own, 3) : 0;
        b->count[i] = (int) (b->elements[i] / b->layout.elements);
        b->place[i] = next;
        b->far[i] = next * b->layout.extent;
        b->near[i] = (int) b->far[i];
        b->types[i] = b->layout.type;
        next += b->count[i];
    }
    b->area = area_for(&l->own, &b->layout, (size_t) next);
}

static void place_blocks(const struct blocks *b, unsigned char *address, int except)
{
    for (int i = 0; i < b->number; i++)
        if (b->seed[i] && i != except)
            place(address + b->far[i], &b->layout, b->elements[i], b->seed[i]);
}

static int has_displacements(enum collective_kind kind, int get)
{
    switch (kind) {
    case GATHERV: case ALLGATHERV: case NEIGHBOR_ALLGATHERV: return get;
    case SCATTERV: return !get;
    case ALLTOALLV: case ALLTOALLW: case NEIGHBOR_ALLTOALLV: case NEIGHBOR_ALLTOALLW: return 1;
    default: return 0;
    }
}

/* Numbers of this rank's segment in a reduce_scatter. */
static size_t segment(const struct collective *o, int who)
{
    return o->kind == REDUCE_SCATTER ? o->elements / RANKS * times(o, who, who) + 1 : o->elements / RANKS + 1;
}

static void reduction_sizes(const struct collective *o, const struct communicator *c, size_t *in, size_t *out)
{
    *in = *out = o->elements;
    if (o->kind == REDUCE_SCATTER || o->kind == REDUCE_SCATTER_BLOCK) {
        *in = 0;
        for (int i = 0; i < c->size[0]; i++)
            *in += segment(o, i);
        *out = segment(o, c->me);
    }
    if (o->kind == REDUCE && c->me != o->root)
        *out = 0;
}

static int is_in_place(const struct collective *o, const struct communicator *c)
{
    int only_root = o->kind == GATHER || o->kind == GATHERV || o->kind == SCATTER || o->kind == SCATTERV || o->kind == REDUCE;
    return o->in_place && (!only_root || c->me == o->root);
}

/* Buffers with their contents; those of an earlier iteration again. */
static void collective_fill(struct lane *l, struct collective *o, const struct communicator *c, int iteration)
{
    struct blocks *give = &o->give, *get = &o->get;
    int here = is_in_place(o, c), first = !o->made;
    uint64_t seed = mix(o->seed, (uint64_t) iteration);
    o->made = 1;
    if (is_reduction(o)) {
        size_t in, out, bytes = reduction_bytes[o->reduction];
        reduction_sizes(o, c, &in, &out);
        if (first) {
            give->area = area_make(&l->own, 0, (ptrdiff_t) (here ? 0 : in * bytes), bytes > 8 ? 8 : bytes);
            get->area = area_make(&l->own, 0, (ptrdiff_t) ((here && in > out ? in : out) * bytes), bytes > 8 ? 8 : bytes);
        }
        memset(give->area.memory, give->area.guard, give->area.bytes);
        memset(get->area.memory, get->area.guard, get->area.bytes);
        place_numbers(here ? get->area.address : give->area.address, o, seed, c->side * RANKS + c->me, c->side * RANKS + c->me, 0, in);
        return;
    }
    blocks_of(o, c, iteration);
    if (first) {
        lay_out(l, o, give, has_displacements(o->kind, 0));
        lay_out(l, o, get, has_displacements(o->kind, 1));
    }
    memset(give->area.memory, give->area.guard, give->area.bytes);
    memset(get->area.memory, get->area.guard, get->area.bytes);
    place_blocks(give, give->area.address, -1);
    if (here && (o->kind == GATHER || o->kind == GATHERV || o->kind == ALLGATHER || o->kind == ALLGATHERV))
        place(get->area.address + get->far[c->me], &get->layout, get->elements[c->me], get->seed[c->me]);
    if (here && o->kind >= ALLTOALL && o->kind <= ALLTOALLW)
        for (int i = 0; i < get->number; i++)
            place(get->area.address + get->far[i], &get->layout, get->elements[i], block_seed(o, iteration, 0, c->me, i));
}

#define CALL(Name, name, ...) do { \
        if (o->form == COLLECTIVE_BLOCKING) \
            MPI(MPI_##Name(__VA_ARGS__, comm)); \
        else if (o->form == COLLECTIVE_NONBLOCKING) \
            MPI(MPI_I##name(__VA_ARGS__, comm, &request)); \
        else \
            MPI(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request)); \
    } while (0)

static MPI_Request collective_call(struct collective *o, const struct communicator *c)
{
    struct blocks *give = &o->give, *get = &o->get;
    MPI_Comm comm = c->handle;
    MPI_Request request = MPI_REQUEST_NULL;
    void *from = give->area.address, *to = get->area.address;
    int here = is_in_place(o, c), root = o->root;
    MPI_Datatype gives = give->layout.type, gets = get->layout.type;
    int number = is_reduction(o) ? 0 : (int) (o->elements / give->layout.elements), number_got = is_reduction(o) ? 0 : (int) (o->elements / get->layout.elements);
    if (c->inter && (o->kind == BCAST || o->kind == GATHER) && c->side == o->root_side)
        root = c->me == o->root ? MPI_ROOT : MPI_PROC_NULL;
    int is_root = root == MPI_ROOT || (!c->inter && c->me == root);
    MPI_Datatype type = reduction_type(o->reduction);
    MPI_Op op = reduction_op(o->reduction);
    int elements = (int) o->elements, counts[RANKS];
    if (here && o->kind != SCATTER && o->kind != SCATTERV)
        from = MPI_IN_PLACE;
    if (here && (o->kind == SCATTER || o->kind == SCATTERV))
        to = MPI_IN_PLACE;
    switch (o->kind) {
    case BARRIER:
        if (o->form == COLLECTIVE_BLOCKING)
            MPI(MPI_Barrier(comm));
        else if (o->form == COLLECTIVE_NONBLOCKING)
            MPI(MPI_Ibarrier(comm, &request));
        else
            MPI(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
        break;
    case BCAST:
        if (is_root)
            CALL(Bcast, bcast, from, number, gives, root);
        else
            CALL(Bcast, bcast, to, number_got, gets, root);
        break;
    case GATHER: CALL(Gather, gather, from, number, gives, to, number_got, gets, root); break;
    case GATHERV: CALL(Gatherv, gatherv, from, give->count[0], gives, to, get->count, get->place, gets, root); break;
    case SCATTER: CALL(Scatter, scatter, from, number, gives, to, number_got, gets, root); break;
    case SCATTERV: CALL(Scatterv, scatterv, from, give->count, give->place, gives, to, get->count[0], gets, root); break;
    case ALLGATHER: CALL(Allgather, allgather, from, number, gives, to, number_got, gets); break;
    case ALLGATHERV: CALL(Allgatherv, allgatherv, from, give->count[0], gives, to, get->count, get->place, gets); break;
    case ALLTOALL: CALL(Alltoall, alltoall, from, number, gives, to, number_got, gets); break;
    case ALLTOALLV: CALL(Alltoallv, alltoallv, from, give->count, give->place, gives, to, get->count, get->place, gets); break;
    case ALLTOALLW: CALL(Alltoallw, alltoallw, from, give->count, give->near, give->types, to, get->count, get->near, get->types); break;
    case REDUCE: CALL(Reduce, reduce, from, to, elements, type, op, root); break;
    case ALLREDUCE: CALL(Allreduce, allreduce, from, to, elements, type, op); break;
    case REDUCE_SCATTER:
        for (int i = 0; i < c->size[0]; i++)
            counts[i] = (int) segment(o, i);
        /* A call that does not block needs the counts until it is complete. */
        memcpy(give->count, counts, sizeof counts);
        CALL(Reduce_scatter, reduce_scatter, from, to, give->count, type, op);
        break;
    case REDUCE_SCATTER_BLOCK: CALL(Reduce_scatter_block, reduce_scatter_block, from, to, (int) segment(o, 0), type, op); break;
    case SCAN: CALL(Scan, scan, from, to, elements, type, op); break;
    case EXSCAN: CALL(Exscan, exscan, from, to, elements, type, op); break;
    case NEIGHBOR_ALLGATHER: CALL(Neighbor_allgather, neighbor_allgather, from, number, gives, to, number_got, gets); break;
    case NEIGHBOR_ALLGATHERV: CALL(Neighbor_allgatherv, neighbor_allgatherv, from, give->count[0], gives, to, get->count, get->place, gets); break;
    case NEIGHBOR_ALLTOALL: CALL(Neighbor_alltoall, neighbor_alltoall, from, number, gives, to, number_got, gets); break;
    case NEIGHBOR_ALLTOALLV:
        CALL(Neighbor_alltoallv, neighbor_alltoallv, from, give->count, give->place, gives, to, get->count, get->place, gets);
        break;
    default: CALL(Neighbor_alltoallw, neighbor_alltoallw, from, give->count, give->far, give->types, to, get->count, get->far, get->types);
    }
    return request;
}

static MPI_Request collective_begin(struct lane *l, struct collective *o, const struct communicator *c, int iteration)
{
    collective_fill(l, o, c, iteration);
    if (o->form == COLLECTIVE_PERSISTENT) {
        if (o->persistent == MPI_REQUEST_NULL)
            o->persistent = collective_call(o, c);
        MPI(MPI_Start(&o->persistent));
        return o->persistent;
    }
    return collective_call(o, c);
}

static void collective_verify(struct lane *l, struct collective *o, const struct communicator *c, int iteration)
{
    struct blocks *give = &o->give, *get = &o->get;
    struct area expected = area_twin(&get->area);
    ptrdiff_t where = 0;
    uint64_t seed = mix(o->seed, (uint64_t) iteration);
    int here = is_in_place(o, c);
    static const char *const forms[] = {"blocking", "nonblocking", "persistent"};
    if (is_reduction(o)) {
        size_t in, out, from = 0, bytes = reduction_bytes[o->reduction];
        int side = c->inter ? !c->side : 0, first = side * RANKS, last = first + c->size[side] - 1;
        reduction_sizes(o, c, &in, &out);
        if (o->kind == SCAN)
            last = first + c->me;
        if (o->kind == EXSCAN)
            last = first + c->me - 1;
        if (o->kind == REDUCE_SCATTER || o->kind == REDUCE_SCATTER_BLOCK)
            for (int i = 0; i < c->me; i++)
                from += segment(o, i);
        if (here && in > out)
            memcpy(expected.address + out * bytes, get->area.address + out * bytes, (in - out) * bytes);
        if (last < first)
            memcpy(expected.address, get->area.address, out * bytes);
        else
            place_numbers(expected.address, o, seed, first, last, from, out);
    } else {
        int scattered = here && (o->kind == SCATTER || o->kind == SCATTERV);
        if (!scattered)
            place_blocks(get, expected.address, -1);
    }
    if (differs_from(&get->area, &expected, &where))
        complain(l, "%s MPI_%s%s of %zu elements on communicator %d of %d, rank %d, root %d, reduction %d, iteration %d: byte %td is %#x, expected %#x (guard %#x)",
                 forms[o->form], collective_names[o->kind], here ? " in place" : "", o->elements, o->comm, c->size[0], c->me, o->root,
                 is_reduction(o) ? o->reduction : -1, iteration, where, get->area.address[where], expected.address[where], get->area.guard);
    area_free(&expected);
    if (!is_reduction(o)) {
        expected = area_twin(&give->area);
        place_blocks(give, expected.address, -1);
        if (differs_from(&give->area, &expected, &where))
            complain(l, "%s MPI_%s: byte %td of the send buffer has changed", forms[o->form], collective_names[o->kind], where);
        area_free(&expected);
    }
    l->collectives++;
}

static void collective_end(struct lane *l, struct collective *o, const struct communicator *c, int iteration)
{
    collective_verify(l, o, c, iteration);
    memset(o->give.area.memory, 0xEE, o->give.area.bytes);
}

static void collective_free(struct collective *o)
{
    if (!o->made)
        return;
    if (o->persistent != MPI_REQUEST_NULL)
        MPI(MPI_Request_free(&o->persistent));
    if (!is_reduction(o)) {
        layout_free(&o->give.layout);
        layout_free(&o->get.layout);
    }
    area_free(&o->give.area);
    area_free(&o->get.area);
}

#endif
