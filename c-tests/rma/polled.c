/* The target polls its memory by loads only: data put before a flag is there when the flag is; an aligned word is never seen torn;
 * a local store and a get, a put and a local load; flushes and MPI_Win_sync are full fences between a put and a get; two windows over one
 * memory in turn. */
#include "windows.h"

enum { WORDS = 4096 };

/* Rank 0 writes, rank 1 polls. */
static void flags(const struct window *w)
{
    volatile int64_t *cells = (volatile int64_t *) w->base;
    int64_t data[64];
    int rounds = slow() ? 20 : 300;
    memset(w->base, 0, WORDS * 8);
    window_settle(w);
    for (int64_t round = 1; round <= rounds; round++) {
        if (rank == 0) {
            for (int i = 0; i < 64; i++)
                data[i] = round * 1000 + i;
            MPI(MPI_Put(data, 64, MPI_INT64_T, 1, window_at(w, 1, 512), 64, MPI_INT64_T, w->win));
            MPI(MPI_Win_flush(1, w->win));
            MPI(MPI_Put(&round, 1, MPI_INT64_T, 1, window_at(w, 1, 0), 1, MPI_INT64_T, w->win));
            MPI(MPI_Win_flush(1, w->win));
            int64_t answer = 0;
            while (answer != round) {
                MPI(MPI_Get(&answer, 1, MPI_INT64_T, 1, window_at(w, 1, 8), 1, MPI_INT64_T, w->win));
                MPI(MPI_Win_flush(1, w->win));
            }
        } else if (rank == 1) {
            while (cells[0] != round)
                rest();
            __sync_synchronize();
            for (int i = 0; i < 64; i++)
                CHECK_INT(cells[64 + i], round * 1000 + i);
            cells[1] = round;
        }
    }
    window_settle(w);
}

/* Words whose halves are equal, also read by gets while the target stores them. The kernel copies less than eight bytes one by one on
 * processors without a fast short rep movsb. */
static void torn(const struct window *w)
{
    int by_kernel = w->kind == PRIVATE || w->kind == DYNAMIC;
    volatile uint64_t *cells = (volatile uint64_t *) w->base;
    int rounds = slow() ? 100 : 20000;
    memset(w->base, 0, 128);
    window_settle(w);
    if (rank == 0)
        for (uint64_t i = 1; i <= (uint64_t) rounds; i++) {
            uint64_t both = i << 32 | i, other = 0;
            uint32_t small = (uint32_t) (i << 16 | (i & 0xffff));
            MPI(MPI_Put(&both, 8, MPI_BYTE, 1, window_at(w, 1, 0), 8, MPI_BYTE, w->win));
            MPI(MPI_Put(&small, 4, MPI_BYTE, 1, window_at(w, 1, 12), 4, MPI_BYTE, w->win));
            MPI(MPI_Get(&other, 8, MPI_BYTE, 1, window_at(w, 1, 16), 8, MPI_BYTE, w->win));
            MPI(MPI_Win_flush(1, w->win));
            if (other >> 32 != (other & 0xffffffff))
                check_failed(__FILE__, __LINE__, "a get saw %#llx", (unsigned long long) other);
            if (i == (uint64_t) rounds) {
                uint64_t end = ~0ull;
                MPI(MPI_Put(&end, 8, MPI_BYTE, 1, window_at(w, 1, 64), 8, MPI_BYTE, w->win));
                MPI(MPI_Win_flush(1, w->win));
            }
        }
    else if (rank == 1)
        for (uint64_t i = 0; cells[8] == 0; i++) {
            uint64_t seen = cells[0];
            uint32_t small = ((volatile uint32_t *) w->base)[3];
            i &= 0xffffffff;
            cells[2] = i << 32 | i;
            if (seen >> 32 != (seen & 0xffffffff) || (!by_kernel && small >> 16 != (small & 0xffff))) {
                check_failed(__FILE__, __LINE__, "%s window: a load saw %#llx or %#x", window_names[w->kind], (unsigned long long) seen, small);
                break;
            }
        }
    window_settle(w);
}

/* Of two ranks that each write a number and then read the other's, one at least finds it, whether the numbers are in the memory of their
 * writer or of their reader, and whether the writer puts or stores its own. */
static void both_write(const struct window *w)
{
    enum { MEET = 40, CELL = 80, TOLD = 120 }; /* lines of their own */
    int rounds = slow() ? 20 : w->kind == PRIVATE || w->kind == DYNAMIC ? 1000 : 6000, other = 1 - rank;
    volatile int64_t *cells = (volatile int64_t *) w->base;
    memset(w->base, 0, WORDS * 8);
    window_settle(w);
    for (int64_t round = 1; round <= rounds && rank < 2; round++) {
        int way = (int) (round % 3), home = way == 1 ? other : rank, theirs = way == 1 ? rank : other;
        int64_t seen = -1, found;
        MPI(MPI_Put(&round, 1, MPI_INT64_T, other, window_at(w, other, 8 * MEET), 1, MPI_INT64_T, w->win));
        MPI(MPI_Win_flush(other, w->win));
        while (cells[MEET] < round)
            ;
        if (way == 2) {
            cells[CELL] = round;
            MPI(MPI_Win_sync(w->win));
        } else {
            MPI(MPI_Put(&round, 1, MPI_INT64_T, home, window_at(w, home, 8 * (CELL + 8 * way)), 1, MPI_INT64_T, w->win));
            MPI(MPI_Win_flush(home, w->win));
        }
        MPI(MPI_Get(&seen, 1, MPI_INT64_T, theirs, window_at(w, theirs, 8 * (CELL + (way == 1 ? 8 : 0))), 1, MPI_INT64_T, w->win));
        MPI(MPI_Win_flush(theirs, w->win));
        found = 10 * round + (seen == round);
        MPI(MPI_Put(&found, 1, MPI_INT64_T, other, window_at(w, other, 8 * TOLD), 1, MPI_INT64_T, w->win));
        MPI(MPI_Win_flush(other, w->win));
        while (cells[TOLD] < 10 * round)
            ;
        if (seen != round && cells[TOLD] % 10 == 0)
            check_failed(__FILE__, __LINE__, "%s window, round %lld: none of two ranks found what the other one wrote",
                         window_names[w->kind], (long long) round);
    }
    window_settle(w);
}

/* One memory under two windows with different units, one after the other. */
static void aliases(enum window_kind kind)
{
    struct window first = window_make(kind, WORDS * 8, 1), second = {MPI_WIN_NULL, PRIVATE, first.base, WORDS * 8, 8, NULL};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t *cells = (int64_t *) first.base, one = 1, many[WORDS];
    MPI(MPI_Win_create(first.base, WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &second.win));
    MPI(MPI_Win_lock_all(0, second.win));
    for (int i = 0; i < WORDS; i++)
        many[i] = rank + i;
    for (int round = 0; round < 20; round++) {
        struct window *w = round % 2 ? &second : &first;
        MPI(MPI_Accumulate(many, WORDS, MPI_INT64_T, right, window_at(w, right, 0), WORDS, MPI_INT64_T, MPI_SUM, w->win));
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, right, window_at(w, right, 80), 1, MPI_INT64_T, MPI_SUM, w->win));
        window_settle(w);
    }
    window_settle(&second);
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(cells[i], 20 * (left + i + (i == 10)));
    window_settle(&second);
    MPI(MPI_Win_unlock_all(second.win));
    MPI(MPI_Win_free(&second.win));
    window_free(&first);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_make(kind, WORDS * 8, 1);
        flags(&w);
        torn(&w);
        if (size > 1)
            both_write(&w);
        window_free(&w);
        aliases(kind);
    }
    return finish();
}
