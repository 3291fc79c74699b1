/* MPI_Fetch_and_op and MPI_Compare_and_swap: results, types, neighbours in a word, tickets that everybody gets once, order of
 * operations of one origin. */
#include "windows.h"
#include "integers.h"
#include <stdbool.h>

static struct window w;

#define SWAP(c_type, type) do { \
        c_type one = (c_type) 1, zero = (c_type) 0, found; \
        for (int at = 0; at < (size > 8 ? 1 : 3); at++) { \
            MPI_Aint place = 1024 + (MPI_Aint) (at * (int) sizeof(c_type)); \
            if (rank == 0) { \
                memset(w.base + 1024, 0xff, 8 * sizeof(c_type)); \
                memcpy(w.base + place, &zero, sizeof zero); \
            } \
            window_settle(&w); \
            found = zero; \
            MPI(MPI_Compare_and_swap(&one, &zero, &found, type, 0, window_at(&w, 0, place), w.win)); \
            MPI(MPI_Win_flush(0, w.win)); \
            int won = found == zero, all = 0; \
            CHECK(won || found == one); \
            MPI(MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); \
            CHECK_INT(all, 1); \
            window_settle(&w); \
            if (rank == 0) { \
                memcpy(&found, w.base + place, sizeof found); \
                CHECK(found == one); \
                for (int i = 0; i < (int) (4 * sizeof(c_type)); i++) \
                    if (i < (int) (place - 1024) || i >= (int) (place - 1024) + (int) sizeof(c_type)) \
                        CHECK_INT(w.base[1024 + i], -1); \
            } \
            window_settle(&w); \
        } \
    } while (0)

static void swaps(void)
{
    C_INTEGERS(SWAP);
    SWAP(unsigned char, MPI_BYTE);
    SWAP(bool, MPI_C_BOOL);
    if (MPI_INTEGER != MPI_DATATYPE_NULL) {
        FORTRAN_INTEGERS(SWAP);
        SWAP(MPI_Fint, MPI_LOGICAL);
    }
#ifdef __SIZEOF_INT128__
    if (!reference)
        SWAP(__int128, MPI_INTEGER16);
#endif
}

/* Every ticket is given out once: of bytes, words and numbers, each rank's counter beside the next one's. */
#define TICKETS(c_type, type, total) do { \
        int mine = (total) / size; \
        c_type one = 1, ticket; \
        char *seen = calloc((size_t) (total), 1), *all = calloc((size_t) (total), 1); \
        memset(w.base, 0, 64); \
        window_settle(&w); \
        for (int i = 0; i < mine; i++) { \
            MPI(MPI_Fetch_and_op(&one, &ticket, type, 0, window_at(&w, 0, sizeof(c_type)), MPI_SUM, w.win)); \
            MPI(MPI_Win_flush(0, w.win)); \
            long number = (long) ticket; \
            CHECK(number >= 0 && number < mine * size); \
            if (number >= 0 && number < mine * size) \
                seen[number]++; \
        } \
        MPI(MPI_Allreduce(seen, all, mine * size, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD)); \
        for (int i = 0; i < mine * size; i++) \
            CHECK_INT(all[i], 1); \
        window_settle(&w); \
        if (rank == 0) { \
            CHECK(((c_type *) w.base)[0] == 0 && ((c_type *) w.base)[2] == 0); \
            CHECK((long) ((c_type *) w.base)[1] == (long) (mine * size)); \
        } \
        window_settle(&w); \
        free(seen), free(all); \
    } while (0)

/* Each rank counts in its own part of one word, which others change at the same time. */
#define NEIGHBOURS(c_type, type) do { \
        c_type one = 1, old, next; \
        int rounds = slow() ? 100 : 1000, parts = 8 / (int) sizeof(c_type); \
        MPI_Aint place = window_at(&w, 0, rank * (MPI_Aint) sizeof(c_type)); \
        memset(w.base, 0, 64); \
        window_settle(&w); \
        for (int i = 0; i < rounds && rank < parts; i++) { \
            MPI(MPI_Fetch_and_op(&one, &old, type, 0, place, MPI_SUM, w.win)); \
            MPI(MPI_Win_flush(0, w.win)); \
            CHECK_INT(old, (c_type) (2 * i)); \
            old = (c_type) (old + 1), next = (c_type) (old + 1); \
            c_type found = 0; \
            MPI(MPI_Compare_and_swap(&next, &old, &found, type, 0, place, w.win)); \
            MPI(MPI_Win_flush(0, w.win)); \
            CHECK_INT(found, old); \
        } \
        window_settle(&w); \
        for (int i = 0; rank == 0 && i < 2 * parts; i++) \
            CHECK_INT(((c_type *) w.base)[i], i < size && i < parts ? (c_type) (2 * rounds) : 0); \
        window_settle(&w); \
    } while (0)

static void operations(void)
{
    int target = (rank + 1) % size;
    int64_t value = 6, result = -1;
    memset(w.base, 0, 64);
    window_settle(&w);
#define NEXT(op, operand, before) do { \
        value = operand; \
        MPI(MPI_Fetch_and_op(&value, &result, MPI_INT64_T, target, window_at(&w, target, 8), op, w.win)); \
        MPI(MPI_Win_flush(target, w.win)); \
        CHECK_INT(result, before); \
    } while (0)
    NEXT(MPI_REPLACE, 12, 0);
    NEXT(MPI_SUM, -2, 12);
    NEXT(MPI_PROD, 3, 10);
    NEXT(MPI_MAX, 40, 30);
    NEXT(MPI_MIN, 39, 40);
    NEXT(MPI_BAND, 0x2f, 39);
    NEXT(MPI_BOR, 0x100, 0x27);
    NEXT(MPI_BXOR, 1, 0x127);
    NEXT(MPI_LAND, 5, 0x126);
    NEXT(MPI_LXOR, 1, 1);
    NEXT(MPI_LOR, 7, 0);
    MPI(MPI_Fetch_and_op(NULL, &result, MPI_INT64_T, target, window_at(&w, target, 8), MPI_NO_OP, w.win));
    MPI(MPI_Win_flush(target, w.win));
    CHECK_INT(result, 1);
    struct { double value; int index; } in = {5, 3}, out = {-1, -1};
    MPI(MPI_Fetch_and_op(&in, &out, MPI_DOUBLE_INT, target, window_at(&w, target, 32), MPI_MAXLOC, w.win));
    MPI(MPI_Win_flush(target, w.win));
    CHECK(out.value == 0 && out.index == 0);
    MPI(MPI_Fetch_and_op(&in, &out, MPI_DOUBLE_INT, target, window_at(&w, target, 32), MPI_NO_OP, w.win));
    MPI(MPI_Win_flush(target, w.win));
    CHECK(out.value == 5 && out.index == 3);
    static long double given = 2.5L; /* static: its bytes without a value are zeros */
    long double was = 1, more;
    MPI(MPI_Fetch_and_op(&given, &was, MPI_LONG_DOUBLE, target, window_at(&w, target, 64), MPI_REPLACE, w.win));
    MPI(MPI_Fetch_and_op(&given, &was, MPI_LONG_DOUBLE, target, window_at(&w, target, 64), MPI_SUM, w.win));
    MPI(MPI_Win_flush(target, w.win));
    CHECK(was == 2.5L);
    window_settle(&w);
    memcpy(&more, w.base + 64, sizeof more);
    CHECK(more == 5);
    window_settle(&w);
}

/* Operations of one origin on one place happen in their order, single and bulk ones mixed; also on oneself. */
static void order(void)
{
    for (int way = 0; way < 2; way++) {
        int target = way ? rank : (rank + 1) % size, count = slow() ? 50 : 1000;
        int64_t in[4] = {0}, out[4] = {0}, old;
        for (int i = 0; i < count; i++) {
            int64_t value = i + 1;
            for (int k = 0; k < 4; k++)
                in[k] = value;
            MPI(MPI_Accumulate(in, 4, MPI_INT64_T, target, window_at(&w, target, 256), 4, MPI_INT64_T, MPI_REPLACE, w.win));
            MPI(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, out, 4, MPI_INT64_T, target, window_at(&w, target, 256), 4, MPI_INT64_T,
                                   MPI_NO_OP, w.win));
            MPI(MPI_Win_flush(target, w.win));
            CHECK_INT(out[i % 4], value);
            value = -value;
            MPI(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, window_at(&w, target, 256 + 8 * (i % 4)), MPI_REPLACE, w.win));
            MPI(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, out, 4, MPI_INT64_T, target, window_at(&w, target, 256), 4, MPI_INT64_T,
                                   MPI_NO_OP, w.win));
            MPI(MPI_Win_flush(target, w.win));
            CHECK_INT(old, -value);
            CHECK_INT(out[i % 4], value);
        }
        window_settle(&w);
    }
}

/* A thousand operations on a place before one flush, of every kind: what each finds is what those before it have left. */
static void chain(void)
{
    enum { N = 1000, RUN = 3000, MIDDLE = 1500 };
    int64_t *found = malloc(N * sizeof *found), *expected = malloc(N * sizeof *expected), *values = malloc(N * sizeof *values);
    int64_t *run = malloc(RUN * sizeof *run), *back = malloc(RUN * sizeof *back), now = 0;
    int count = slow() ? 50 : N;
    for (int way = 0; way < 2; way++) {
        int target = way ? rank : (rank + 1) % size;
        MPI_Aint first = window_at(&w, target, 0), at = window_at(&w, target, 8 * MIDDLE);
        memset(w.base, 0, 8 * RUN);
        window_settle(&w);
        now = 0;
        for (int i = 0; i < RUN; i++)
            run[i] = 2;
        for (int i = 0; i < count; i++) {
            expected[i] = now;
            values[i] = i * 7 % 11 + 1;
            switch (i % 7) {
            case 0: /* with all its neighbours */
                MPI(MPI_Get_accumulate(run, RUN, MPI_INT64_T, back, RUN, MPI_INT64_T, target, first, RUN, MPI_INT64_T, MPI_SUM, w.win));
                MPI(MPI_Win_flush_local(target, w.win));
                found[i] = back[MIDDLE];
                now += 2;
                break;
            case 1:
                MPI(MPI_Fetch_and_op(&values[i], &found[i], MPI_INT64_T, target, at, MPI_REPLACE, w.win));
                now = values[i];
                break;
            case 2:
                MPI(MPI_Compare_and_swap(&values[i], &values[i - 1], &found[i], MPI_INT64_T, target, at, w.win));
                now = values[i];
                break;
            case 3:
                MPI(MPI_Fetch_and_op(NULL, &found[i], MPI_INT64_T, target, at, MPI_NO_OP, w.win));
                break;
            case 4:
                MPI(MPI_Accumulate(&values[i], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_REPLACE, w.win));
                MPI(MPI_Get_accumulate(&values[i], 1, MPI_INT64_T, &found[i], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_NO_OP,
                                       w.win));
                expected[i] = now = values[i];
                break;
            case 5:
                MPI(MPI_Get_accumulate(&values[i], 1, MPI_INT64_T, &found[i], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_PROD,
                                       w.win));
                now *= values[i];
                break;
            default:
                MPI(MPI_Accumulate(run, RUN, MPI_INT64_T, target, first, RUN, MPI_INT64_T, MPI_SUM, w.win));
                MPI(MPI_Fetch_and_op(&values[i], &found[i], MPI_INT64_T, target, at, MPI_MAX, w.win));
                now += 2;
                expected[i] = now;
                now = now > values[i] ? now : values[i];
            }
        }
        MPI(MPI_Win_flush(target, w.win));
        for (int i = 0; i < count; i++)
            if (found[i] != expected[i]) {
                check_failed(__FILE__, __LINE__, "%s window: operation %d found %lld, expected %lld", window_names[w.kind], i,
                             (long long) found[i], (long long) expected[i]);
                break;
            }
        window_settle(&w);
        CHECK_INT(((int64_t *) w.base)[MIDDLE], now);
        CHECK_INT(((int64_t *) w.base)[0], 2 * ((count + 6) / 7 + count / 7));
        window_settle(&w);
    }
    free(found), free(expected), free(values), free(run), free(back);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_make(kind, 24000, 1);
        swaps();
        TICKETS(int, MPI_INT, slow() ? 200 : 4000);
        TICKETS(double, MPI_DOUBLE, 2000);
        TICKETS(float, MPI_FLOAT, 500);
        TICKETS(short, MPI_SHORT, 2000);
        TICKETS(unsigned char, MPI_UNSIGNED_CHAR, 240);
        TICKETS(long double, MPI_LONG_DOUBLE, 500);
        NEIGHBOURS(uint8_t, MPI_UINT8_T);
        NEIGHBOURS(int16_t, MPI_INT16_T);
        NEIGHBOURS(int32_t, MPI_INT32_T);
        operations();
        order();
        chain();
        window_free(&w);
    }
    return finish();
}
