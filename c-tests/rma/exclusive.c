/* Exclusive locks on every kind of window: numbers counted up by a get and a put, or by a load and a store of their owner; blocks that a
 * holder leaves whole for the next one; the locks of all targets at once; buffers that are changed after MPI_Win_flush_local.
 * arg: rounds. */
#include "windows.h"

/* Two numbers, one of them negative; the block. */
enum { BLOCK = 512, WORDS = 8 + BLOCK };

static struct window w;

static void count_up(int target, int64_t *expected)
{
    int64_t pair[2] = {-1, -1};
    int whole = target == rank;
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
    volatile int64_t *cells = (volatile int64_t *) w.base;
    if (whole)
        pair[0] = cells[0], pair[1] = cells[1];
    else {
        MPI(MPI_Get(pair, 2, MPI_INT64_T, target, window_at(&w, target, 0), 2, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
    }
    CHECK_INT(pair[1], -pair[0]);
    pair[0]++, pair[1]--;
    if (whole)
        cells[0] = pair[0], cells[1] = pair[1];
    else
        MPI(MPI_Put(pair, 2, MPI_INT64_T, target, window_at(&w, target, 0), 2, MPI_INT64_T, w.win));
    MPI(MPI_Win_unlock(target, w.win));
    expected[target]++;
}

/* All words of the block are alike when the lock is given on. */
static void hand_over(int target, int64_t mark)
{
    int64_t block[BLOCK], *cells = (int64_t *) w.base + 8;
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
    if (target == rank)
        memcpy(block, cells, sizeof block);
    else {
        MPI(MPI_Get(block, BLOCK, MPI_INT64_T, target, window_at(&w, target, 64), BLOCK, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush_local(target, w.win));
    }
    for (int i = 1; i < BLOCK; i++)
        CHECK_INT(block[i], block[0]);
    for (int i = 0; i < BLOCK; i++)
        block[i] = mark;
    if (target == rank)
        memcpy(cells, block, sizeof block);
    else if (mark % 2)
        MPI(MPI_Put(block, BLOCK, MPI_INT64_T, target, window_at(&w, target, 64), BLOCK, MPI_INT64_T, w.win));
    else
        MPI(MPI_Accumulate(block, BLOCK, MPI_INT64_T, target, window_at(&w, target, 64), BLOCK, MPI_INT64_T, MPI_REPLACE, w.win));
    MPI(MPI_Win_unlock(target, w.win));
}

/* The locks of all targets at once, given back in another order. */
static void all_at_once(int64_t *expected)
{
    int64_t pairs[64][2];
    for (int i = 0; i < size; i++) {
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, w.win));
        MPI(MPI_Get(pairs[i], 2, MPI_INT64_T, i, window_at(&w, i, 0), 2, MPI_INT64_T, w.win));
    }
    MPI(MPI_Win_flush_all(w.win));
    for (int i = 0; i < size; i++) {
        int target = (i + size / 2) % size;
        CHECK_INT(pairs[target][1], -pairs[target][0]);
        pairs[target][0]++, pairs[target][1]--;
        MPI(MPI_Put(pairs[target], 2, MPI_INT64_T, target, window_at(&w, target, 0), 2, MPI_INT64_T, w.win));
        MPI(MPI_Win_unlock(target, w.win));
        expected[target]++;
    }
}

static void counters(int rounds)
{
    uint64_t random = (uint64_t) rank + 100 * (uint64_t) w.kind;
    int64_t expected[64] = {0}, all[64];
    for (int i = 0; i < rounds; i++) {
        int target = (int) (next_random(&random) % (uint64_t) size);
        count_up(i % 3 ? target : 0, expected);
        if (i % 8 == 0)
            hand_over(target, rank + 1000LL * i);
        if (i % 32 == 5 && !reference) /* takes locks late, so that the order of two ranks' locks is not that of their calls */
            all_at_once(expected);
    }
    MPI(MPI_Allreduce(expected, all, size, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
    CHECK_INT(((int64_t *) w.base)[0], all[rank]);
    MPI(MPI_Win_unlock(rank, w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* One buffer for operations of all lengths. */
static void reuse(int times)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t buffer[BLOCK], *cells = (int64_t *) w.base + 8;
    for (int i = 0; i < times; i++) {
        int length = 1 + i * 37 % (BLOCK / 2);
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w.win));
        for (int k = 0; k < length; k++)
            buffer[k] = 1000 * rank + k + i;
        MPI(MPI_Put(buffer, length, MPI_INT64_T, right, window_at(&w, right, 64), length, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush_local(right, w.win));
        memset(buffer, 0x77, sizeof buffer);
        for (int k = 0; k < length; k++)
            buffer[k] = 5000 * rank + k + i;
        MPI(MPI_Accumulate(buffer, length, MPI_INT64_T, right, window_at(&w, right, 64 + 4 * BLOCK), length, MPI_INT64_T, MPI_REPLACE,
                           w.win));
        MPI(MPI_Win_flush_local_all(w.win));
        memset(buffer, 0x77, sizeof buffer);
        MPI(MPI_Win_unlock(right, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
        for (int k = 0; k < length; k++) {
            CHECK_INT(cells[k], 1000 * left + k + i);
            CHECK_INT(cells[BLOCK / 2 + k], 5000 * left + k + i);
        }
        MPI(MPI_Win_unlock(rank, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 150;
    start(&argc, &argv);
    if (slow())
        rounds = 20;
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_make(kind, WORDS * 8, 1);
        MPI(MPI_Win_unlock_all(w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        counters(rounds);
        reuse(slow() ? 3 : 30);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_lock_all(0, w.win));
        window_free(&w);
    }
    return finish();
}
