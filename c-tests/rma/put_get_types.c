/* MPI_Put and MPI_Get with random datatypes on both sides: every byte in its place, none beside it; types freed right after the
 * call; absolute addresses from MPI_BOTTOM; elements that lie backwards. */
#include "windows.h"
#include "random_type.h"

enum { ROOM = 1 << 16, MIDDLE = ROOM / 2 };

static MPI_Aint lowest(const struct typed *t, int count)
{
    MPI_Aint low = 0;
    for (size_t i = 0; i < t->number; i++)
        for (int c = 0; c < count; c++) {
            MPI_Aint at = t->pieces[i].at + c * typed_extent(t);
            low = at < low ? at : low;
        }
    return low;
}

static MPI_Aint highest(const struct typed *t, int count)
{
    MPI_Aint high = 0;
    for (size_t i = 0; i < t->number; i++)
        for (int c = 0; c < count; c++) {
            MPI_Aint at = t->pieces[i].at + c * typed_extent(t) + t->pieces[i].size;
            high = at > high ? at : high;
        }
    return high;
}

/* Whether no byte is named twice: else what is there afterwards is not defined. */
static int is_distinct(const struct typed *t, int count, unsigned char *marks)
{
    memset(marks, 0, ROOM);
    for (int c = 0; c < count; c++)
        for (size_t i = 0; i < t->number; i++)
            for (int b = 0; b < t->pieces[i].size; b++)
                if (marks[MIDDLE + c * typed_extent(t) + t->pieces[i].at + b]++)
                    return 0;
    return 1;
}

/* Packed byte number i of the elements lies there. */
static void copy_packed(const struct typed *t, int count, unsigned char *middle, unsigned char *packed, int out)
{
    for (int c = 0; c < count; c++)
        for (size_t i = 0; i < t->number; i++)
            for (int b = 0; b < t->pieces[i].size; b++, packed++) {
                unsigned char *at = middle + c * typed_extent(t) + t->pieces[i].at + b;
                if (out)
                    *packed = *at;
                else
                    *at = *packed;
            }
}

static void random_types(const struct window *w, int rounds)
{
    uint64_t state = 42 + (uint64_t) w->kind;
    unsigned char *mine = malloc(ROOM), *wanted = malloc(ROOM), *packed = malloc(ROOM), *marks = malloc(ROOM), *theirs = malloc(ROOM);
    int right = (rank + 1) % size, done = 0;
    for (int round = 0; round < rounds; round++) {
        struct typed type = random_type(&state, 2);
        int count = below(&state, 4);
        size_t bytes = typed_size(&type) * (size_t) count;
        if (lowest(&type, count) < -MIDDLE || highest(&type, count) > MIDDLE || bytes == 0 || !is_distinct(&type, count, marks)) {
            typed_free(&type);
            continue;
        }
        done++;
        MPI(MPI_Type_commit(&type.type));
        fill(mine, ROOM, (uint64_t) (round * 100 + rank));
        fill(w->base, ROOM, 17);
        window_settle(w);
        /* what the neighbour has afterwards */
        memset(theirs, 0, ROOM);
        fill(wanted, ROOM, 17);
        MPI_Datatype copy;
        MPI(MPI_Type_dup(type.type, &copy));
        if (round % 3 == 0) { /* typed to typed */
            MPI(MPI_Put(mine + MIDDLE, count, copy, right, window_at(w, right, MIDDLE), count, copy, w->win));
            copy_packed(&type, count, mine + MIDDLE, packed, 1);
        } else if (round % 3 == 1) { /* bytes to typed */
            memcpy(packed, mine, bytes);
            MPI(MPI_Put(mine, (int) bytes, MPI_BYTE, right, window_at(w, right, MIDDLE), count, copy, w->win));
        } else { /* typed to typed of another count: the type twice is one element of a larger one */
            MPI_Datatype all;
            MPI(MPI_Type_contiguous(count, copy, &all));
            MPI(MPI_Type_commit(&all));
            MPI(MPI_Put(mine + MIDDLE, 1, all, right, window_at(w, right, MIDDLE), count, copy, w->win));
            MPI(MPI_Type_free(&all));
            copy_packed(&type, count, mine + MIDDLE, packed, 1);
        }
        copy_packed(&type, count, wanted + MIDDLE, packed, 0);
        MPI(MPI_Type_free(&copy));
        MPI(MPI_Win_flush(right, w->win));
        MPI(MPI_Get(theirs, ROOM, MPI_BYTE, right, window_at(w, right, 0), ROOM, MPI_BYTE, w->win));
        MPI(MPI_Win_flush(right, w->win));
        CHECK(memcmp(theirs, wanted, ROOM) == 0);
        /* and back: into memory with the same holes, then packed */
        memset(mine, 0x3c, ROOM);
        memset(wanted, 0x3c, ROOM);
        copy_packed(&type, count, wanted + MIDDLE, packed, 0);
        MPI(MPI_Get(mine + MIDDLE, count, type.type, right, window_at(w, right, MIDDLE), count, type.type, w->win));
        MPI(MPI_Win_flush(right, w->win));
        CHECK(memcmp(mine, wanted, ROOM) == 0);
        memset(mine, 0x3c, ROOM);
        MPI(MPI_Get(mine, (int) bytes, MPI_BYTE, right, window_at(w, right, MIDDLE), count, type.type, w->win));
        MPI(MPI_Win_flush(right, w->win));
        CHECK(memcmp(mine, packed, bytes) == 0);
        CHECK_INT(mine[bytes], 0x3c);
        window_settle(w);
        typed_free(&type);
    }
    CHECK(done > (slow() ? 0 : rounds / 4));
    free(mine), free(wanted), free(packed), free(marks), free(theirs);
}

/* Strides from dense to thin, with more pieces than the kernel takes at once. */
static void strides(const struct window *w)
{
    int right = (rank + 1) % size;
    for (int stride = 2; stride <= 16; stride *= 2)
        for (int count = 3; count <= ROOM / 4 / stride; count = count * 5 + 1) {
            MPI_Datatype vector;
            int32_t *out = malloc((size_t) count * 4), *in = calloc((size_t) count * (size_t) stride, 4), *cells = (int32_t *) w->base;
            MPI(MPI_Type_vector(count, 1, stride, MPI_INT32_T, &vector));
            MPI(MPI_Type_commit(&vector));
            for (int i = 0; i < count; i++)
                out[i] = rank * 100000 + i;
            memset(w->base, 0x55, ROOM);
            window_settle(w);
            MPI(MPI_Put(out, count, MPI_INT32_T, right, window_at(w, right, 0), 1, vector, w->win));
            MPI(MPI_Win_flush(right, w->win));
            MPI(MPI_Get(in, 1, vector, right, window_at(w, right, 0), 1, vector, w->win));
            MPI(MPI_Win_flush(right, w->win));
            window_settle(w);
            int left = (rank + size - 1) % size;
            for (int i = 0; i < count * stride - stride + 1; i++) {
                CHECK_INT(cells[i], i % stride ? 0x55555555 : left * 100000 + i / stride);
                CHECK_INT(in[i], i % stride ? 0 : rank * 100000 + i / stride);
            }
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            MPI(MPI_Type_free(&vector));
            free(out), free(in);
        }
}

/* The same types, in accumulates, on either side, and one whose data begin far behind its beginning. */
static void accumulate_unusually(const struct window *w, MPI_Datatype both, MPI_Datatype back, MPI_Datatype resized, int *first, int *second)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, *cells = (int *) w->base, old[4] = {-1, -1, -1, -1};
    int four[] = {1, 2, 3, 4 + rank}, one_length[] = {3};
    MPI_Aint far[] = {1200}, low, extent;
    MPI_Datatype behind;
    MPI(MPI_Type_create_hindexed(1, one_length, far, MPI_INT, &behind));
    MPI(MPI_Type_commit(&behind));
    MPI(MPI_Type_get_true_extent(behind, &low, &extent));
    CHECK_INT(low, 1200);
    for (int i = 0; i < 1000; i++)
        cells[i] = i;
    *first = 100 + rank, *second = 200 + rank;
    window_settle(w);
    MPI(MPI_Accumulate(MPI_BOTTOM, 1, both, right, window_at(w, right, 40), 2, MPI_INT, MPI_SUM, w->win));
    MPI(MPI_Accumulate(four, 4, MPI_INT, right, window_at(w, right, 12), 1, back, MPI_SUM, w->win));
    MPI(MPI_Get_accumulate(four, 4, MPI_INT, old + 3, 1, back, right, window_at(w, right, 80), 4, resized, MPI_SUM, w->win));
    MPI(MPI_Accumulate(four, 3, MPI_INT, right, window_at(w, right, 400), 1, behind, MPI_SUM, w->win));
    MPI(MPI_Type_free(&behind));
    window_settle(w);
    CHECK_INT(cells[10], 10 + 100 + left);
    CHECK_INT(cells[11], 11 + 200 + left);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(cells[3 - i], 3 - i + i + 1);
        CHECK_INT(cells[20 + 3 * i], 20 + 3 * i + i + 1);
        CHECK_INT(cells[21 + 3 * i], 21 + 3 * i);
        CHECK_INT(cells[400 + i], 400 + i + i + 1);
    }
    CHECK_INT(cells[0], 4 + left);
    CHECK_INT(cells[29], 29 + 4 + left);
    CHECK_INT(cells[399], 399);
    CHECK_INT(cells[403], 403);
    for (int i = 0; i < 4; i++)
        CHECK_INT(old[3 - i], 20 + 3 * i);
    /* back into two variables by their addresses */
    MPI(MPI_Get_accumulate(NULL, 0, MPI_INT, MPI_BOTTOM, 1, both, right, window_at(w, right, 400), 2, MPI_INT, MPI_NO_OP, w->win));
    MPI(MPI_Win_flush(right, w->win));
    CHECK_INT(*first, 100);
    CHECK_INT(*second, 101);
    window_settle(w);
}

/* Two variables by their addresses, and elements that lie backwards. */
static void unusual(const struct window *w)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, first = 10 + rank, second = 20 + rank, lengths[] = {1, 1};
    MPI_Aint at[2];
    MPI_Datatype both, back, resized;
    int *cells = (int *) w->base;
    MPI(MPI_Get_address(&first, &at[0]));
    MPI(MPI_Get_address(&second, &at[1]));
    MPI(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &both));
    MPI(MPI_Type_commit(&both));
    MPI(MPI_Type_vector(4, 1, -1, MPI_INT, &back));
    MPI(MPI_Type_commit(&back));
    MPI(MPI_Type_create_resized(MPI_INT, -4, 12, &resized));
    MPI(MPI_Type_commit(&resized));
    memset(w->base, 0, 256);
    window_settle(w);
    int four[] = {1, 2, 3, 4 + rank};
    MPI(MPI_Put(MPI_BOTTOM, 1, both, right, window_at(w, right, 40), 2, MPI_INT, w->win));
    MPI(MPI_Put(four, 4, MPI_INT, right, window_at(w, right, 12), 1, back, w->win));
    MPI(MPI_Put(four, 3, MPI_INT, right, window_at(w, right, 80), 3, resized, w->win));
    window_settle(w);
    CHECK_INT(cells[10], 10 + left);
    CHECK_INT(cells[11], 20 + left);
    CHECK_INT(cells[0], 4 + left);
    CHECK_INT(cells[3], 1);
    CHECK_INT(cells[20], 1);
    CHECK_INT(cells[21], 0);
    CHECK_INT(cells[23], 2);
    CHECK_INT(cells[26], 3);
    first = second = 0;
    MPI(MPI_Get(MPI_BOTTOM, 1, both, right, window_at(w, right, 40), 2, MPI_INT, w->win));
    MPI(MPI_Win_flush(right, w->win));
    CHECK_INT(first, 10 + rank);
    CHECK_INT(second, 20 + rank);
    window_settle(w);
    accumulate_unusually(w, both, back, resized, &first, &second);
    MPI(MPI_Type_free(&both));
    MPI(MPI_Type_free(&back));
    MPI(MPI_Type_free(&resized));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_make(kind, ROOM, 1);
        random_types(&w, slow() ? 30 : 150);
        strides(&w);
        unusual(&w);
        window_free(&w);
    }
    return finish();
}
