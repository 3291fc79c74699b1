/* Fences, and post-start-complete-wait, on every kind of window: operations see what their target stored before its call, and come after
 * these stores, whichever rank is late. arg: rounds. */
#include "windows.h"

/* A third of the words is got, one is put, one is added to. */
enum { PART = 300, WORDS = 3 * PART };

static struct window w;
static int right, left;

static int64_t stored(int of, int round, int word)
{
    return 1000000LL * round + 1000 * of + word;
}

/* The last stores of this rank. One rank after the other is late, so that who does not wait for it is too early. */
static void store(int round)
{
    int64_t *cells = (int64_t *) w.base;
    if (round % size == rank)
        usleep(300);
    for (int i = 0; i < WORDS; i++)
        cells[i] = stored(rank, round, i);
}

static void operate(int round, int64_t *got, int64_t *put)
{
    for (int i = 0; i < PART; i++)
        put[i] = -stored(rank, round, i);
    MPI(MPI_Get(got, PART, MPI_INT64_T, right, window_at(&w, right, 0), PART, MPI_INT64_T, w.win));
    MPI(MPI_Put(put, PART, MPI_INT64_T, right, window_at(&w, right, 8 * PART), PART, MPI_INT64_T, w.win));
    MPI(MPI_Accumulate(put, PART, MPI_INT64_T, right, window_at(&w, right, 16 * PART), PART, MPI_INT64_T, MPI_SUM, w.win));
}

static void compare(int round, const int64_t *got)
{
    const int64_t *cells = (int64_t *) w.base;
    for (int i = 0; i < PART; i++) {
        CHECK_INT(got[i], stored(right, round, i));
        CHECK_INT(cells[i], stored(rank, round, i));
        CHECK_INT(cells[PART + i], -stored(left, round, i));
        CHECK_INT(cells[2 * PART + i], stored(rank, round, 2 * PART + i) - stored(left, round, i));
    }
}

static void fences(int rounds)
{
    int64_t got[PART], put[PART];
    for (int round = 1; round <= rounds; round++) {
        store(round);
        MPI(MPI_Win_fence(round % 2 ? MPI_MODE_NOPRECEDE : 0, w.win));
        operate(round, got, put);
        MPI(MPI_Win_fence(round % 3 ? MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE : 0, w.win));
        compare(round, got);
        /* which another fence would not have to wait for */
        if (round % 3)
            MPI(MPI_Barrier(MPI_COMM_WORLD));
        else
            MPI(MPI_Win_fence(MPI_MODE_NOPUT, w.win));
    }
}

static void posts(int rounds)
{
    int64_t got[PART], put[PART];
    MPI_Group all, to, from;
    MPI(MPI_Win_get_group(w.win, &all));
    MPI(MPI_Group_incl(all, 1, &right, &to));
    MPI(MPI_Group_incl(all, 1, &left, &from));
    for (int round = 1; round <= rounds; round++) {
        store(round);
        MPI(MPI_Win_post(from, 0, w.win));
        MPI(MPI_Win_start(to, 0, w.win));
        operate(round, got, put);
        MPI(MPI_Win_complete(w.win));
        MPI(MPI_Win_wait(w.win));
        compare(round, got);
    }
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 25;
    start(&argc, &argv);
    if (slow())
        rounds = 6;
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_make(kind, WORDS * 8, 1);
        MPI(MPI_Win_unlock_all(w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        fences(rounds);
        posts(rounds);
        fences(3);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_lock_all(0, w.win));
        window_free(&w);
    }
    return finish();
}
