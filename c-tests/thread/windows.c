/* Threads of all ranks operate on one window: tickets from one counter, long and short accumulates on the same elements, puts and
 * gets in places of their own; in a dynamic window also while threads attach and detach memory. */
#include "threads.h"
#include "windows.h"

enum { THREADS = 4, N = 3000 };

static struct window w;
static int rounds;
static char *seen;

static void *run(void *what)
{
    int number = (int) (intptr_t) what, place = rank * THREADS + number;
    int64_t one = 1, ticket, ones[N], mine[16], back[16];
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    for (int round = 0; round < rounds; round++) {
        MPI(MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, window_at(&w, 0, 0), MPI_SUM, w.win));
        MPI(MPI_Win_flush(0, w.win));
        CHECK(ticket >= 0 && ticket < (int64_t) rounds * size * THREADS);
        __sync_fetch_and_add(&seen[ticket], 1);
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, window_at(&w, 0, 8 * (64 + round % N)), 1, MPI_INT64_T, MPI_SUM, w.win));
        if (round % 16 == 0)
            MPI(MPI_Accumulate(ones, N, MPI_INT64_T, 0, window_at(&w, 0, 8 * 64), N, MPI_INT64_T, MPI_SUM, w.win));
        for (int i = 0; i < 16; i++)
            mine[i] = place * 1000 + round + i;
        int target = (rank + number) % size;
        MPI_Aint at = window_at(&w, target, 8 * (64 + N + 16 * (MPI_Aint) place));
        MPI(MPI_Put(mine, 16, MPI_INT64_T, target, at, 16, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
        MPI(MPI_Get(back, 16, MPI_INT64_T, target, at, 16, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
        CHECK(memcmp(mine, back, sizeof mine) == 0);
    }
    return NULL;
}

enum { PLACES = 40 };

static MPI_Aint tables[64];
static char spare[THREADS][PLACES * 64];
static int64_t cells[8];

/* Half of the threads attach and detach memory of their own; the others operate on the neighbour's. */
static void *attach_or_operate(void *what)
{
    int number = (int) (intptr_t) what, right = (rank + 1) % size, turns = rounds / 20;
    int64_t one = 1, last = -1, old;
    for (int turn = 0; turn < turns; turn++)
        if (number % 2) {
            for (int i = 0; i < 1 + turn % PLACES; i++)
                MPI(MPI_Win_attach(w.win, spare[number] + 64 * i, 64));
            for (int i = 0; i < 1 + turn % PLACES; i++)
                MPI(MPI_Win_detach(w.win, spare[number] + 64 * i));
        } else
            for (int i = 0; i < 20; i++) {
                MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, right, tables[right], MPI_SUM, w.win));
                MPI(MPI_Win_flush(right, w.win));
                CHECK(old > last);
                last = old;
            }
    return NULL;
}

static void attaching(void)
{
    MPI_Aint address;
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
    MPI(MPI_Win_attach(w.win, cells, sizeof cells));
    MPI(MPI_Get_address(cells, &address));
    MPI(MPI_Allgather(&address, 1, MPI_AINT, tables, 1, MPI_AINT, MPI_COMM_WORLD));
    MPI(MPI_Win_lock_all(0, w.win));
    run_threads(THREADS, attach_or_operate);
    window_settle(&w);
    CHECK_INT(cells[0], THREADS / 2 * (rounds / 20) * 20);
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_detach(w.win, cells));
    MPI(MPI_Win_free(&w.win));
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    rounds = slow() ? 20 : 800;
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        int total = rounds * size * THREADS;
        char *all = calloc((size_t) total, 1);
        seen = calloc((size_t) total, 1);
        w = window_make(kind, 8 * (64 + N + 16 * THREADS * (MPI_Aint) size), 1);
        run_threads(THREADS, run);
        window_settle(&w);
        MPI(MPI_Allreduce(seen, all, total, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < total; i++)
            CHECK_INT(all[i], 1);
        for (int i = 0; rank == 0 && i < N; i++)
            CHECK_INT(((int64_t *) w.base)[64 + i], size * THREADS * ((rounds + 15) / 16 + (rounds - i + N - 1) / N));
        window_settle(&w);
        window_free(&w);
        free(all), free(seen);
    }
    attaching();
    return finish();
}
