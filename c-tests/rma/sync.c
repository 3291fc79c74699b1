/* MPI_Win_sync and MPI_Win_flush are full fences: of two ranks that store, call it and load what the other one stores, one at least sees the
 * other's store; what was stored before it is seen by who sees what was stored after it, or hears of it. arg: rounds. */
#include "shared_window.h"

static struct window w;

static void order(int by_flush)
{
    if (by_flush)
        MPI(MPI_Win_flush(0, w.win));
    else
        MPI(MPI_Win_sync(w.win));
}

/* All ranks store and then load what the others have stored, with MPI_Win_sync on both sides of a barrier, or of the messages of a ring. */
static void handed_on(int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        w.of[rank][40] = 100L * i + rank;
        MPI(MPI_Win_sync(w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_sync(w.win));
        for (int r = 0; r < size; r++)
            CHECK_INT(w.of[r][40], 100L * i + r);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        /* each adds to the number of the one before it */
        MPI_Request request;
        if (rank > 0)
            MPI(MPI_Recv(NULL, 0, MPI_INT, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Win_sync(w.win));
        w.of[rank][41] = rank > 0 ? w.of[rank - 1][41] + 1 : i;
        MPI(MPI_Win_sync(w.win));
        MPI(MPI_Isend(NULL, 0, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, i, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(w.of[rank][41], i + rank);
    }
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
    for (int i = 1; i <= rounds && size > 1 && rank < 2; i++) {
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
    handed_on(rounds / 100);
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Win_free(&w.win));
    return finish();
}
