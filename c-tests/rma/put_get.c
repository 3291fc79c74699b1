/* MPI_Put and MPI_Get of contiguous data: every short length at every place of a word, long ones, on every kind of window; units
 * that differ by rank; nothing at all; MPI_PROC_NULL. */
#include "windows.h"

enum { BYTES = 1 << 20, PART = 4096, ROUNDS = 3 };

/* Each rank writes and reads its own part of every rank's memory. */
static void lengths(const struct window *w)
{
    static unsigned char out[256], in[256], around[PART];
    int most = slow() ? 20 : 140;
    for (int target = 0; target < size; target++)
        for (int at = 0; at < 17; at += 1 + at / 9)
            for (int length = 0; length <= most; length += 1 + length / 40) {
                uint64_t seed = (uint64_t) (length * 1000 + at * 10 + rank);
                MPI_Aint place = (MPI_Aint) rank * PART + 32 + at;
                memset(around, 0x77, 256);
                MPI(MPI_Put(around, 256, MPI_BYTE, target, window_at(w, target, (MPI_Aint) rank * PART), 256, MPI_BYTE, w->win));
                fill(out + at % 3, (size_t) length, seed);
                MPI(MPI_Put(out + at % 3, length, MPI_BYTE, target, window_at(w, target, place), length, MPI_BYTE, w->win));
                MPI(MPI_Win_flush(target, w->win));
                memset(in, 0x11, sizeof in);
                MPI(MPI_Get(in + at % 5, length, MPI_BYTE, target, window_at(w, target, place), length, MPI_BYTE, w->win));
                MPI(MPI_Get(around, 256, MPI_BYTE, target, window_at(w, target, (MPI_Aint) rank * PART), 256, MPI_BYTE, w->win));
                MPI(MPI_Win_flush(target, w->win));
                CHECK_PATTERN(in + at % 5, (size_t) length, seed);
                for (int i = 0; i < 256; i++)
                    if (i < 32 + at || i >= 32 + at + length)
                        CHECK_INT(around[i], 0x77);
                CHECK_INT(in[at % 5 + length], 0x11);
            }
}

/* To the right neighbour, who looks at its own memory. */
static void large(const struct window *w)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int most = slow() ? 1 << 17 : BYTES;
    char *out = malloc((size_t) most), *in = malloc((size_t) most);
    for (int length = 1000; length <= most; length = length * 3 + 1) {
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t seed = (uint64_t) (length + round);
            fill(out, (size_t) length, seed + 100 * (uint64_t) rank);
            MPI(MPI_Put(out, length, MPI_CHAR, right, window_at(w, right, 0), length, MPI_CHAR, w->win));
            window_settle(w);
            CHECK_PATTERN(w->base, (size_t) length, seed + 100 * (uint64_t) left);
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            fill(w->base, (size_t) length, seed + 7000 * (uint64_t) rank);
            window_settle(w);
            MPI(MPI_Get_c(in, length / 2, MPI_CHAR, right, window_at(w, right, 0), length / 2, MPI_CHAR, w->win));
            MPI(MPI_Get_c(in + length / 2, length - length / 2, MPI_CHAR, right, window_at(w, right, length / 2), length - length / 2,
                          MPI_CHAR, w->win));
            MPI(MPI_Win_flush_local(right, w->win));
            CHECK_PATTERN(in, (size_t) length, seed + 7000 * (uint64_t) right);
            MPI(MPI_Barrier(MPI_COMM_WORLD));
        }
    }
    free(out);
    free(in);
}

/* The unit is the target's. */
static void units(void)
{
    int unit = rank % 3 == 0 ? 8 : rank % 3 == 1 ? 4 : 1;
    struct window w = window_make(ALLOCATED, 64 * 8, unit);
    for (int target = 0; target < size; target++) {
        int theirs = target % 3 == 0 ? 8 : target % 3 == 1 ? 4 : 1;
        int64_t value = 1000 * rank + target, back = 0;
        MPI(MPI_Put(&value, 1, MPI_INT64_T, target, (MPI_Aint) rank * 8 / theirs, 8, MPI_BYTE, w.win));
        MPI(MPI_Win_flush(target, w.win));
        MPI(MPI_Get(&back, 1, MPI_INT64_T, target, (MPI_Aint) rank * 8 / theirs, 1, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
        CHECK_INT(back, value);
    }
    window_settle(&w);
    for (int origin = 0; origin < size; origin++)
        CHECK_INT(((int64_t *) w.base)[origin], 1000 * origin + rank);
    window_free(&w);
}

static void nothing(const struct window *w)
{
    int right = (rank + 1) % size, in = 5, result = 6;
    MPI_Datatype empty;
    MPI(MPI_Type_contiguous(0, MPI_INT, &empty));
    MPI(MPI_Type_commit(&empty));
    MPI(MPI_Put(NULL, 0, MPI_INT, right, window_at(w, right, 0), 0, MPI_INT, w->win));
    MPI(MPI_Get(NULL, 0, MPI_INT, right, window_at(w, right, 0), 0, MPI_BYTE, w->win));
    MPI(MPI_Put(NULL, 0, MPI_INT, right, window_at(w, right, 0), 3, empty, w->win));
    MPI(MPI_Accumulate(NULL, 0, MPI_INT, right, window_at(w, right, 0), 0, MPI_INT, MPI_SUM, w->win));
    MPI(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, right, window_at(w, right, 0), 0, MPI_INT, MPI_SUM, w->win));
    if (!reference) { /* MPI 4.0; so many that a loop over them would not end */
        MPI_Count all = (MPI_Count) 1 << 62;
        MPI(MPI_Put_c(NULL, all, empty, right, window_at(w, right, 8), all / 2, empty, w->win));
        MPI(MPI_Get_c(&in, all, empty, right, window_at(w, right, 8), 0, MPI_INT, w->win));
        MPI(MPI_Accumulate_c(NULL, all, empty, right, window_at(w, right, 8), all, empty, MPI_SUM, w->win));
        MPI(MPI_Get_accumulate_c(&in, all, empty, &result, all, empty, right, window_at(w, right, 8), all, empty, MPI_SUM, w->win));
    }
    if (!reference && w->kind != DYNAMIC) { /* beyond the end, too */
        MPI(MPI_Put(NULL, 0, MPI_INT, right, (w->bytes + 1000) / w->unit, 0, MPI_INT, w->win));
        MPI(MPI_Accumulate(NULL, 0, MPI_INT, right, (w->bytes + 1000) / w->unit, 0, MPI_INT, MPI_SUM, w->win));
    }
    MPI(MPI_Put(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
    MPI(MPI_Get(&in, 1, MPI_INT, MPI_PROC_NULL, 1 << 30, 1, MPI_INT, w->win));
    MPI(MPI_Accumulate(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    MPI(MPI_Get_accumulate(&in, 1, MPI_INT, &result, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    MPI(MPI_Fetch_and_op(&in, &result, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w->win));
    MPI(MPI_Compare_and_swap(&in, &in, &result, MPI_INT, MPI_PROC_NULL, 0, w->win));
    MPI_Request requests[4];
    MPI(MPI_Rput(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[0]));
    MPI(MPI_Rget(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[1]));
    MPI(MPI_Raccumulate(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win, &requests[2]));
    MPI(MPI_Rget_accumulate(&in, 1, MPI_INT, &result, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win, &requests[3]));
    MPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(in, 5);
    CHECK_INT(result, 6);
    MPI(MPI_Type_free(&empty));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_make(kind, BYTES + (MPI_Aint) size * PART, 1);
        lengths(&w);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        large(&w);
        nothing(&w);
        window_free(&w);
    }
    units();
    return finish();
}
