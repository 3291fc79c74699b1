/* Datatypes: pack and unpack beside a loop written by hand, constructing and committing, and ping-pong.
 *     datatype pack [seconds per value] [MiB]         one rank; GB/s of packed bytes, construction in ms
 *     datatype construct                              one rank; only the construction
 *     datatype exchange [seconds per value]           two ranks; half of the round trip, in us
 *
 * Types: vectors of doubles, indexed with 1-7 doubles, faces of a cube, struct {int; double[3]; char}, blocks of 3 ints,
 * a struct of vectors, a column nested five deep. Each result is compared with the hand-written loop's before it is timed. */
#include "bench.h"
#include <stddef.h>

enum { DEPTH = 4, CUBE = 128 };

struct record {
    int number;
    double values[3];
    char letter;
};

struct pair_of_vectors {
    double doubles[32];
    int ints[32];
};

struct subject {
    const char *name;
    MPI_Datatype type;
    int count;
    long blocks;          /* of the hand-written loop */
    int *displacements;   /* in elements */
    int *lengths;
    int edge, face;
    size_t extent, packed; /* bytes of all elements in memory, and packed */
    void (*pack)(const struct subject *, const char *from, char *to);
    void (*unpack)(const struct subject *, const char *from, char *to);
};

/* The loops are what a program would have: one for each direction, in the types' own terms. */
#define LOOPS(name, body) \
    static void pack_##name(const struct subject *s, const char *from, char *to) \
    { \
        body(MOVE_OUT) \
    } \
    static void unpack_##name(const struct subject *s, const char *to, char *from) \
    { \
        body(MOVE_IN) \
    }
/* a: in the user's memory, b: in the packed buffer. `from` is the user's memory in both directions. */
#define MOVE_OUT(a, b) (b) = (a);
#define MOVE_IN(a, b) (a) = (b);
#define IN(type) ((type *)(void *)from)
#define OUT(type) ((type *)(void *)to)

#define VECTOR1(MOVE) \
    double *a = IN(double), *b = OUT(double); \
    for (long i = 0; i < s->blocks; i++) \
        MOVE(a[2 * i], b[i])
#define VECTOR8(MOVE) \
    double *a = IN(double), *b = OUT(double); \
    for (long i = 0; i < s->blocks; i++) \
        for (int j = 0; j < 8; j++) \
            MOVE(a[16 * i + j], b[8 * i + j])
#define INDEXED(MOVE) \
    double *a = IN(double), *b = OUT(double); \
    for (long i = 0; i < s->blocks; i++) \
        for (int j = 0; j < s->lengths[i]; j++, b++) \
            MOVE(a[s->displacements[i] + j], *b)
#define FACE(MOVE) \
    long e = s->edge, ends[3] = {e, e, e}; \
    ends[s->face] = DEPTH; \
    double *b = OUT(double); \
    for (int n = 0; n < s->count; n++) { \
        double *a = IN(double) + n * e * e * e; \
        for (long x = 0; x < ends[0]; x++) \
            for (long y = 0; y < ends[1]; y++) \
                for (long z = 0; z < ends[2]; z++, b++) \
                    MOVE(a[(x * e + y) * e + z], *b) \
    }
#define RECORD(MOVE) \
    struct record *a = IN(struct record); \
    char *b = OUT(char); \
    for (int i = 0; i < s->count; i++, b += 29) { \
        MOVE(a[i].number, *(int *)b) \
        for (int j = 0; j < 3; j++) \
            MOVE(a[i].values[j], *(double *)(b + 4 + 8 * j)) \
        MOVE(a[i].letter, b[28]) \
    }
#define TRIPLES(MOVE) \
    int *a = IN(int), *b = OUT(int); \
    for (long i = 0; i < s->blocks; i++) \
        for (int j = 0; j < 3; j++, b++) \
            MOVE(a[s->displacements[i] + j], *b)
#define VECTORS(MOVE) \
    struct pair_of_vectors *a = IN(struct pair_of_vectors); \
    char *b = OUT(char); \
    for (int i = 0; i < s->count; i++) { \
        for (int j = 0; j < 16; j++, b += 8) \
            MOVE(a[i].doubles[2 * j], *(double *)b) \
        for (int j = 0; j < 8; j++) \
            for (int k = 0; k < 2; k++, b += 4) \
                MOVE(a[i].ints[4 * j + k], *(int *)b) \
    }
#define NESTED(MOVE) \
    double *b = OUT(double); \
    for (int n = 0; n < s->count; n++) \
        for (int i = 0; i < 4; i++) \
            for (int j = 0; j < 4; j++) \
                for (int k = 0; k < 4; k++) \
                    for (int l = 0; l < 4; l++) \
                        for (int m = 0; m < 4; m++, b++) \
                            MOVE(IN(double)[4000L * n + 900 * i + 200 * j + 45 * k + 10 * l + 2 * m], *b)
LOOPS(vector1, VECTOR1)
LOOPS(vector8, VECTOR8)
LOOPS(indexed, INDEXED)
LOOPS(face, FACE)
LOOPS(record, RECORD)
LOOPS(triples, TRIPLES)
LOOPS(vectors, VECTORS)
LOOPS(nested, NESTED)

enum { VECTOR1_TYPE, VECTOR8_TYPE, INDEXED_TYPE, FACE_X, FACE_Y, FACE_Z, RECORD_TYPE, TRIPLES_TYPE, VECTORS_TYPE, NESTED_TYPE, TYPES };

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* A type of about so many packed bytes. */
static struct subject make(int which, size_t bytes, int edge)
{
    struct subject s = {.count = 1, .edge = edge};
    unsigned state = 12345;
    MPI_Datatype inner, outer;
    MPI_Aint lb, extent;
    switch (which) {
    case VECTOR1_TYPE:
        s = (struct subject){"vector1", .count = 1, .blocks = bytes / 8, .pack = pack_vector1, .unpack = unpack_vector1};
        MPI_Type_vector(s.blocks, 1, 2, MPI_DOUBLE, &s.type);
        break;
    case VECTOR8_TYPE:
        s = (struct subject){"vector8", .count = 1, .blocks = bytes / 64, .pack = pack_vector8, .unpack = unpack_vector8};
        MPI_Type_vector(s.blocks, 8, 16, MPI_DOUBLE, &s.type);
        break;
    case INDEXED_TYPE:
        s = (struct subject){"indexed", .count = 1, .blocks = bytes / 32, .pack = pack_indexed, .unpack = unpack_indexed};
        s.displacements = malloc(s.blocks * sizeof(int));
        s.lengths = malloc(s.blocks * sizeof(int));
        for (long i = 0, at = 0; i < s.blocks; i++) {
            s.displacements[i] = at;
            s.lengths[i] = 1 + next_random(&state) % 7;
            at += s.lengths[i] + 1 + next_random(&state) % 7;
        }
        MPI_Type_indexed(s.blocks, s.lengths, s.displacements, MPI_DOUBLE, &s.type);
        break;
    case FACE_X:
    case FACE_Y:
    case FACE_Z: {
        /* x is the fastest dimension in memory */
        static const char *const names[] = {"face_x", "face_y", "face_z"};
        s.face = FACE_Z - which;
        s.name = names[which - FACE_X];
        s.pack = pack_face;
        s.unpack = unpack_face;
        s.count = bytes / ((size_t)edge * edge * DEPTH * 8);
        if (s.count < 1)
            s.count = 1;
        int sizes[3] = {edge, edge, edge}, parts[3] = {edge, edge, edge}, starts[3] = {0, 0, 0};
        parts[s.face] = DEPTH;
        MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &s.type);
        break;
    }
    case RECORD_TYPE: {
        s = (struct subject){"struct", .count = bytes / 29, .pack = pack_record, .unpack = unpack_record};
        int lengths[] = {1, 3, 1};
        MPI_Aint places[] = {offsetof(struct record, number), offsetof(struct record, values), offsetof(struct record, letter)};
        MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
        MPI_Type_create_struct(3, lengths, places, types, &s.type);
        break;
    }
    case TRIPLES_TYPE:
        s = (struct subject){"indexed_block", .count = 1, .blocks = bytes / 12, .pack = pack_triples, .unpack = unpack_triples};
        s.displacements = malloc(s.blocks * sizeof(int));
        for (long i = 0, at = 0; i < s.blocks; i++) {
            s.displacements[i] = at;
            at += 4 + next_random(&state) % 6;
        }
        MPI_Type_create_indexed_block(s.blocks, 3, s.displacements, MPI_INT, &s.type);
        break;
    case VECTORS_TYPE: {
        s = (struct subject){"struct_of_vectors", .count = bytes / 192, .pack = pack_vectors, .unpack = unpack_vectors};
        int lengths[] = {1, 1};
        MPI_Aint places[] = {0, offsetof(struct pair_of_vectors, ints)};
        MPI_Datatype types[2], whole;
        MPI_Type_vector(16, 1, 2, MPI_DOUBLE, &types[0]);
        MPI_Type_vector(8, 2, 4, MPI_INT, &types[1]);
        MPI_Type_create_struct(2, lengths, places, types, &whole);
        MPI_Type_create_resized(whole, 0, sizeof(struct pair_of_vectors), &s.type);
        MPI_Type_free(&types[0]);
        MPI_Type_free(&types[1]);
        MPI_Type_free(&whole);
        break;
    }
    case NESTED_TYPE: {
        static const int strides[] = {10, 45, 200, 900};
        s = (struct subject){"nested", .count = (bytes + 8191) / 8192, .pack = pack_nested, .unpack = unpack_nested};
        MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &inner);
        for (int level = 0; level < 4; level++) {
            MPI_Type_create_hvector(4, 1, 8 * strides[level], inner, &outer);
            MPI_Type_free(&inner);
            inner = outer;
        }
        MPI_Type_create_resized(inner, 0, 4000 * 8, &s.type);
        MPI_Type_free(&inner);
        break;
    }
    }
    MPI_Type_commit(&s.type);
    int size;
    MPI_Type_size(s.type, &size);
    MPI_Type_get_extent(s.type, &lb, &extent);
    s.packed = (size_t)size * s.count;
    s.extent = (size_t)extent * s.count;
    return s;
}

static void discard(struct subject *s)
{
    MPI_Type_free(&s->type);
    free(s->displacements);
    free(s->lengths);
}

enum { BY_LIBRARY, BY_HAND };

static void once(const struct subject *s, int how, int unpacks, char *user, char *packed)
{
    int position = 0;
    if (how == BY_HAND)
        (unpacks ? s->unpack : s->pack)(s, unpacks ? packed : user, unpacks ? user : packed);
    else if (unpacks)
        MPI_Unpack(packed, s->packed, &position, user, s->count, s->type, MPI_COMM_SELF);
    else
        MPI_Pack(user, s->count, s->type, packed, s->packed, &position, MPI_COMM_SELF);
}

/* Seconds of one call: the fastest of some batches, because a single process is disturbed in one direction only. */
static double timed(const struct subject *s, int how, int unpacks, char *user, char *packed, double budget)
{
    double best = 1e9, until = probe_now() + budget;
    once(s, how, unpacks, user, packed);
    do {
        double start = probe_now();
        for (int i = 0; i < 4; i++)
            once(s, how, unpacks, user, packed);
        double time = (probe_now() - start) / 4;
        best = time < best ? time : best;
    } while (probe_now() < until);
    return best;
}

static void compare(const char *a, const char *b, size_t bytes, const struct subject *s, const char *what)
{
    if (memcmp(a, b, bytes) != 0) {
        fprintf(stderr, "WRONG DATA: %s of %s\n", what, s->name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void measure_packing(int which, size_t bytes, double budget)
{
    struct subject s = make(which, bytes, CUBE);
    char *user = bench_buffer(s.extent), *other = bench_buffer(s.extent);
    char *packed = bench_buffer(s.packed), *expected = bench_buffer(s.packed);
    char series[64];
    bench_fill(user, s.extent, 5);
    once(&s, BY_HAND, 0, user, expected);
    once(&s, BY_LIBRARY, 0, user, packed);
    compare(packed, expected, s.packed, &s, "MPI_Pack");
    memset(user, 0, s.extent);
    memset(other, 0, s.extent);
    once(&s, BY_HAND, 1, user, packed);
    once(&s, BY_LIBRARY, 1, other, packed);
    compare(user, other, s.extent, &s, "MPI_Unpack");
    free(other);
    for (int unpacks = 0; unpacks < 2; unpacks++)
        for (int how = 0; how < 2; how++) {
            snprintf(series, sizeof series, "%s%s_%s", how == BY_HAND ? "hand_" : "", unpacks ? "unpack" : "pack", s.name);
            double time = timed(&s, how, unpacks, user, packed, budget);
            bench_result(series, bytes, s.packed / time * 1e-9, "GB/s", "higher");
        }
    free(user);
    free(packed);
    free(expected);
    discard(&s);
}

/* Making, committing and freeing: one indexed type of a million blocks, and ten thousand small types. */
static void measure_construction(void)
{
    enum { BLOCKS = 1000000, SMALL = 10000, TURNS = 9 };
    int *lengths = malloc(BLOCKS * sizeof(int)), *places = malloc(BLOCKS * sizeof(int));
    unsigned state = 1;
    for (int i = 0, at = 0; i < BLOCKS; i++) {
        places[i] = at;
        lengths[i] = 1 + next_random(&state) % 7;
        at += lengths[i] + 1 + next_random(&state) % 7;
    }
    double large[TURNS], small[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Datatype type;
        double start = probe_now();
        MPI_Type_indexed(BLOCKS, lengths, places, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        large[turn] = probe_now() - start;
        MPI_Type_free(&type);
        start = probe_now();
        for (int i = 0; i < SMALL; i++) {
            MPI_Type_vector(4 + i % 7, 1, 3, MPI_DOUBLE, &type);
            MPI_Type_commit(&type);
            MPI_Type_free(&type);
        }
        small[turn] = probe_now() - start;
    }
    bench_result("construct_indexed", BLOCKS, 1e3 * probe_median(large, TURNS), "ms", "lower");
    bench_result("construct_small", SMALL, 1e3 * probe_median(small, TURNS), "ms", "lower");
    free(lengths);
    free(places);
}

struct exchange {
    struct subject *subject;
    char *out, *in;
};

static void ping_pong(long iterations, void *what)
{
    struct exchange *e = what;
    struct subject *s = e->subject;
    for (long i = 0; i < iterations; i++)
        if (bench_rank == 0) {
            MPI_Send(e->out, s->count, s->type, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(e->in, s->count, s->type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(e->in, s->count, s->type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(e->out, s->count, s->type, 0, 1, MPI_COMM_WORLD);
        }
}

static void measure_exchange(int which, size_t bytes, double budget)
{
    int edge = DEPTH;
    while ((size_t)(edge + 1) * (edge + 1) * DEPTH * 8 <= bytes)
        edge++;
    struct subject s = make(which, bytes, edge);
    struct exchange e = {&s, bench_buffer(s.extent), bench_buffer(s.extent)};
    char *packed = bench_buffer(s.packed), *expected = bench_buffer(s.packed), series[64];
    bench_fill(e.out, s.extent, 5);
    ping_pong(1, &e);
    once(&s, BY_HAND, 0, e.out, expected);
    once(&s, BY_HAND, 0, e.in, packed);
    compare(packed, expected, s.packed, &s, "ping-pong");
    double time = bench_measure(ping_pong, &e, budget) / 2;
    snprintf(series, sizeof series, "exchange_%s", s.name);
    if (bench_rank == 0)
        bench_result(series, bytes, 1e6 * time, "us", "lower");
    free(e.out);
    free(e.in);
    free(packed);
    free(expected);
    discard(&s);
}

int main(int argc, char **argv)
{
    static const size_t messages[] = {4096, 65536, 1048576};
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 2, 0.2);
    int packs = argc > 1 && strcmp(argv[1], "pack") == 0;
    for (int which = 0; packs && which < TYPES; which++)
        for (int mib = 1; mib <= 8; mib *= 8)
            if (bench_argument(argc, argv, 3, mib) == mib)
                measure_packing(which, (size_t)mib << 20, budget);
    int constructs = argc > 1 && strcmp(argv[1], "construct") == 0;
    if (packs || constructs)
        measure_construction();
    for (int which = 0; !packs && !constructs && which < TYPES; which++)
        for (int i = 0; i < 3; i++)
            measure_exchange(which, messages[i], budget);
    MPI_Finalize();
    return 0;
}
