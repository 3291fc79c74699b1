/* Windows whose ranks may be on several hosts: all ways of synchronisation, mixed near and far origins, data of many calls, a target that is
 * outside of MPI, errors that only the target finds. The program has no threads: the library has one. arg: rounds. */
#include "windows.h"

enum { WORDS = 64, LONG = 150000 };

static int rounds;

static void fences(void)
{
    int64_t *cells, *many = malloc(LONG * sizeof *many), *back = malloc(LONG * sizeof *back), value;
    MPI_Win win;
    MPI_Datatype every_third;
    MPI(MPI_Win_allocate((3 * LONG + size) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win));
    MPI(MPI_Type_vector(LONG, 1, 3, MPI_INT64_T, &every_third));
    MPI(MPI_Type_commit(&every_third));
    for (int round = 0; round < rounds; round++) {
        MPI(MPI_Win_fence(0, win));
        for (int to = 0; to < size; to++) {
            value = round * 1000 + rank * 10 + to;
            MPI(MPI_Put(&value, 1, MPI_INT64_T, to, 3 * LONG + rank, 1, MPI_INT64_T, win));
            value = -1;
        }
        MPI(MPI_Win_fence(0, win));
        for (int from = 0; from < size; from++)
            CHECK_INT(cells[3 * LONG + from], round * 1000 + from * 10 + rank);
    }
    /* 1.2 MB, contiguous here and with holes there. */
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < LONG; i++)
        many[i] = rank * 1000000 + i, back[i] = -1;
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Put(many, LONG, MPI_INT64_T, right, 0, 1, every_third, win));
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Accumulate(many, LONG, MPI_INT64_T, right, 0, 1, every_third, MPI_SUM, win));
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Get(back, LONG, MPI_INT64_T, left, 0, 1, every_third, win));
    MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    int left_of_left = (left + size - 1) % size;
    for (int i = 0; i < LONG; i++)
        if (cells[3 * i] != 2 * (left * 1000000ll + i) || back[i] != 2 * (left_of_left * 1000000ll + i)) {
            check_failed(__FILE__, __LINE__, "element %d is %lld and %lld", i, (long long) cells[3 * i], (long long) back[i]);
            break;
        }
    MPI(MPI_Type_free(&every_third));
    MPI(MPI_Win_free(&win));
    free(many), free(back);
}

static void posts(void)
{
    int64_t cells[WORDS] = {0}, value;
    MPI_Win win;
    MPI_Group world, others;
    MPI(MPI_Win_create(cells, sizeof cells, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_excl(world, 1, &rank, &others));
    for (int round = 1; round <= rounds; round++) {
        MPI(MPI_Win_post(others, 0, win));
        MPI(MPI_Win_start(others, 0, win));
        for (int to = 0; to < size; to++)
            if (to != rank) {
                value = round * 100 + rank;
                MPI(MPI_Put(&value, 1, MPI_INT64_T, to, rank % WORDS, 1, MPI_INT64_T, win));
            }
        MPI(MPI_Win_complete(win));
        MPI(MPI_Win_wait(win));
        for (int from = 0; from < size && from < WORDS; from++)
            CHECK_INT(cells[from], from == rank ? 0 : round * 100 + from);
    }
    MPI(MPI_Group_free(&world));
    MPI(MPI_Group_free(&others));
    MPI(MPI_Win_free(&win));
}

/* Reads, adds one, writes: nobody may be between. Ranks that share the lock of all see no half of it. */
static void locks(void)
{
    int64_t *cells, value, pair[2];
    MPI_Win win;
    MPI(MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win));
    cells[0] = cells[1] = 0;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < size; i++) {
            int target = (rank + i) % size;
            MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
            for (int at = 0; at < 2; at++) {
                MPI(MPI_Get(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, win));
                MPI(MPI_Win_flush(target, win));
                value++;
                MPI(MPI_Put(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, win));
                MPI(MPI_Win_flush_local(target, win));
            }
            MPI(MPI_Win_unlock(target, win));
            if (round % 3 == 0) {
                MPI(MPI_Win_lock_all(0, win));
                MPI(MPI_Get(pair, 2, MPI_INT64_T, target, 0, 2, MPI_INT64_T, win));
                MPI(MPI_Win_flush_all(win));
                CHECK_INT(pair[0], pair[1]);
                MPI(MPI_Win_unlock_all(win));
            } else {
                MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
                MPI(MPI_Get(pair, 2, MPI_INT64_T, target, 0, 2, MPI_INT64_T, win));
                MPI(MPI_Win_unlock(target, win));
                CHECK_INT(pair[0], pair[1]);
            }
        }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    MPI(MPI_Win_sync(win));
    CHECK_INT(cells[0], (long long) rounds * size);
    MPI(MPI_Win_unlock(rank, win));
    MPI(MPI_Win_free(&win));
}

/* All ranks, near and far, change one rank's elements at once: by sums, tickets and swaps; one long enough for many pieces. */
static void atomic(enum window_kind kind)
{
    struct window w = window_make(kind, 3000 * 8, 8);
    int64_t one = 1, old = -1, sum = 0, ones[2000], all;
    struct { double value; int index; } pair = {rank, rank};
    int target = size - 1;
    for (int i = 0; i < 2000; i++)
        ones[i] = 1;
    for (int round = 0; round < rounds; round++) {
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, target, window_at(&w, target, 0), 1, MPI_INT64_T, MPI_SUM, w.win));
        MPI(MPI_Accumulate(ones, 2000, MPI_INT64_T, target, window_at(&w, target, 8000), 2000, MPI_INT64_T, MPI_SUM, w.win));
        MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, window_at(&w, target, 8), MPI_SUM, w.win));
        MPI(MPI_Win_flush(target, w.win));
        CHECK(old >= 0 && old < (int64_t) rounds * size);
        sum += old;
        MPI(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, target, window_at(&w, target, 64), 1, MPI_DOUBLE_INT, MPI_MAXLOC, w.win));
        for (int64_t seen = 0, next, found = -1; found != seen; ) {
            /* Adds one by compare-and-swap. */
            MPI(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, target, window_at(&w, target, 16), MPI_NO_OP, w.win));
            MPI(MPI_Win_flush(target, w.win));
            next = seen + 1;
            MPI(MPI_Compare_and_swap(&next, &seen, &found, MPI_INT64_T, target, window_at(&w, target, 16), w.win));
            MPI(MPI_Win_flush(target, w.win));
        }
        /* In the order of the calls. */
        int64_t mine = rank * 1000 + round, seen = -1;
        MPI_Aint own = window_at(&w, target, 128 + 8 * (rank % 64));
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, target, own, 1, MPI_INT64_T, MPI_REPLACE, w.win));
        MPI(MPI_Accumulate(&mine, 1, MPI_INT64_T, target, own, 1, MPI_INT64_T, MPI_REPLACE, w.win));
        MPI(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, target, own, 1, MPI_INT64_T, MPI_NO_OP, w.win));
        MPI(MPI_Win_flush(target, w.win));
        if (size <= 64)
            CHECK_INT(seen, mine);
    }
    window_settle(&w);
    MPI(MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    int64_t changes = (int64_t) rounds * size;
    CHECK_INT(all, changes * (changes - 1) / 2);
    if (rank == target) {
        int64_t *cells = (int64_t *) w.base;
        CHECK_INT(cells[0], changes);
        CHECK_INT(cells[1], changes);
        CHECK_INT(cells[2], changes);
        CHECK_INT(cells[1000], changes);
        CHECK_INT(cells[2999], changes);
        CHECK(*(double *) (w.base + 64) == size - 1);
        CHECK_INT(*(int *) (w.base + 72), size - 1);
    }
    window_settle(&w);
    window_free(&w);
}

/* The last rank calls nothing of MPI until the others have done their work in its memory. */
static void asleep(void)
{
    struct window w = window_make(ALLOCATED, 4096, 8);
    volatile int64_t *cells = (volatile int64_t *) w.base;
    int64_t value = 7, old = -1, one = 1;
    int target = size - 1;
    if (rank == target)
        while (cells[0] < size - 1)
            rest();
    else {
        MPI(MPI_Put(&value, 1, MPI_INT64_T, target, 8 + rank, 1, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
        MPI(MPI_Get(&old, 1, MPI_INT64_T, target, 8 + rank, 1, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
        CHECK_INT(old, 7);
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, w.win));
        MPI(MPI_Win_flush(target, w.win));
    }
    window_settle(&w);
    if (rank == target)
        for (int i = 0; i < size - 1; i++)
            CHECK_INT(cells[8 + i], 7);
    window_free(&w);
}

static void wrong(void)
{
    int64_t *cells, value = 1;
    int right = (rank + 1) % size;
    MPI_Win win;
    MPI(MPI_Win_allocate(8 * (rank + 1), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    *cells = -5;
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(right, win), MPI_ERR_RMA_SYNC);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, right, right + 1, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT64_T, right, -1, 1, MPI_INT64_T, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, right, 0, 1, MPI_INT32_T, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    MPI(MPI_Win_unlock(right, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(*cells, -5);
    MPI(MPI_Win_free(&win));
    /* What is attached is known to the target alone. */
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_lock_all(0, win));
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, right, 4096, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &value, MPI_INT64_T, right, 4096, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    int before, after;
    start(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    MPI(MPI_Query_thread(&before));
    fences();
    posts();
    locks();
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        atomic(kind);
    asleep();
    wrong();
    MPI(MPI_Query_thread(&after));
    CHECK_INT(after, before);
    return finish();
}
