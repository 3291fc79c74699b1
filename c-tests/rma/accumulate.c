/* MPI_Accumulate and MPI_Get_accumulate: every predefined operation on every predefined type at several lengths and places,
 * compared with MPI_Reduce_local; MPI_REPLACE and MPI_NO_OP; padding is not written; derived types; every element exactly once when
 * all ranks accumulate at the same time, in large and small calls, through types of every shape, at the borders of pages. */
#include "windows.h"
#include "integers.h"
#include <complex.h>
#include <stdbool.h>

enum { MOST = 100000, ROOM = MOST * 32 + 4096 };

static struct window w;
static char *origin, *expected, *before, *result;

static const MPI_Op arithmetic[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN}, logical[] = {MPI_LAND, MPI_LOR, MPI_LXOR},
                    bitwise[] = {MPI_BAND, MPI_BOR, MPI_BXOR}, located[] = {MPI_MINLOC, MPI_MAXLOC},
                    moving[] = {MPI_REPLACE, MPI_NO_OP};

/* The neighbour's elements, as it set them, change as MPI_Reduce_local says; memory on both sides of them does not. */
static void compare(const char *name, MPI_Datatype type, MPI_Op op, int number, int count, int at, size_t bytes)
{
    int right = (rank + 1) % size;
    char *theirs = expected + 64 + at;
    memset(result, 0x2b, bytes + 64);
    memcpy(before, w.base, bytes + 256);
    window_settle(&w);
    /* all ranks have the same elements */
    memcpy(expected, before, bytes + 256);
    if (op == MPI_REPLACE) {
        int packed = 0, room = (int) bytes;
        char *between = malloc(bytes + 1);
        MPI(MPI_Pack(origin, count, type, between, room, &packed, MPI_COMM_SELF));
        room = packed, packed = 0;
        MPI(MPI_Unpack(between, room, &packed, theirs, count, type, MPI_COMM_SELF));
        free(between);
    } else if (op != MPI_NO_OP)
        MPI(MPI_Reduce_local(origin, theirs, count, type, op));
    if (number % 2 && op != MPI_NO_OP)
        MPI(MPI_Accumulate(origin, count, type, right, window_at(&w, right, 64 + at), count, type, op, w.win));
    else {
        const void *from = op == MPI_NO_OP ? NULL : origin;
        MPI(MPI_Get_accumulate(from, count, type, result, count, type, right, window_at(&w, right, 64 + at), count, type, op, w.win));
        MPI(MPI_Win_flush(right, w.win));
        int packed = 0, other = 0;
        char *a = malloc(bytes + 1), *b = malloc(bytes + 1);
        MPI(MPI_Pack(result, count, type, a, (int) bytes, &packed, MPI_COMM_SELF));
        MPI(MPI_Pack(before + 64 + at, count, type, b, (int) bytes, &other, MPI_COMM_SELF));
        if (packed != other || memcmp(a, b, (size_t) packed))
            check_failed(__FILE__, __LINE__, "%s window, %s, operation %#x, %d elements at %d: the result is not what was there",
                         window_names[w.kind], name, (unsigned) (intptr_t) op, count, at);
        free(a), free(b);
        CHECK_INT(result[bytes + 1], 0x2b);
    }
    window_settle(&w);
    for (size_t i = 0; i < bytes + 256; i++)
        if (w.base[i] != expected[i]) {
            check_failed(__FILE__, __LINE__, "%s window, %s, operation %#x, %d elements at %d: byte %zu", window_names[w.kind], name,
                         (unsigned) (intptr_t) op, count, at, i);
            break;
        }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

#define TRY_WITH(c_type, type, ops, number, set_left, set_right) do { \
        static const int counts[] = {1, 2, 17, 1000, MOST}; \
        for (int o = 0; type != MPI_DATATYPE_NULL && o < (int) (number); o++) \
            for (int c = 0; c < 5; c++) \
                for (int way = 0; way < 2; way++) { \
                    int n = counts[c], at = way && c < 3 ? 1 : 0; \
                    if (n == MOST && (o > 0 || slow() || way == 1)) \
                        continue; \
                    c_type v; \
                    memset(&v, 0x6d, sizeof v); \
                    memset(w.base, 0x6d, (size_t) n * sizeof v + 256); \
                    for (int i = 0; i < n; i++) { \
                        char *place = origin + (size_t) i * sizeof v; \
                        set_left; \
                        memcpy(place, &v, sizeof v); \
                        set_right; \
                        memcpy(w.base + 64 + at + (size_t) i * sizeof v, &v, sizeof v); \
                    } \
                    compare(#type, type, (ops)[o], way + c, n, at, (size_t) n * sizeof v); \
                } \
    } while (0)
#define TRY(c_type, type, ops, number) TRY_WITH(c_type, type, ops, number, v = (c_type) (i % 5 + 1), v = (c_type) (i * 3 % 7))
#define INTEGER(c_type, type) do { TRY(c_type, type, arithmetic, 4); TRY(c_type, type, bitwise, 3); } while (0)
#define C_INTEGER(c_type, type) do { INTEGER(c_type, type); TRY(c_type, type, logical, 3); TRY(c_type, type, moving, 2); } while (0)
#define FLOATING(c_type, type) do { TRY(c_type, type, arithmetic, 4); TRY(c_type, type, moving, 2); } while (0)
#define COMPLEX(c_type, type) do { TRY(c_type, type, arithmetic, 2); TRY(c_type, type, moving, 2); } while (0)
#define PAIR(value_type, type) do { \
        typedef struct { value_type value; int index; } pair; \
        TRY_WITH(pair, type, located, 2, (v.value = (value_type) (i % 5), v.index = i), \
                 (v.value = (value_type) (i % 3), v.index = 2 * i % 11)); \
        TRY_WITH(pair, type, moving, 2, (v.value = (value_type) (i % 5), v.index = i), \
                 (v.value = (value_type) (i % 3), v.index = 2 * i % 11)); } while (0)
/* Fortran's pairs: value and index are of one type. */
#define ALIKE(number_type, type) do { \
        typedef struct { number_type value, index; } alike; \
        TRY_WITH(alike, type, located, 2, (v.value = (number_type) (i % 5), v.index = (number_type) i), \
                 (v.value = (number_type) (i % 3), v.index = (number_type) (2 * i % 11))); \
        TRY_WITH(alike, type, moving, 2, (v.value = (number_type) (i % 5), v.index = (number_type) i), \
                 (v.value = (number_type) (i % 3), v.index = (number_type) (2 * i % 11))); } while (0)

static void types(void)
{
    C_INTEGERS(C_INTEGER);
    FORTRAN_INTEGERS(INTEGER);
    TRY(unsigned char, MPI_BYTE, bitwise, 3);
    TRY(unsigned char, MPI_BYTE, moving, 2);
    TRY(char, MPI_CHAR, moving, 2);
    TRY(char, MPI_CHARACTER, moving, 2);
    TRY(wchar_t, MPI_WCHAR, moving, 2);
    TRY(bool, MPI_C_BOOL, logical, 3);
    TRY(bool, MPI_CXX_BOOL, logical, 3);
    TRY(MPI_Fint, MPI_LOGICAL, logical, 3);
    TRY(int8_t, MPI_LOGICAL1, logical, 3);
    TRY(int16_t, MPI_LOGICAL2, logical, 3);
    TRY(int32_t, MPI_LOGICAL4, logical, 3);
    TRY(int64_t, MPI_LOGICAL8, logical, 3);
    FLOATING(float, MPI_FLOAT);
    FLOATING(double, MPI_DOUBLE);
    FLOATING(long double, MPI_LONG_DOUBLE);
    FLOATING(float, MPI_REAL);
    FLOATING(double, MPI_DOUBLE_PRECISION);
    FLOATING(float, MPI_REAL4);
    FLOATING(double, MPI_REAL8);
    COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
    COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
    COMPLEX(long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
    COMPLEX(float complex, MPI_COMPLEX);
    COMPLEX(double complex, MPI_DOUBLE_COMPLEX);
    COMPLEX(float complex, MPI_COMPLEX8);
    COMPLEX(double complex, MPI_COMPLEX16);
    COMPLEX(float complex, MPI_CXX_FLOAT_COMPLEX);
    COMPLEX(double complex, MPI_CXX_DOUBLE_COMPLEX);
    PAIR(int, MPI_2INT);
    PAIR(short, MPI_SHORT_INT);
    PAIR(long, MPI_LONG_INT);
    PAIR(float, MPI_FLOAT_INT);
    PAIR(double, MPI_DOUBLE_INT);
    PAIR(long double, MPI_LONG_DOUBLE_INT);
    ALIKE(MPI_Fint, MPI_2INTEGER);
    ALIKE(float, MPI_2REAL);
    ALIKE(double, MPI_2DOUBLE_PRECISION);
    if (!reference) {
        /* Debian's MPICH was built without these. */
#ifdef __SIZEOF_INT128__
        INTEGER(__int128, MPI_INTEGER16);
#endif
#if defined(__GNUC__) && !defined(__clang__)
        TRY(__float128, MPI_REAL16, arithmetic, 4);
#endif
    }
}

/* Different shapes on the two sides; the packed origin against every third element. */
static void shapes(void)
{
    enum { N = 3000 };
    MPI_Datatype third, half, pairs;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, *cells = (int *) w.base, *from = (int *) origin, *old = (int *) result;
    MPI(MPI_Type_vector(N, 1, 3, MPI_INT, &third));
    MPI(MPI_Type_commit(&third));
    MPI(MPI_Type_create_resized(MPI_INT, 0, 8, &half));
    MPI(MPI_Type_commit(&half));
    for (int shape = 0; shape < 4; shape++) {
        for (int i = 0; i < 3 * N; i++)
            cells[i] = i;
        for (int i = 0; i < 2 * N; i++)
            from[i] = i % 2 && shape % 2 ? 77777 : (shape % 2 ? i / 2 : i) + rank;
        memset(old, 0xff, 3 * N * sizeof *old);
        window_settle(&w);
        if (shape < 2)
            MPI(MPI_Accumulate(from, N, shape % 2 ? half : MPI_INT, right, window_at(&w, right, 0), 1, third, MPI_SUM, w.win));
        else
            MPI(MPI_Get_accumulate(from, N, shape % 2 ? half : MPI_INT, old, N, shape % 2 ? MPI_INT : half, right,
                                   window_at(&w, right, 0), 1, third, MPI_SUM, w.win));
        window_settle(&w);
        for (int i = 0; i < 3 * N - 2; i++)
            CHECK_INT(cells[i], i % 3 ? i : i + i / 3 + left);
        for (int i = 0; shape >= 2 && i < N; i++)
            CHECK_INT(old[shape % 2 ? i : 2 * i], 3 * i);
        if (shape == 2)
            CHECK_INT(old[1], -1);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* pairs with holes at a stride */
    struct pair { short value; int index; } *at = (struct pair *) w.base, *in = (struct pair *) origin;
    MPI(MPI_Type_vector(100, 1, 2, MPI_SHORT_INT, &pairs));
    MPI(MPI_Type_commit(&pairs));
    memset(w.base, 0x6d, 200 * sizeof *at);
    for (int i = 0; i < 200; i++)
        at[i].value = (short) (i % 4), at[i].index = i;
    for (int i = 0; i < 100; i++)
        in[i].value = 2, in[i].index = 1000;
    window_settle(&w);
    MPI(MPI_Accumulate(in, 100, MPI_SHORT_INT, right, window_at(&w, right, 0), 1, pairs, MPI_MAXLOC, w.win));
    window_settle(&w);
    for (int i = 0; i < 200; i++) {
        int won = i % 2 == 0 && i % 4 < 2;
        CHECK_INT(at[i].value, won ? 2 : i % 4);
        CHECK_INT(at[i].index, won ? 1000 : i);
        CHECK_INT(((char *) &at[i])[2], 0x6d);
    }
    window_settle(&w);
    MPI(MPI_Type_free(&third));
    MPI(MPI_Type_free(&half));
    MPI(MPI_Type_free(&pairs));
}

/* A square of the target from an irregular origin. The squares of all ranks are on rank 0 and have elements in common. */
static void squares(void)
{
    enum { SIDE = 64, SQUARE = 24 };
    int whole[] = {SIDE, SIDE}, part[] = {SQUARE, SQUARE}, at[] = {rank * 3 % (SIDE - SQUARE), rank * 5 % (SIDE - SQUARE)};
    int *cells = (int *) w.base, *from = (int *) origin, *old = (int *) result, lengths[SQUARE], places[SQUARE];
    MPI_Aint backwards[SQUARE];
    MPI_Datatype square, rows, turned;
    MPI(MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_INT, &square));
    MPI(MPI_Type_commit(&square));
    for (int i = 0; i < SQUARE; i++) {
        lengths[i] = SQUARE;
        places[i] = (i * 7 % SQUARE) * (SQUARE + 2);
        backwards[i] = (MPI_Aint) sizeof(int) * (SQUARE - 1 - i) * (SQUARE + 1);
    }
    MPI(MPI_Type_indexed(SQUARE, lengths, places, MPI_INT, &rows));
    MPI(MPI_Type_commit(&rows));
    MPI(MPI_Type_create_hindexed(SQUARE, lengths, backwards, MPI_INT, &turned));
    MPI(MPI_Type_commit(&turned));
    memset(w.base, 0, SIDE * SIDE * sizeof(int));
    memset(old, 0xff, SQUARE * (SQUARE + 2) * sizeof(int));
    for (int i = 0; i < SQUARE; i++)
        for (int k = 0; k < SQUARE; k++)
            from[places[i] + k] = 1000 * i + k;
    window_settle(&w);
    MPI(MPI_Accumulate(from, 1, rows, 0, window_at(&w, 0, 0), 1, square, MPI_SUM, w.win));
    MPI(MPI_Get_accumulate(from, 1, rows, old, 1, turned, 0, window_at(&w, 0, 0), 1, square, MPI_SUM, w.win));
    MPI(MPI_Type_free(&square));
    window_settle(&w);
    /* with one's own first one at least, in the element's own place */
    for (int i = 0; i < SQUARE; i++)
        for (int k = 0; k < SQUARE; k++)
            CHECK(old[(SQUARE - 1 - i) * (SQUARE + 1) + k] >= 1000 * i + k);
    for (int i = 0; rank == 0 && i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) {
            int sum = 0;
            for (int r = 0; r < size; r++) {
                int row = i - r * 3 % (SIDE - SQUARE), column = k - r * 5 % (SIDE - SQUARE);
                if (row >= 0 && row < SQUARE && column >= 0 && column < SQUARE)
                    sum += 2 * (1000 * row + column);
            }
            CHECK_INT(cells[i * SIDE + k], sum);
        }
    window_settle(&w);
    MPI(MPI_Type_free(&rows));
    MPI(MPI_Type_free(&turned));
}

/* Types of one number, made in every way, from all ranks at once on the same number, which MPI_INT64_T and fetch-and-op change, too. */
static void derived_singles(void)
{
    enum { WAYS = 10, AT = 1000 };
    int one_length[] = {1}, fifth[] = {5}, rounds = slow() ? 5 : 200;
    MPI_Aint place[] = {40}, low = -16;
    MPI_Datatype ways[WAYS], int64[] = {MPI_INT64_T};
    MPI_Aint distance[WAYS] = {0, 0, 40, 40, 40, 0, -16, 8, 0, 8}; /* of the number from the beginning */
    int64_t *cells = (int64_t *) w.base, *from = (int64_t *) origin, one = 1, old;
    int sizes[] = {4}, part[] = {1}, begins[] = {1};
    MPI(MPI_Type_contiguous(1, MPI_INT64_T, &ways[0]));
    MPI(MPI_Type_vector(1, 1, 3, MPI_INT64_T, &ways[1]));
    MPI(MPI_Type_indexed(1, one_length, fifth, MPI_INT64_T, &ways[2]));
    MPI(MPI_Type_create_hindexed(1, one_length, place, MPI_INT64_T, &ways[3]));
    MPI(MPI_Type_create_struct(1, one_length, place, int64, &ways[4]));
    MPI(MPI_Type_create_resized(MPI_INT64_T, -8, 24, &ways[5]));
    MPI(MPI_Type_create_hindexed_block(1, 1, &low, MPI_INT64_T, &ways[6]));
    MPI(MPI_Type_create_subarray(1, sizes, part, begins, MPI_ORDER_C, MPI_INT64_T, &ways[7]));
    MPI(MPI_Type_dup(MPI_INT64_T, &ways[8]));
    MPI(MPI_Type_create_indexed_block(1, 1, &one_length[0], MPI_INT64_T, &ways[9]));
    memset(w.base, 0, 2 * AT);
    for (int i = 0; i < WAYS; i++)
        MPI(MPI_Type_commit(&ways[i]));
    window_settle(&w);
    for (int i = 0; i < rounds; i++) {
        MPI_Datatype target = ways[(i + rank) % WAYS], own = ways[i / 3 % WAYS];
        MPI_Aint at = window_at(&w, 0, AT - distance[(i + rank) % WAYS]);
        *(int64_t *) ((char *) from + 64 + distance[i / 3 % WAYS]) = 2;
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at, 1, target, MPI_SUM, w.win));
        MPI(MPI_Get_accumulate((char *) from + 64, 1, own, &old, 1, MPI_INT64_T, 0, at, 1, target, MPI_SUM, w.win));
        MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, window_at(&w, 0, AT), MPI_SUM, w.win));
    }
    window_settle(&w);
    for (int i = 0; rank == 0 && i < 2 * AT / 8; i++)
        CHECK_INT(cells[i], i == AT / 8 ? 4 * rounds * size : 0);
    window_settle(&w);
    for (int i = 0; i < WAYS; i++)
        MPI(MPI_Type_free(&ways[i]));
}

/* Numbers that are not aligned, at the borders of all pages and pieces, by all ranks. */
static void borders(void)
{
    enum { PAGE = 4096, PAGES = 12, RUN = 7000 };
    int rounds = slow() ? 2 : 40;
    int64_t one = 1, old, *ones = malloc(RUN * sizeof *ones), value;
    uintptr_t base = (uintptr_t) w.base;
    MPI(MPI_Bcast(&base, sizeof base, MPI_BYTE, 0, MPI_COMM_WORLD));
    /* half of a number lies before a page of the target's; window kinds without common addresses have it elsewhere, too */
    MPI_Aint first = (MPI_Aint) (PAGE - base % PAGE) % PAGE + PAGE - 4;
    for (int i = 0; i < RUN; i++)
        ones[i] = 1;
    memset(w.base, 0, (PAGES + 4) * PAGE);
    window_settle(&w);
    for (int round = 0; round < rounds; round++) {
        for (int page = 0; page < PAGES; page++)
            MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, window_at(&w, 0, first + page * PAGE), MPI_SUM, w.win));
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, window_at(&w, 0, first + round % PAGES * PAGE), 1, MPI_INT64_T, MPI_SUM, w.win));
        if (round % 8 == 0)
            MPI(MPI_Accumulate(ones, PAGES * PAGE / 8, MPI_INT64_T, 0, window_at(&w, 0, first), PAGES * PAGE / 8, MPI_INT64_T, MPI_SUM,
                               w.win));
    }
    window_settle(&w);
    for (int i = 0; rank == 0 && i < PAGES * PAGE / 8; i++) {
        int page = i * 8 / PAGE, fetched = i * 8 % PAGE == 0, all = (rounds + 7) / 8;
        if (fetched)
            all += rounds + rounds / PAGES + (page < rounds % PAGES);
        memcpy(&value, w.base + first + 8 * i, sizeof value);
        CHECK_INT(value, (int64_t) size * all);
    }
    window_settle(&w);
    free(ones);
}

/* Elements far from each other, first to last and last to first, by all ranks at the same time: none waits for another one for ever. */
static void crossing(void)
{
    enum { FAR = 20000, N = 40 };
    int rounds = slow() ? 3 : 40, step = rank % 2 ? -FAR : FAR, begin = rank % 2 ? (N - 1) * FAR : 0;
    int64_t ones[2 * N], old[2 * N];
    MPI_Datatype scattered;
    MPI(MPI_Type_create_hvector(N, 2, step, MPI_INT64_T, &scattered));
    MPI(MPI_Type_commit(&scattered));
    for (int i = 0; i < 2 * N; i++)
        ones[i] = 1;
    memset(w.base, 0, N * FAR);
    window_settle(&w);
    for (int round = 0; round < rounds; round++)
        for (int target = 0; target < size && target < 2; target++) {
            MPI(MPI_Accumulate(ones, 2 * N, MPI_INT64_T, target, window_at(&w, target, begin), 1, scattered, MPI_SUM, w.win));
            MPI(MPI_Get_accumulate(ones, 2 * N, MPI_INT64_T, old, 2 * N, MPI_INT64_T, target, window_at(&w, target, begin), 1, scattered,
                                   MPI_SUM, w.win));
            MPI(MPI_Win_flush(target, w.win));
            for (int i = 0; i < 2 * N; i++)
                CHECK(old[i] > 2 * round && old[i] < 2 * rounds * size);
        }
    window_settle(&w);
    for (int i = 0; rank < 2 && i < N * FAR / 8; i++)
        CHECK_INT(((int64_t *) w.base)[i], i * 8 % FAR < 16 ? 2 * rounds * size : 0);
    window_settle(&w);
    MPI(MPI_Type_free(&scattered));
}

/* Elements of two equal halves, replaced by all ranks at once in runs and singly: none is ever seen with halves of two of them. */
static void replaced(void)
{
    enum { N = 2500 };
    struct pair { long value; int index; } *pairs = (struct pair *) w.base, single_pair, pair_old;
    int rounds = slow() ? 1 : 15, single;
    double *both = (double *) origin, *seen = (double *) result;
    memset(w.base, 0, 2 * N * sizeof *both);
    window_settle(&w);
    for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < 2 * N; i++)
            both[i] = rank * 1000 + round;
        MPI(MPI_Accumulate(both, N, MPI_C_DOUBLE_COMPLEX, 0, window_at(&w, 0, 0), N, MPI_C_DOUBLE_COMPLEX, MPI_REPLACE, w.win));
        for (int i = 0; i < 20; i++) {
            single = (round * 20 + i) * 13 % N;
            MPI(MPI_Fetch_and_op(both, seen, MPI_C_DOUBLE_COMPLEX, 0, window_at(&w, 0, 16 * single), MPI_REPLACE, w.win));
            MPI(MPI_Win_flush(0, w.win));
            CHECK(seen[0] == seen[1]);
        }
        MPI(MPI_Get_accumulate(NULL, 0, MPI_INT, seen, N, MPI_C_DOUBLE_COMPLEX, 0, window_at(&w, 0, 0), N, MPI_C_DOUBLE_COMPLEX,
                               MPI_NO_OP, w.win));
        MPI(MPI_Win_flush(0, w.win));
        for (int i = 0; i < N; i++)
            CHECK(seen[2 * i] == seen[2 * i + 1]);
    }
    window_settle(&w);
    for (int i = 0; rank == 0 && i < N; i++) {
        both = (double *) w.base;
        CHECK(both[2 * i] == both[2 * i + 1] && both[2 * i] >= 1);
    }
    window_settle(&w);
    memset(w.base, 0, 8 * sizeof *pairs);
    window_settle(&w);
    for (int round = 1; round <= 20 * rounds; round++) {
        single_pair.value = single_pair.index = rank * 1000 + round;
        MPI(MPI_Fetch_and_op(&single_pair, &pair_old, MPI_LONG_INT, 0, window_at(&w, 0, sizeof single_pair), MPI_REPLACE, w.win));
        MPI(MPI_Win_flush(0, w.win));
        CHECK_INT(pair_old.value, pair_old.index);
    }
    window_settle(&w);
}

/* A megabyte of numbers of one type against single ones of the same: all sums are exact. */
#define LARGE_AND_SMALL(c_type, type) do { \
        int n = (1 << 20) / (int) sizeof(c_type), turns = slow() ? 1 : 4, step = n / 64; \
        c_type single = 1, found, *all_ones = (c_type *) origin; \
        for (int i = 0; i < n; i++) \
            all_ones[i] = 1; \
        memset(w.base, 0, 1 << 20); \
        window_settle(&w); \
        for (int turn = 0; turn < turns; turn++) { \
            for (int i = 0; i < 64 && rank % 2; i++) { \
                MPI_Aint at = window_at(&w, 0, (MPI_Aint) (i * step * (int) sizeof(c_type))); \
                MPI(MPI_Fetch_and_op(&single, &found, type, 0, at, MPI_SUM, w.win)); \
                MPI(MPI_Accumulate(&single, 1, type, 0, at, 1, type, MPI_SUM, w.win)); \
            } \
            if (rank % 2 == 0) \
                MPI(MPI_Accumulate(all_ones, n, type, 0, window_at(&w, 0, 0), n, type, MPI_SUM, w.win)); \
        } \
        window_settle(&w); \
        for (int i = 0; rank == 0 && i < n; i++) \
            CHECK_INT(((c_type *) w.base)[i], turns * ((size + 1) / 2 + (i % step == 0 && i / step < 64 ? 2 * (size / 2) : 0))); \
        window_settle(&w); \
    } while (0)

/* What is wrong but must do no harm: the result where the origin is. */
static void one_buffer(void)
{
    enum { N = 5000 };
    int right = (rank + 1) % size, *both = (int *) origin, *cells = (int *) w.base;
    memset(w.base, 0, (N + 2) * sizeof *cells);
    for (int i = 0; i < N + 1; i++)
        both[i] = 3;
    window_settle(&w);
    MPI(MPI_Get_accumulate(both, N, MPI_INT, both, N, MPI_INT, right, window_at(&w, right, 4), N, MPI_INT, MPI_REPLACE, w.win));
    MPI(MPI_Fetch_and_op(both, both, MPI_INT, right, window_at(&w, right, 4), MPI_SUM, w.win));
    window_settle(&w);
    CHECK_INT(cells[0], 0);
    CHECK_INT(cells[N + 1], 0);
    CHECK_INT(both[N], 3);
    window_settle(&w);
}

/* All ranks at once on rank 0's elements: long runs, every second, single ones, fetch-and-op and compare-and-swap, also by the
 * owner. */
static void sums(void)
{
    enum { N = 20000 };
    int rounds = slow() ? 1 : 12, target = 0;
    MPI_Datatype second;
    int64_t *ones = malloc(N * sizeof *ones), *cells = (int64_t *) w.base, one = 1, old;
    MPI(MPI_Type_vector(N / 2, 1, 2, MPI_INT64_T, &second));
    MPI(MPI_Type_commit(&second));
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    memset(w.base, 0, N * sizeof *cells);
    window_settle(&w);
    for (int round = 0; round < rounds; round++) {
        MPI(MPI_Accumulate(ones, N, MPI_INT64_T, target, window_at(&w, target, 0), N, MPI_INT64_T, MPI_SUM, w.win));
        MPI(MPI_Accumulate(ones, N / 2, MPI_INT64_T, target, window_at(&w, target, 0), 1, second, MPI_SUM, w.win));
        for (int i = 0; i < 100; i++) {
            MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, window_at(&w, target, 8 * (i * 97 % N)), MPI_SUM, w.win));
            MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, target, window_at(&w, target, 8 * (i * 97 % N)), 1, MPI_INT64_T, MPI_SUM, w.win));
            int64_t seen = 0, found, next;
            for (; !reference;) { /* without the promise of one operation only, which is the default */
                next = seen + 1;
                MPI(MPI_Compare_and_swap(&next, &seen, &found, MPI_INT64_T, target, window_at(&w, target, 8 * (i * 97 % N)), w.win));
                MPI(MPI_Win_flush(target, w.win));
                if (found == seen)
                    break;
                seen = found;
            }
        }
    }
    window_settle(&w);
    if (rank == target) {
        int *more = calloc(N, sizeof *more);
        for (int i = 0; i < 100; i++)
            more[i * 97 % N] += reference ? 2 : 3;
        for (int i = 0; i < N; i++)
            CHECK_INT(cells[i], (int64_t) size * rounds * (1 + (i % 2 == 0) + more[i]));
        free(more);
    }
    window_settle(&w);
    MPI(MPI_Type_free(&second));
    free(ones);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    origin = malloc(ROOM), expected = malloc(ROOM), before = malloc(ROOM), result = malloc(ROOM);
    int first = argc > 1 ? atoi(argv[1]) : 0, last = argc > 1 ? first : WINDOW_KINDS - 1;
    for (int kind = first; kind <= last; kind++) {
        w = window_make(kind, ROOM, 1);
        types();
        shapes();
        squares();
        derived_singles();
        borders();
        crossing();
        replaced();
        LARGE_AND_SMALL(int64_t, MPI_INT64_T);
        LARGE_AND_SMALL(double, MPI_DOUBLE);
        LARGE_AND_SMALL(float, MPI_FLOAT);
        LARGE_AND_SMALL(int16_t, MPI_INT16_T);
        one_buffer();
        sums();
        window_free(&w);
    }
    free(origin), free(expected), free(before), free(result);
    return finish();
}
