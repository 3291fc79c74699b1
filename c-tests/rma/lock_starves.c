/* Nobody starves: a writer gets the lock a number of times while readers take it without end, then the other way round, and readers by
 * MPI_Win_lock_all while writers go on. What a starving rank would have to do ends the program, so that it would never end. arg: turns. */
#include "shared_window.h"

static struct window w;

static void turn(int exclusive)
{
    if (exclusive == 2)
        MPI(MPI_Win_lock_all(0, w.win));
    else
        MPI(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w.win));
    CHECK_INT(w.of[0][1], w.of[0][2]);
    if (exclusive == 1) {
        w.of[0][1]++;
        w.of[0][2]++;
    }
    if (exclusive == 2)
        MPI(MPI_Win_unlock_all(w.win));
    else
        MPI(MPI_Win_unlock(0, w.win));
}

/* Rank 0 takes so many turns of one kind, the others take turns of another until it is done. */
static void against(int own, int others, int turns)
{
    volatile long *over = &w.of[0][0];
    *over = 0;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        for (int i = 0; i < turns; i++)
            turn(own);
        *over = 1;
    } else
        while (!*over)
            turn(others);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 300;
    start(&argc, &argv);
    if (slow())
        turns = 10;
    make_window(&w, MPI_COMM_WORLD, 4);
    against(1, 0, turns);
    against(0, 1, turns);
    against(2, 1, turns);
    against(1, 2, turns);
    against(1, 1, turns);
    MPI(MPI_Win_free(&w.win));
    return finish();
}
