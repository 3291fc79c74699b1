/* MPI_Fetch_and_op and MPI_Compare_and_swap: results, types, neighbours in a word, tickets that everybody gets once, order of
 * operations of one origin. */
#include "windows.h"
#include "integers.h"
#include <stdbool.h>

static struct window w;

#define SWAP(c_type, type) do { \
        c_type one = (c_type) 1, zero = (c_type) 0, found; \
        for (int at = 0; at < 3; at++) { \
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
    BASIC_INTEGERS(SWAP);
    SWAP(unsigned char, MPI_BYTE);
    SWAP(bool, MPI_C_BOOL);
    ADDRESS_INTEGERS(SWAP);
    if (MPI_INTEGER != MPI_DATATYPE_NULL) {
        SWAP(MPI_Fint, MPI_INTEGER);
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

/* Each rank counts in its own byte of one word. */
static void neighbours(void)
{
    unsigned char one = 1, old;
    int rounds = slow() ? 100 : 2000, place = rank % 8;
    memset(w.base, 0, 64);
    window_settle(&w);
    for (int i = 0; i < rounds && rank < 8; i++)
        MPI(MPI_Fetch_and_op(&one, &old, MPI_UINT8_T, 0, window_at(&w, 0, place), MPI_SUM, w.win));
    window_settle(&w);
    for (int i = 0; rank == 0 && i < 16; i++)
        CHECK_INT(((unsigned char *) w.base)[i], i < size && i < 8 ? rounds % 256 : 0);
    window_settle(&w);
}

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
    long double more = 2.5L, was = 1;
    MPI(MPI_Fetch_and_op(&more, &was, MPI_LONG_DOUBLE, target, window_at(&w, target, 64), MPI_REPLACE, w.win));
    MPI(MPI_Fetch_and_op(&more, &was, MPI_LONG_DOUBLE, target, window_at(&w, target, 64), MPI_SUM, w.win));
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

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_make(kind, 4096, 1);
        swaps();
        TICKETS(int, MPI_INT, slow() ? 200 : 4000);
        TICKETS(double, MPI_DOUBLE, 2000);
        TICKETS(float, MPI_FLOAT, 500);
        TICKETS(short, MPI_SHORT, 2000);
        TICKETS(unsigned char, MPI_UNSIGNED_CHAR, 240);
        TICKETS(long double, MPI_LONG_DOUBLE, 500);
        neighbours();
        operations();
        order();
        window_free(&w);
    }
    return finish();
}
