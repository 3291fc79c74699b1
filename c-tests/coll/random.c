/* Random collective operations one after the other: any function, form, length, layout and root after any other, on several
 * communicators, by ranks that come early and late. Every byte of every buffer is compared with what the definition says: results,
 * holes, and what is only read. Arguments: seed, steps, most elements. */
#include "check.h"

/* Elements are pairs of words, which lie in one of these ways. */
typedef struct { uint32_t a, b; } Pair;
enum { KINDS = 6, MARGIN = 64, WIDEST = 12, PENDING = 6, COMMS = 4 };
static MPI_Datatype types[KINDS]; /* of the first an element is two */
static const int strides[KINDS] = {8, 8, 12, 12, 12, 8};
static const int firsts[KINDS] = {0, 0, 0, -8, 4, -8}, seconds[KINDS] = {4, 4, 4, -4, 0, -4};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* The first is the same on all ranks that share an operation. */
static uint64_t common, own;

static unsigned below(uint64_t *state, unsigned end)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned) ((*state >> 33) % end);
}

static Pair value(int step, int from, int to, long i)
{
    uint64_t x = mix((uint64_t) step << 40 ^ (uint64_t) from << 32 ^ (uint64_t) to << 26 ^ (uint64_t) i);
    /* MPICH 4.0.2 takes MPI_UINT32_T for signed in MPI_MAX. */
    Pair pair = {(uint32_t) (x >> 1 & 0x7fffffff) | 1, (uint32_t) (x >> 33)};
    return pair;
}

static void put(char *base, int kind, long i, Pair pair)
{
    memcpy(base + i * strides[kind] + firsts[kind], &pair.a, 4);
    memcpy(base + i * strides[kind] + seconds[kind], &pair.b, 4);
}

static Pair get(const char *base, int kind, long i)
{
    Pair pair;
    memcpy(&pair.a, base + i * strides[kind] + firsts[kind], 4);
    memcpy(&pair.b, base + i * strides[kind] + seconds[kind], 4);
    return pair;
}

/* What one does after the other, which matters. */
static Pair after(Pair left, Pair right)
{
    Pair pair = {left.a * right.a, left.a * right.b + left.b};
    return pair;
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int kind = 1;
    while (kind < KINDS - 1 && types[kind] != *type)
        kind++;
    CHECK(types[kind] == *type);
    for (int i = 0; i < *length; i++)
        put(inout, kind, i, after(get(in, kind, i), get(inout, kind, i)));
}

static MPI_Op composition;

static Pair combine(int op, Pair left, Pair right)
{
    Pair sum = {left.a + right.a, left.b + right.b}, differ = {left.a ^ right.a, left.b ^ right.b};
    Pair most = {left.a > right.a ? left.a : right.a, left.b > right.b ? left.b : right.b};
    return op == 0 ? sum : op == 1 ? most : op == 2 ? differ : after(left, right);
}

/* A buffer and what it should hold in the end. */
typedef struct { char *memory, *base, *image; size_t bytes; int kind; } Area;

static Area area(int kind, long elements)
{
    Area x;
    x.kind = kind;
    x.bytes = (size_t) elements * WIDEST + 2 * MARGIN;
    x.memory = malloc(x.bytes);
    x.image = malloc(x.bytes);
    memset(x.memory, 0xee, x.bytes);
    x.base = x.memory + MARGIN;
    return x;
}

static void give(Area *x, long i, Pair pair) { put(x->base, x->kind, i, pair); }
static void keep(Area *x) { memcpy(x->image, x->memory, x->bytes); }
static void want(Area *x, long i, Pair pair) { put(x->image + MARGIN, x->kind, i, pair); }

/* An operation under way: buffers, counts and displacements both ways, types of MPI_Alltoallw. */
typedef struct {
    MPI_Request request;
    Area out, into;
    int step, *sc, *sd, *rc, *rd;
    MPI_Datatype *st, *rt;
    char text[200];
} Operation;
static Operation pending[PENDING];
static int outstanding;

static void end(Operation *o)
{
    Area *areas[2] = {&o->out, &o->into};
    for (int i = 0; i < 2; i++) {
        Area *x = areas[i];
        size_t at = 0;
        while (at < x->bytes && x->memory[at] == x->image[at])
            at++;
        if (at < x->bytes)
            check_failed(__FILE__, __LINE__, "step %d, %s: %s buffer is wrong at byte %ld", o->step, o->text, i ? "receive" : "send", (long) at - MARGIN);
        free(x->memory);
        free(x->image);
    }
    free(o->sc);
    free(o->sd);
    free(o->rc);
    free(o->rd);
    free(o->st);
    free(o->rt);
}

static void end_all(void)
{
    while (outstanding) {
        Operation *o = &pending[--outstanding];
        MPI(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
        end(o);
    }
}

enum Function { BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, REDUCE, ALLREDUCE, SCAN, EXSCAN, FUNCTIONS };
static const char *const names[] = {"Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv",
    "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter", "Reduce_scatter_block", "Reduce", "Allreduce", "Scan", "Exscan"};

/* What all ranks of an operation know alike. */
typedef struct { enum Function function; int root, op, in_place, begins; long count; uint64_t parts; } Common;

/* The elements from one rank to another where they may differ. */
static long part(const Common *c, int from, int to)
{
    uint64_t x = mix(c->parts + (uint64_t) from * 64 + (uint64_t) to);
    return x % 4 == 0 ? 0 : (long) (x / 4 % (uint64_t) (c->count + 1));
}

/* The function or the one that does not block. */
#define CALL(name, nonblocking, ...) do { \
        if (c->begins) \
            MPI(MPI_##nonblocking(__VA_ARGS__, comm, &o->request)); \
        else \
            MPI(MPI_##name(__VA_ARGS__, comm)); } while (0)

static void move(const Common *c, Operation *o, MPI_Comm comm, int n, int me)
{
    Area *out = &o->out, *into = &o->into;
    MPI_Datatype st = types[out->kind], rt = types[into->kind];
    int s = out->kind ? 1 : 2, r = into->kind ? 1 : 2; /* counts of an element */
    int is_root = me == c->root, apart = c->function != GATHER && c->function != SCATTER && c->function != ALLGATHER && c->function != ALLTOALL;
    int in_place = c->in_place && (is_root || c->function >= ALLGATHER);
    long leaves = 0, comes = 0, mine = apart ? part(c, me, 0) : c->count;
    const void *from = in_place && c->function != SCATTER && c->function != SCATTERV ? MPI_IN_PLACE : out->base;
    void *to = in_place && from != MPI_IN_PLACE ? MPI_IN_PLACE : into->base;
    for (int i = 0; i < n; i++) {
        /* In place what goes from one to the other is as long as what comes back. */
        int low = in_place && i < me ? i : me, high = in_place && i < me ? me : i;
        int both = c->function >= ALLTOALL;
        long leaving = !apart ? c->count : both ? part(c, low, high) : part(c, i, 0);
        long coming = !apart ? c->count : !both ? part(c, i, 0) : in_place ? leaving : part(c, i, me);
        o->sc[i] = (int) leaving * s;
        o->rc[i] = (int) coming * r;
        o->sd[i] = (int) leaves;
        o->rd[i] = (int) comes;
        leaves += leaving + apart;
        comes += coming + apart;
        for (long e = 0; both && e < leaving; e++) {
            give(out, o->sd[i] + e, value(o->step, me, i, e));
            if (in_place)
                give(into, o->rd[i] + e, value(o->step, me, i, e));
        }
        for (long e = 0; (c->function == SCATTER || c->function == SCATTERV) && is_root && e < leaving; e++)
            give(out, o->sd[i] + e, value(o->step, me, i, e));
    }
    if (c->function == BCAST && is_root)
        for (long e = 0; e < c->count; e++)
            give(into, e, value(o->step, me, 0, e));
    if (c->function == GATHER || c->function == GATHERV || c->function == ALLGATHER || c->function == ALLGATHERV)
        for (long e = 0; e < mine; e++)
            give(in_place ? into : out, (in_place ? o->rd[me] : 0) + e, value(o->step, me, 0, e));
    keep(out);
    keep(into);
    if (c->function == BCAST)
        for (long e = 0; e < c->count; e++)
            want(into, e, value(o->step, c->root, 0, e));
    else if (c->function == SCATTER || c->function == SCATTERV)
        for (long e = 0; to != MPI_IN_PLACE && e < mine; e++)
            want(into, e, value(o->step, c->root, me, e));
    else if (c->function != BARRIER && (is_root || c->function >= ALLGATHER))
        for (int i = 0; i < n; i++)
            for (long e = 0; e < o->rc[i] / r; e++)
                want(into, o->rd[i] + e, value(o->step, i, c->function >= ALLTOALL ? me : 0, e));
    for (int i = 0; i < n; i++) {
        o->st[i] = st;
        o->rt[i] = rt;
        o->sd[i] *= c->function == ALLTOALLW ? strides[out->kind] : s;
        o->rd[i] *= c->function == ALLTOALLW ? strides[into->kind] : r;
    }
    int sends = (int) mine * s, takes = (int) mine * r, all = (int) c->count;
    switch (c->function) {
    case BARRIER:
        if (c->begins)
            MPI(MPI_Ibarrier(comm, &o->request));
        else
            MPI(MPI_Barrier(comm));
        break;
    case BCAST: CALL(Bcast, Ibcast, into->base, all * r, rt, c->root); break;
    case GATHER: CALL(Gather, Igather, from, sends, st, to, all * r, rt, c->root); break;
    case GATHERV: CALL(Gatherv, Igatherv, from, sends, st, to, o->rc, o->rd, rt, c->root); break;
    case SCATTER: CALL(Scatter, Iscatter, from, all * s, st, to, takes, rt, c->root); break;
    case SCATTERV: CALL(Scatterv, Iscatterv, from, o->sc, o->sd, st, to, takes, rt, c->root); break;
    case ALLGATHER: CALL(Allgather, Iallgather, from, sends, st, to, all * r, rt); break;
    case ALLGATHERV: CALL(Allgatherv, Iallgatherv, from, sends, st, to, o->rc, o->rd, rt); break;
    case ALLTOALL: CALL(Alltoall, Ialltoall, from, all * s, st, to, all * r, rt); break;
    case ALLTOALLV: CALL(Alltoallv, Ialltoallv, from, o->sc, o->sd, st, to, o->rc, o->rd, rt); break;
    default: CALL(Alltoallw, Ialltoallw, from, o->sc, o->sd, o->st, to, o->rc, o->rd, o->rt); break;
    }
}

static void reduce(const Common *c, Operation *o, MPI_Comm comm, int n, int me)
{
    Area *out = &o->out, *into = &o->into;
    MPI_Datatype type = types[out->kind];
    MPI_Op operations[] = {MPI_SUM, MPI_MAX, MPI_BXOR, composition}, op = operations[c->op];
    int each = out->kind ? 1 : 2, in_place = c->in_place && (c->function != REDUCE || me == c->root);
    int scatters = c->function == REDUCE_SCATTER || c->function == REDUCE_SCATTER_BLOCK;
    /* Now and then one rank gets all. */
    int only = c->parts % 5 == 0 ? (int) (c->parts / 8 % (uint64_t) n) : -1;
    long whole = 0, begin = 0, mine = 0;
    for (int i = 0; i < n; i++) {
        long length = c->function == REDUCE_SCATTER_BLOCK ? c->count : only < 0 || only == i ? part(c, i, 1) : 0;
        if (i == me) {
            begin = whole;
            mine = length;
        }
        o->rc[i] = (int) length * each;
        whole += length;
    }
    if (!scatters) {
        begin = 0;
        whole = c->count;
        mine = c->function == REDUCE && me != c->root ? 0 : whole;
    }
    for (long e = 0; e < whole; e++)
        give(in_place ? into : out, e, value(o->step, me, 0, e));
    keep(out);
    keep(into);
    int operands = c->function == SCAN ? me + 1 : c->function == EXSCAN ? me : n;
    for (long e = 0; operands > 0 && e < mine; e++) {
        Pair result = value(o->step, 0, 0, begin + e);
        for (int i = 1; i < operands; i++)
            result = combine(c->op, result, value(o->step, i, 0, begin + e));
        want(into, e, result);
    }
    const void *from = in_place ? MPI_IN_PLACE : out->base;
    int length = (int) whole * each;
    switch (c->function) {
    case REDUCE_SCATTER: CALL(Reduce_scatter, Ireduce_scatter, from, into->base, o->rc, type, op); break;
    case REDUCE_SCATTER_BLOCK: CALL(Reduce_scatter_block, Ireduce_scatter_block, from, into->base, (int) c->count * each, type, op); break;
    case REDUCE: CALL(Reduce, Ireduce, from, into->base, length, type, op, c->root); break;
    case ALLREDUCE: CALL(Allreduce, Iallreduce, from, into->base, length, type, op); break;
    case SCAN: CALL(Scan, Iscan, from, into->base, length, type, op); break;
    default: CALL(Exscan, Iexscan, from, into->base, length, type, op); break;
    }
}

static void once(const Common *c, int step, MPI_Comm comm, int n, int me)
{
    static Operation blocking;
    Operation *o = c->begins ? &pending[outstanding] : &blocking;
    int reduces = c->function >= REDUCE_SCATTER, kind = c->op < 3 ? 0 : 1 + (int) (c->parts % (KINDS - 1));
    /* Sender and receiver may have the same data in different ways, but for reductions. */
    int first = c->function == ALLTOALLW; /* its displacements are bytes: the type of a whole element */
    int leaving = reduces ? kind : first + (int) below(&own, KINDS - first), coming = reduces ? kind : first + (int) below(&own, KINDS - first);
    long room = (c->count + 1) * (n + 1);
    o->step = step;
    o->out = area(leaving, room);
    o->into = area(coming, room);
    o->sc = calloc((size_t) n, sizeof(int));
    o->sd = calloc((size_t) n, sizeof(int));
    o->rc = calloc((size_t) n, sizeof(int));
    o->rd = calloc((size_t) n, sizeof(int));
    o->st = calloc((size_t) n, sizeof(MPI_Datatype));
    o->rt = calloc((size_t) n, sizeof(MPI_Datatype));
    snprintf(o->text, sizeof o->text, "%s%s on %d ranks, own %d, root %d, %ld elements, layouts %d and %d, operation %d%s", c->begins ? "I" : "",
             names[c->function], n, me, c->root, c->count, leaving, coming, c->op, c->in_place ? ", in place" : "");
    if (below(&own, 200) == 0)
        usleep(below(&own, 3000));
    (reduces ? reduce : move)(c, o, comm, n, me);
    if (!c->begins)
        end(o);
    else if (++outstanding == PENDING || below(&own, 3) == 0)
        end_all();
}

static MPI_Datatype layout(int first, int second, int low, int extent)
{
    MPI_Aint places[2] = {first, second};
    int ones[2] = {1, 1};
    MPI_Datatype words, type;
    MPI(MPI_Type_create_hindexed(2, ones, places, MPI_UINT32_T, &words));
    MPI(MPI_Type_create_resized(words, low, extent, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_free(&words));
    return type;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    start(&argc, &argv);
    uint64_t seed = (uint64_t) atoi(argv[1]);
    int steps = slow() ? 5 : atoi(argv[2]);
    unsigned most = (unsigned) atoi(argv[3]);
    common = mix(seed);
    own = mix(common + (uint64_t) rank + 1);
    types[0] = MPI_UINT32_T;
    for (int kind = 1; kind < KINDS; kind++)
        types[kind] = layout(firsts[kind], seconds[kind], firsts[kind] < 0 ? -8 : 0, strides[kind]);
    MPI(MPI_Op_create(compose, 0, &composition));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]));
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comms[3]));
    for (int step = 0; step < steps; step++) {
        unsigned which = below(&common, 8);
        MPI_Comm comm = comms[which < 4 ? 0 : which % COMMS];
        int n, me;
        uint64_t before = common;
        MPI(MPI_Comm_size(comm, &n));
        MPI(MPI_Comm_rank(comm, &me));
        if (comm == comms[2] || comm == comms[3]) /* members alone know what comes */
            common = mix(common + (uint64_t) (comm == comms[2] ? rank % 2 : rank));
        unsigned size_of = below(&common, 10);
        Common c = {
            .function = (enum Function) below(&common, FUNCTIONS), .root = (int) below(&common, (unsigned) n), .op = (int) below(&common, 4),
            .in_place = below(&common, 3) == 0, .begins = below(&common, 4) == 0,
            .count = size_of == 0 ? 0 : below(&common, size_of < 5 ? 9 : size_of < 8 ? 600 : size_of < 9 ? most / 4 + 1 : most),
            .parts = mix(common),
        };
        int times = below(&common, 6) == 0 && c.count < 700 ? 1 + (int) below(&common, 70) : 1;
        for (int time = 0; time < times; time++)
            once(&c, step * 100 + time, comm, n, me);
        if (comm == comms[2] || comm == comms[3])
            common = mix(before);
    }
    end_all();
    for (int i = 0; i < COMMS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    for (int kind = 1; kind < KINDS; kind++)
        MPI(MPI_Type_free(&types[kind]));
    MPI(MPI_Op_free(&composition));
    return finish();
}
