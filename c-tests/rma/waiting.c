/* Waits that never end, for mpiexec's table: it shows function, target rank and the window's name. arg: what waits. */
#include "shared_window.h"

static struct window w;

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "lock";
    start(&argc, &argv);
    int zero = 0;
    make_window(&w, MPI_COMM_WORLD, 1);
    MPI(MPI_Win_set_name(w.win, "heat"));
    if (rank == 0 && !strcmp(what, "lock"))
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        pause();
    if (!strcmp(what, "lock"))
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    if (!strcmp(what, "fence"))
        MPI(MPI_Win_fence(0, w.win));
    MPI_Group group = group_of(MPI_COMM_WORLD, 1, &zero);
    MPI(MPI_Win_post(group, 0, w.win));
    MPI(MPI_Win_wait(w.win));
    return finish();
}
