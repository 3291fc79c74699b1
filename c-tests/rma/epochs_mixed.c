/* Epochs of all kinds after each other on one window, and of two windows interleaved. */
#include "shared_window.h"

static struct window a, b;

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, rounds = slow() ? 5 : 200;
    MPI_Group to = group_of(MPI_COMM_WORLD, 1, &next), from = group_of(MPI_COMM_WORLD, 1, &before);
    make_window(&a, MPI_COMM_WORLD, 4);
    make_window(&b, MPI_COMM_WORLD, 4);
    for (int i = 1; i <= rounds; i++) {
        /* fence */
        MPI(MPI_Win_fence(0, a.win));
        a.of[next][0] = i;
        MPI(MPI_Win_fence(0, a.win));
        CHECK_INT(a.of[rank][0], i);
        /* lock, with no MPI_MODE_NOSUCCEED before */
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, a.win));
        a.of[0][1]++;
        MPI(MPI_Win_unlock(0, a.win));
        /* post and start */
        MPI(MPI_Win_post(from, 0, a.win));
        MPI(MPI_Win_start(to, 0, a.win));
        a.of[next][2] = i;
        MPI(MPI_Win_complete(a.win));
        MPI(MPI_Win_wait(a.win));
        CHECK_INT(a.of[rank][2], i);
        MPI(MPI_Win_lock_all(0, a.win));
        CHECK(a.of[0][1] <= (long) size * (i + 1));
        MPI(MPI_Win_flush_all(a.win));
        MPI(MPI_Win_flush_local_all(a.win));
        MPI(MPI_Win_flush_local(next, a.win));
        MPI(MPI_Win_unlock_all(a.win));
        MPI(MPI_Win_sync(a.win));
    }
    MPI(MPI_Win_fence(0, a.win));
    CHECK_INT(a.of[0][1], (long) size * rounds);
    for (int i = 1; i <= rounds; i++) {
        MPI(MPI_Win_post(from, 0, a.win));
        MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, b.win));
        MPI(MPI_Win_start(to, 0, a.win));
        b.of[next][0] = i;
        a.of[next][3] = i;
        MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, b.win));
        CHECK_INT(b.of[rank][0], i);
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, b.win));
        MPI(MPI_Win_complete(a.win));
        CHECK_INT(b.of[next][0], i);
        MPI(MPI_Win_wait(a.win));
        MPI(MPI_Win_unlock(next, b.win));
        CHECK_INT(a.of[rank][3], i);
    }
    /* the targets that MPI_PROC_NULL stands for */
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, a.win));
    MPI(MPI_Win_unlock(MPI_PROC_NULL, a.win));
    MPI(MPI_Win_free(&a.win));
    MPI(MPI_Win_free(&b.win));
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
    return finish();
}
