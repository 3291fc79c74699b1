/* Threads at one window: they lock different targets at the same time, and one waits for a lock while another one of its process gives up
 * the lock that this depends on. arg: rounds. */
#include "shared_window.h"
#include "threads.h"

enum { THREADS = 4 };

static struct window w;
static int rounds;

/* Thread t of all ranks: targets that are t modulo the number of threads, so that a rank never locks one twice. */
static void *counts(void *what)
{
    int thread = (int) (intptr_t) what;
    for (int i = 0; i < rounds; i++)
        for (int target = thread; target < size; target += THREADS) {
            int shared = i % 4 == 3;
            MPI(MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w.win));
            CHECK_INT(w.of[target][0], w.of[target][1]);
            if (!shared) {
                w.of[target][0]++;
                w.of[target][1]++;
            }
            MPI(MPI_Win_flush(target, w.win));
            MPI(MPI_Win_unlock(target, w.win));
        }
    return NULL;
}

/* Rank 0 has lock 0, and a thread of it waits for lock 1, which rank 1 has, who waits for lock 0. */
static void *crosswise(void *what)
{
    int thread = (int) (intptr_t) what;
    if (rank == 0 && thread == 0) {
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
        CHECK_INT(w.of[1][2], 5);
        MPI(MPI_Win_unlock(1, w.win));
    } else if (rank == 0 && thread == 1) {
        usleep(3000);
        MPI(MPI_Win_unlock(0, w.win));
    } else if (rank == 1 && thread == 0) {
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        w.of[1][2] = 5;
        MPI(MPI_Win_unlock(1, w.win));
        MPI(MPI_Win_unlock(0, w.win));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 1000;
    start_multiple(&argc, &argv);
    if (slow())
        rounds = 20;
    make_window(&w, MPI_COMM_WORLD, 4);
    run_threads(THREADS, counts);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(w.of[rank][0], (long) size * (rounds - rounds / 4));
    for (int i = 0; size > 1 && i < 10; i++) {
        if (rank < 2)
            MPI(MPI_Win_lock(rank ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, rank, 0, w.win));
        w.of[rank][2] = 0;
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        run_threads(2, crosswise);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    MPI(MPI_Win_free(&w.win));
    return finish();
}
