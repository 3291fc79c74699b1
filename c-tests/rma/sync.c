/* MPI_Win_sync and MPI_Win_flush are full fences: of two ranks that store, call it and load what the other one stores, one at least sees the
 * other's store; what was stored before it is seen by who sees what was stored after it. arg: rounds. */
#include "shared_window.h"

static struct window w;

static void order(int by_flush)
{
    if (by_flush)
        MPI(MPI_Win_flush(0, w.win));
    else
        MPI(MPI_Win_sync(w.win));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20000, seen[2];
    start(&argc, &argv);
    if (slow())
        rounds = 100;
    make_window(&w, MPI_COMM_WORLD, 64);
    MPI(MPI_Win_lock_all(0, w.win));
    volatile long *own = w.of[rank], *theirs = w.of[rank ^ 1];
    for (int i = 1; i <= rounds && rank < 2; i++) {
        /* together, as far as two cores are */
        own[16] = i;
        while (theirs[16] < i)
            MPI(MPI_Win_sync(w.win));
        own[0] = i;
        order(i % 2);
        seen[rank] = theirs[0] == i;
        own[32] = 10L * i + seen[rank];
        while (theirs[32] < 10L * i)
            order(i % 2);
        seen[rank ^ 1] = theirs[32] % 10;
        CHECK(seen[0] || seen[1]);
        /* rank 0 tells rank 1 by a flag of data */
        if (rank == 0) {
            own[48] = i;
            order(i % 2);
            own[56] = i;
        } else {
            while (theirs[56] < i)
                MPI(MPI_Win_sync(w.win));
            MPI(MPI_Win_sync(w.win));
            CHECK(theirs[48] >= i);
        }
    }
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Win_free(&w.win));
    return finish();
}
