/* The last rank is killed: as the holder of a lock, as one that shares it or waits for it, before a fence, between post and wait, as an
 * origin, and in the midst of accumulates. The others get an error that names window and rank, within each call that depends on it. For mpiexec with -disable-auto-cleanup.
 * arg: what. */
#include "shared_window.h"
#include "process.h"

static struct window w;
static char text[MPI_MAX_ERROR_STRING];

static void has_text(int code, const char *function, const char *more)
{
    char wanted[60];
    int length;
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", size - 1);
    if (!strstr(text, wanted) || !strstr(text, more) || !strstr(text, function))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
}

static void is_loss(int code, const char *function)
{
    CHECK_INT(check_class_of(code), MPI_ERR_OTHER);
    has_text(code, function, "window \"heat\"");
}

/* Rank 0 has a lock that the last rank waits for, and ends that rank in its sleep. */
static void kill_waiting(int dying)
{
    volatile long *told = w.of[0] + 2;
    if (rank == dying) {
        /* What it sleeps in after this is the lock. */
        told[0] = (long) getpid();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        pause();
    }
    if (rank != 0) {
        /* not in the queue before it */
        while (told[1] == 0)
            usleep(100);
        return;
    }
    while (told[0] == 0)
        usleep(100);
    while (state_of((int) told[0]) != 'S')
        usleep(100);
    kill((pid_t) told[0], SIGKILL);
    while (state_of((int) told[0]) == 'S' || state_of((int) told[0]) == 'R')
        usleep(100);
    told[1] = 1;
    MPI(MPI_Win_unlock(0, w.win));
}

/* All ranks accumulate on large memory of rank 0, and the last one never ends. Each call of the others works, or is an error because the
 * last rank had a lock of the library's. */
static void kill_accumulating(int dying)
{
    enum { N = 1 << 18 };
    static double ones[N], memory[N];
    volatile long *begun = w.of[0] + 2;
    MPI_Win win;
    MPI(MPI_Win_create(memory, rank == 0 ? sizeof memory : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_lock_all(0, win));
    if (rank == dying) {
        begun[0] = getpid();
        for (;;)
            MPI_Accumulate(ones, N, MPI_DOUBLE, 0, 0, N, MPI_DOUBLE, MPI_SUM, win);
    }
    while (begun[0] == 0)
        usleep(100);
    for (int i = 0; i < 20; i++) {
        if (rank == 0 && i == 5)
            kill((pid_t) begun[0], SIGKILL);
        int code = MPI_Accumulate(ones, N, MPI_DOUBLE, 0, 0, N, MPI_DOUBLE, MPI_SUM, win);
        if (code != MPI_SUCCESS) {
            CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
            has_text(code, "MPI_Accumulate", "its lock on that memory is lost");
        }
    }
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
    if (!strcmp(what, "accumulating"))
        kill_accumulating(dying);
    if (!strcmp(what, "waiting")) {
        if (rank == 0)
            MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        kill_waiting(dying);
    }
    if (rank == dying)
        raise(SIGKILL);
    if (!strcmp(what, "accumulating")) {
        ;
    } else if (!strcmp(what, "waiting")) {
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win), "MPI_Win_lock");
        is_loss(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), "MPI_Win_lock");
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
        MPI(MPI_Win_unlock(1, w.win));
    } else if (!strcmp(what, "exclusive")) {
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
