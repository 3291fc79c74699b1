/* The last rank is killed: as the holder of a lock, as one that shares it, before a fence, between post and wait, and as an origin. The
 * others get an error that names window and rank, within each call that depends on it. For mpiexec with -disable-auto-cleanup.
 * arg: what. */
#include "shared_window.h"

static struct window w;
static char text[MPI_MAX_ERROR_STRING];

static void is_loss(int code, const char *function)
{
    char wanted[60];
    int length;
    CHECK_INT(check_class_of(code), MPI_ERR_OTHER);
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", size - 1);
    if (!strstr(text, wanted) || !strstr(text, "window \"heat\"") || !strstr(text, function))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exclusive";
    start(&argc, &argv);
    int dying = size - 1, group[WINDOW_RANKS];
    for (int r = 0; r < size; r++)
        group[r] = r;
    return_errors();
    make_window(&w, MPI_COMM_WORLD, 4);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPI(MPI_Win_set_name(w.win, "heat"));
    MPI_Group last = group_of(MPI_COMM_WORLD, 1, &dying), others = group_of(MPI_COMM_WORLD, size - 1, group);
    if (rank == dying && !strcmp(what, "exclusive"))
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    if (rank == dying && !strcmp(what, "shared"))
        MPI(MPI_Win_lock_all(0, w.win));
    if (rank == dying && !strcmp(what, "target"))
        MPI(MPI_Win_post(others, 0, w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == dying)
        raise(SIGKILL);
    if (!strcmp(what, "exclusive")) {
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win), "MPI_Win_lock");
        is_loss(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), "MPI_Win_lock");
        is_loss(MPI_Win_lock_all(0, w.win), "MPI_Win_lock_all");
        /* the other locks are free */
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
        MPI(MPI_Win_unlock(1, w.win));
    } else if (!strcmp(what, "shared")) {
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win), "MPI_Win_lock");
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win), "MPI_Win_lock");
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        MPI(MPI_Win_unlock(0, w.win));
        MPI(MPI_Win_lock_all(0, w.win));
        MPI(MPI_Win_unlock_all(w.win));
    } else if (!strcmp(what, "fence")) {
        for (int i = 0; i < 4; i++)
            is_loss(MPI_Win_fence(0, w.win), "MPI_Win_fence");
    } else if (!strcmp(what, "target")) {
        /* it has posted once, and will not again */
        MPI(MPI_Win_start(last, 0, w.win));
        MPI(MPI_Win_complete(w.win));
        int code = MPI_Win_start(last, 0, w.win);
        is_loss(code ? code : MPI_Win_complete(w.win), code ? "MPI_Win_start" : "MPI_Win_complete");
        ERROR(MPI_Win_complete(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start", NULL);
    } else {
        MPI(MPI_Win_post(last, 0, w.win));
        is_loss(MPI_Win_wait(w.win), "MPI_Win_wait");
        ERROR(MPI_Win_wait(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post", NULL);
    }
    /* no rank may end before all have met the one that was killed, and not one that has left */
    int one = rank;
    MPI_Comm rest;
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, others, 5, &rest));
    MPI(MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, rest));
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
