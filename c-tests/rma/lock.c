/* MPI_Win_lock of both kinds and MPI_Win_lock_all: nobody is beside an exclusive holder, holders of shared locks are beside each other,
 * what was stored under a lock is seen under the next; several targets at once, the own one, two windows, MPI_MODE_NOCHECK.
 * arg: rounds. */
#include "shared_window.h"

enum { BYTES = 1 << 20 };

static struct window w, other;

/* All ranks add to a counter of each target; two cells are equal for readers. */
static void counters(int rounds)
{
    uint64_t random = rank;
    int adds[WINDOW_RANKS] = {0}, all[WINDOW_RANKS];
    for (int i = 0; i < rounds; i++) {
        int target = next_random(&random) % size, what = next_random(&random) % 8;
        volatile long *cell = w.of[target];
        if (what < 5) {
            MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
            long before = cell[0];
            CHECK_INT(cell[1], before);
            cell[0] = before + 1;
            CHECK_INT(cell[1], before);
            cell[1] = before + 1;
            MPI(MPI_Win_unlock(target, w.win));
            adds[target]++;
        } else if (what < 7) {
            MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
            long seen = cell[0];
            CHECK_INT(cell[1], seen);
            CHECK_INT(cell[0], seen);
            MPI(MPI_Win_unlock(target, w.win));
        } else {
            MPI(MPI_Win_lock_all(0, w.win));
            for (int r = 0; r < size; r++) {
                long seen = w.of[r][0];
                CHECK_INT(w.of[r][1], seen);
            }
            MPI(MPI_Win_unlock_all(w.win));
        }
    }
    MPI(MPI_Allreduce(adds, all, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MPI(MPI_Win_lock_all(0, w.win));
    for (int r = 0; r < size; r++)
        CHECK_INT(w.of[r][0], all[r]);
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* A rank has the locks of all targets, in any order, while the others queue. Rank after rank. */
static void all_locks_of_one(void)
{
    for (int holder = 0; holder < size; holder++) {
        if (rank == holder) {
            for (int i = 0; i < size; i++)
                MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, w.win));
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            usleep(2000);
            for (int i = 0; i < size; i++) {
                int target = (i * 5 + holder) % size;
                /* with five ranks a step of five goes nowhere */
                if (size % 5 == 0)
                    target = (i + holder) % size;
                w.of[target][2] = holder + 1;
                MPI(MPI_Win_unlock(target, w.win));
            }
        } else {
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            for (int i = 0; i < size; i++) {
                int target = (rank + i) % size;
                MPI(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w.win));
                CHECK_INT(w.of[target][2], holder + 1);
                MPI(MPI_Win_unlock(target, w.win));
            }
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* Shared locks of all ranks at once: each has the lock until all have it. */
static void together(void)
{
    for (int i = 0; i < 20; i++) {
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_unlock(0, w.win));
        MPI(MPI_Win_lock_all(0, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_unlock_all(w.win));
    }
}

/* Rank 0 waits for a lock while its message is received by the lock's holder. */
static void with_messages(void)
{
    char *data = malloc(BYTES);
    for (int i = 0; i < 4; i++) {
        int kind = i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
        MPI_Request request;
        fill(data, BYTES, i);
        if (rank == 1)
            MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            MPI(MPI_Issend(data, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, &request));
            if (i < 2)
                MPI(MPI_Win_lock(kind, 0, 0, w.win));
            else
                MPI(MPI_Win_lock_all(0, w.win));
            CHECK_INT(w.of[0][3], i + 1);
            if (i < 2)
                MPI(MPI_Win_unlock(0, w.win));
            else
                MPI(MPI_Win_unlock_all(w.win));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            memset(data, 0, BYTES);
            MPI(MPI_Recv(data, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, BYTES, i);
            w.of[0][3] = i + 1;
            MPI(MPI_Win_unlock(0, w.win));
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(data);
}

/* The locks of two windows are two locks. */
static void two_windows(void)
{
    for (int i = 0; i < 50; i++) {
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w.win));
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, other.win));
        other.of[(rank + 1) % size][0]++;
        MPI(MPI_Win_unlock(rank, w.win));
        MPI(MPI_Win_unlock((rank + 1) % size, other.win));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(other.of[rank][0], 50);
}

/* Nobody else has or wants the lock. */
static void unchecked(void)
{
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        for (int i = 0; i < 10; i++) {
            MPI(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, size - 1, MPI_MODE_NOCHECK, w.win));
            w.of[size - 1][4] = i;
            MPI(MPI_Win_flush(size - 1, w.win));
            MPI(MPI_Win_unlock(size - 1, w.win));
        }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    CHECK_INT(w.of[size - 1][4], 9);
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 4000;
    start(&argc, &argv);
    if (slow())
        rounds = 100;
    make_window(&w, MPI_COMM_WORLD, 8);
    make_window(&other, MPI_COMM_WORLD, 1);
    counters(rounds);
    all_locks_of_one();
    together();
    if (size > 1)
        with_messages();
    two_windows();
    unchecked();
    MPI(MPI_Win_free(&w.win));
    MPI(MPI_Win_free(&other.win));
    return finish();
}
