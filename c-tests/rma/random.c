/* Random programs of one-sided operations against a sequential model.
 *
 *     random SEED PROGRAMS
 *
 * All ranks draw the same plan from the seed: the flavour and sizes of a window, and rounds. In a round the words of each target's
 * memory are cut into segments, and each segment has one use, so that the standard defines every result: put by one origin, got by
 * any number, accumulated by all with one commutative operation, or read and changed by one origin in order. Each rank applies all
 * operations of the plan to a model of all memories and executes its own on the window, in one of five ways of synchronisation. Then results
 * and memory are compared, word by word. A failure names the program's seed: `random THAT 1` repeats it. */
#include "near.h"

enum { RANKS = 16, WORDS = 2600, MOST = 96, RESULTS = 16384 };

enum use { PUT, GET, SUM_ALL, XOR_ALL, MAX_ALL, FETCH_ALL, ORDERED, USES };
enum way { FENCE, LOCK, SHARED_LOCK, LOCK_ALL, PSCW, WAYS };
enum flavour { CREATE, ALLOCATE, SHARED, DYNAMIC, ALLOC_MEM, STATIC, FLAVOURS };
enum kind { K_PUT, K_GET, K_ACC, K_GET_ACC, K_FOP, K_CAS };

typedef int64_t word;

struct operation {
    int origin, target, first, words, stride;
    enum kind kind;
    MPI_Op op;
    word value;             /* of the first word; the others follow by 3 */
    word compare;
    int request, derived_origin, checked;
};

static uint64_t state, program_seed;
static word model[RANKS][WORDS];
static word fixed[WORDS];
static int words_of[RANKS], units[RANKS];
static struct { word *at; word expected; } expected[RESULTS];
static int results;
static word results_memory[RESULTS];
static int used_results;

static uint32_t draw(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t) ((state >> 11) % limit);
}

static word combine(MPI_Op op, word old, word new_)
{
    if (op == MPI_SUM)
        return (word) ((uint64_t) old + (uint64_t) new_);
    if (op == MPI_BXOR)
        return old ^ new_;
    if (op == MPI_MAX)
        return old > new_ ? old : new_;
    if (op == MPI_MIN)
        return old < new_ ? old : new_;
    if (op == MPI_NO_OP)
        return old;
    return new_;            /* MPI_REPLACE */
}

/* A type of `words` words, each `stride` words after the one before; MPI_INT64_T itself says count. */
static MPI_Datatype strided(int words, int stride)
{
    MPI_Datatype type;
    MPI(MPI_Type_vector(words, 1, stride, MPI_INT64_T, &type));
    MPI(MPI_Type_commit(&type));
    return type;
}

static word *place(const struct operation *o, int i)
{
    return &model[o->target][o->first + i * o->stride];
}

/* What the operation gives back and leaves behind. `back`: a place for each word of this rank's own operation, or NULL. */
static void apply(const struct operation *o, word *back, int first)
{
    for (int i = 0; i < o->words; i++) {
        word *at = place(o, i), old = *at, new_ = o->value + 3 * i;
        if (o->kind == K_PUT)
            *at = new_;
        else if (o->kind == K_CAS)
            *at = old == o->compare ? new_ : old;
        else if (o->kind != K_GET)
            *at = combine(o->op, old, new_);
        if (back && o->checked) {
            expected[results].at = back + first + i;
            expected[results++].expected = old;
        }
    }
}

/* Buffers of requests and of operations that are complete at the end of the epoch only. */
struct pending {
    MPI_Request request[MOST];
    int requests;
    word *buffers[3 * MOST];
    int number;
};

static word *buffer(struct pending *p, const struct operation *o, int stride)
{
    word *b = malloc(sizeof(word) * (size_t) (o->words * stride + 1));
    for (int i = 0; i < o->words; i++)
        b[i * stride] = o->value + 3 * i;
    p->buffers[p->number++] = b;
    return b;
}

static void execute(const struct operation *o, MPI_Win win, MPI_Aint base, struct pending *p, word *back)
{
    int own = o->derived_origin ? 2 : 1, bytes = sizeof(word) / units[o->target];
    MPI_Aint at = base + (MPI_Aint) o->first * bytes;
    MPI_Datatype target = o->stride == 1 ? MPI_INT64_T : strided(o->words, o->stride);
    MPI_Datatype origin = own == 1 ? MPI_INT64_T : strided(o->words, own);
    int target_count = o->stride == 1 ? o->words : 1, origin_count = own == 1 ? o->words : 1;
    MPI_Request *request = o->request ? &p->request[p->requests++] : NULL;
    word *from = o->kind == K_GET ? NULL : buffer(p, o, own), *compare;
    switch (o->kind) {
    case K_PUT:
        if (request)
            MPI(MPI_Rput(from, origin_count, origin, o->target, at, target_count, target, win, request));
        else
            MPI(MPI_Put(from, origin_count, origin, o->target, at, target_count, target, win));
        break;
    case K_GET:
        if (request)
            MPI(MPI_Rget(back, o->words, MPI_INT64_T, o->target, at, target_count, target, win, request));
        else
            MPI(MPI_Get(back, o->words, MPI_INT64_T, o->target, at, target_count, target, win));
        break;
    case K_ACC:
        if (request)
            MPI(MPI_Raccumulate(from, origin_count, origin, o->target, at, target_count, target, o->op, win, request));
        else
            MPI(MPI_Accumulate(from, origin_count, origin, o->target, at, target_count, target, o->op, win));
        break;
    case K_GET_ACC:
        if (request)
            MPI(MPI_Rget_accumulate(from, origin_count, origin, back, o->words, MPI_INT64_T, o->target, at, target_count, target,
                                    o->op, win, request));
        else
            MPI(MPI_Get_accumulate(from, origin_count, origin, back, o->words, MPI_INT64_T, o->target, at, target_count, target,
                                   o->op, win));
        break;
    case K_FOP:
        MPI(MPI_Fetch_and_op(from, back, MPI_INT64_T, o->target, at, o->op, win));
        break;
    case K_CAS:
        compare = p->buffers[p->number++] = malloc(sizeof *compare);
        *compare = o->compare;
        MPI(MPI_Compare_and_swap(from, compare, back, MPI_INT64_T, o->target, at, win));
        break;
    }
    /* A type may be freed while an operation uses it. */
    if (target != MPI_INT64_T)
        MPI(MPI_Type_free(&target));
    if (origin != MPI_INT64_T)
        MPI(MPI_Type_free(&origin));
}

static void complete_requests(struct pending *p)
{
    MPI(MPI_Waitall(p->requests, p->request, MPI_STATUSES_IGNORE));
    p->requests = 0;
}

/* The operations of one segment. */
static int plan_segment(struct operation *list, int most, int target, int first, int length, int passive)
{
    const MPI_Op any[] = {MPI_SUM, MPI_REPLACE, MPI_MIN, MPI_BXOR};
    enum use use = draw(USES);
    int owner = draw(size), number = 0, many = 1 + draw(5), one = draw(4), swaps = draw(3) == 0;
    for (int i = 0; i < many && number < most; i++) {
        struct operation o = {.target = target, .first = first, .stride = 1};
        o.words = 1 + draw(length);
        if (draw(3) == 0 && o.words > 3) {
            o.stride = 2 + draw(2);
            o.words = (length + o.stride - 1) / o.stride;
        }
        o.value = (word) draw(1u << 30) - (1 << 29);
        o.origin = owner;
        o.derived_origin = draw(3) == 0;
        o.request = passive && draw(3) == 0;
        o.checked = 0;
        switch (use) {
        case PUT:
            o.kind = K_PUT;
            many = 1;
            break;
        case GET:
            o.kind = K_GET;
            o.origin = draw(size);
            o.checked = 1;
            break;
        case SUM_ALL: case XOR_ALL: case MAX_ALL:
            o.kind = K_ACC;
            o.op = use == SUM_ALL ? MPI_SUM : use == XOR_ALL ? MPI_BXOR : MPI_MAX;
            o.origin = draw(size);
            break;
        case FETCH_ALL:
            o.kind = draw(2) ? K_FOP : K_GET_ACC;
            o.op = MPI_SUM;
            o.origin = draw(size);
            break;
        default:
            /* By the hint accumulate_ops, which is same_op_no_op, an implementation may count on one operation. */
            o.kind = swaps ? K_CAS : K_ACC + draw(reference ? 3 : 4);
            o.op = any[reference ? one : (int) draw(4)];
            if (o.kind != K_ACC && draw(3) == 0)
                o.op = MPI_NO_OP;
            o.checked = o.kind != K_ACC;
            if (o.kind == K_CAS) {
                o.op = MPI_REPLACE;
                o.compare = draw(2) ? model[target][first] : o.value;
            }
        }
        if (o.kind == K_FOP || o.kind == K_CAS) {
            o.words = o.stride = 1;
            o.request = o.derived_origin = 0;
        }
        list[number++] = o;
    }
    return number;
}

static int plan_round(struct operation *list, int passive)
{
    int number = 0;
    for (int target = 0; target < size; target++)
        for (int first = 0; first < words_of[target] && number < MOST - 6;) {
            int length = 1 + draw(draw(4) ? 12 : 300);
            if (length > words_of[target] - first)
                length = words_of[target] - first;
            if (draw(3))
                number += plan_segment(list + number, 5, target, first, length, passive);
            first += length;
        }
    return number;
}

static int touches(const struct operation *list, int number, int origin, int target)
{
    for (int i = 0; i < number; i++)
        if (list[i].origin == origin && list[i].target == target)
            return 1;
    return 0;
}

/* Executes this rank's operations, and synchronises as the round's way says. Returns when all are complete everywhere. */
static void run_round(enum way way, const struct operation *list, int number, MPI_Win win, const MPI_Aint *base, MPI_Comm comm)
{
    struct pending pending = {.requests = 0};
    MPI_Group all, origins = MPI_GROUP_NULL, targets = MPI_GROUP_NULL;
    int from[RANKS], to[RANKS], froms = 0, tos = 0, lazy = draw(2);
    if (way == PSCW) {
        for (int i = 0; i < size; i++) {
            if (touches(list, number, i, rank))
                from[froms++] = i;
            if (touches(list, number, rank, i))
                to[tos++] = i;
        }
        MPI(MPI_Win_get_group(win, &all));
        MPI(MPI_Group_incl(all, froms, from, &origins));
        MPI(MPI_Group_incl(all, tos, to, &targets));
        MPI(MPI_Group_free(&all));
        MPI(MPI_Win_post(origins, 0, win));
        MPI(MPI_Win_start(targets, 0, win));
    }
    if (way == FENCE)
        MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    if (way == LOCK_ALL)
        MPI(MPI_Win_lock_all(0, win));
    if (way == SHARED_LOCK && lazy)
        for (int i = 0; i < size; i++)
            MPI(MPI_Win_lock(MPI_LOCK_SHARED, i, 0, win));
    for (int i = 0; i < number; i++) {
        const struct operation *o = &list[i];
        word *back = results_memory + used_results;
        int own = o->origin == rank, single = way == LOCK || (way == SHARED_LOCK && !lazy);
        if (own && o->kind != K_PUT && o->kind != K_ACC)
            used_results += o->words;
        apply(o, own ? back : NULL, 0);
        if (!own)
            continue;
        if (single)
            MPI(MPI_Win_lock(way == LOCK ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, o->target, 0, win));
        execute(o, win, base[o->target], &pending, back);
        if (single) {
            if (lazy)
                complete_requests(&pending);
            MPI(MPI_Win_unlock(o->target, win));
        } else if (way == LOCK_ALL && i % 3 == 0) {
            MPI(MPI_Win_flush(o->target, win));
        } else if (way == LOCK_ALL && i % 5 == 0) {
            MPI(MPI_Win_flush_local_all(win));
        }
    }
    complete_requests(&pending);
    if (way == FENCE)
        MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    if (way == LOCK_ALL)
        MPI(MPI_Win_unlock_all(win));
    if (way == SHARED_LOCK && lazy)
        for (int i = size - 1; i >= 0; i--)
            MPI(MPI_Win_unlock(i, win));
    if (way == PSCW) {
        MPI(MPI_Win_complete(win));
        MPI(MPI_Win_wait(win));
        MPI(MPI_Group_free(&origins));
        MPI(MPI_Group_free(&targets));
    }
    for (int i = 0; i < pending.number; i++)
        free(pending.buffers[i]);
    MPI(MPI_Barrier(comm));
}

static void compare(MPI_Win win, const word *memory, int round, enum flavour flavour, enum way way)
{
    /* Local loads of memory that others have changed belong into an epoch. */
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    MPI(MPI_Win_sync(win));
    for (int i = 0; i < words_of[rank]; i++)
        if (memory[i] != model[rank][i]) {
            check_failed(__FILE__, __LINE__, "program %llu, round %d, flavour %d, way %d: word %d is %lld, expected %lld",
                         (unsigned long long) program_seed, round, flavour, way, i, (long long) memory[i], (long long) model[rank][i]);
            break;
        }
    MPI(MPI_Win_unlock(rank, win));
    for (int i = 0; i < results; i++)
        if (*expected[i].at != expected[i].expected) {
            check_failed(__FILE__, __LINE__, "program %llu, round %d, flavour %d, way %d: result %d is %lld, expected %lld",
                         (unsigned long long) program_seed, round, flavour, way, i, (long long) *expected[i].at,
                         (long long) expected[i].expected);
            break;
        }
}

static void run_program(void)
{
    struct operation list[MOST];
    enum flavour flavour = draw(FLAVOURS);
    if (flavour == SHARED && !share_memory(MPI_COMM_WORLD))
        flavour = ALLOCATE;
    MPI_Aint base[RANKS] = {0}, own = 0;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win;
    word *memory = NULL, *given = NULL;
    int rounds = 1 + draw(4), element = draw(3), small = draw(2);
    for (int i = 0; i < size; i++) {
        words_of[i] = draw(4) ? (int) draw(small ? 40 : WORDS) : 0;
        units[i] = 1 << draw(4);
        if (flavour == DYNAMIC)
            units[i] = 1;
    }
    MPI_Aint bytes = words_of[rank] * (MPI_Aint) sizeof(word);
    if (element) {
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "mpi_accumulate_granularity", element == 1 ? "8" : "256"));
    }
    switch (flavour) {
    case ALLOCATE:
        MPI(MPI_Win_allocate(bytes, units[rank], info, MPI_COMM_WORLD, &memory, &win));
        break;
    case SHARED:
        MPI(MPI_Win_allocate_shared(bytes, units[rank], info, MPI_COMM_WORLD, &memory, &win));
        break;
    case DYNAMIC:
        memory = given = malloc((size_t) bytes + 1);
        MPI(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
        MPI(MPI_Win_attach(win, memory, bytes));
        MPI(MPI_Get_address(memory, &own));
        MPI(MPI_Allgather(&own, 1, MPI_AINT, base, 1, MPI_AINT, MPI_COMM_WORLD));
        break;
    case ALLOC_MEM:
        MPI(MPI_Alloc_mem(bytes + 8, MPI_INFO_NULL, &memory));
        MPI(MPI_Win_create(memory, bytes, units[rank], info, MPI_COMM_WORLD, &win));
        break;
    case STATIC:
        memory = fixed;
        MPI(MPI_Win_create(memory, bytes, units[rank], info, MPI_COMM_WORLD, &win));
        break;
    default:
        memory = given = malloc((size_t) bytes + 1);
        MPI(MPI_Win_create(memory, bytes, units[rank], info, MPI_COMM_WORLD, &win));
    }
    if (info != MPI_INFO_NULL)
        MPI(MPI_Info_free(&info));
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    for (int i = 0; i < size; i++)
        for (int j = 0; j < words_of[i]; j++) {
            model[i][j] = i * 1000003 + j * 7;
            if (i == rank)
                memory[j] = model[i][j];
        }
    MPI(MPI_Win_unlock(rank, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < rounds; round++) {
        enum way way = draw(WAYS);
        int number = plan_round(list, way != FENCE && way != PSCW);
        results = used_results = 0;
        run_round(way, list, number, win, base, MPI_COMM_WORLD);
        compare(win, memory, round, flavour, way);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (flavour == DYNAMIC)
        MPI(MPI_Win_detach(win, memory));
    MPI(MPI_Win_free(&win));
    if (flavour == ALLOC_MEM)
        MPI(MPI_Free_mem(memory));
    free(given);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int programs = argc > 2 ? atoi(argv[2]) : 50;
    if (slow())
        programs = programs > 10 ? 10 : programs;
    for (int i = 0; i < programs && !check_failures; i++) {
        program_seed = seed + (uint64_t) i;
        state = (program_seed + 1) * 0x9E3779B97F4A7C15ull;
        for (int j = 0; j < 10; j++)
            draw(2);
        run_program();
    }
    return finish();
}
