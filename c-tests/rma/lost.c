/* The last rank is killed: as the holder of a lock, as one that shares it (of one target or of all) or waits for it, before a fence, between
 * post and wait, as an origin that has not started, has not completed, or has. The others get an error that names window and rank, within
 * each call that depends on it. arg: what. */
#include "lost_rank.h"
#include "shared_window.h"
#include "process.h"

static struct window w;

static void is_loss(int code, const char *function)
{
    IS_LOSS(code, MPIX_ERR_PROC_FAILED, function);
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

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exclusive";
    start(&argc, &argv);
    int dying = size - 1;
    make_window(&w, MPI_COMM_WORLD, 4);
    name_window(w.win);
    MPI_Group last = group_of(MPI_COMM_WORLD, 1, &dying), others = all_but_the_last();
    if (rank == dying && !strcmp(what, "exclusive"))
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    if (rank == dying && !strcmp(what, "shared"))
        MPI(MPI_Win_lock_all(0, w.win));
    if (rank == dying && !strcmp(what, "shares_one"))
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    if (rank == dying && !strcmp(what, "target"))
        MPI(MPI_Win_post(others, 0, w.win));
    int has_started = !strcmp(what, "started"), has_completed = !strcmp(what, "completed");
    if (has_started || has_completed) {
        if (rank != dying)
            MPI(MPI_Win_post(last, 0, w.win));
        else {
            MPI(MPI_Win_start(others, 0, w.win));
            for (int r = 0; r < dying; r++)
                MPI(MPI_Put(&(long){7}, 1, MPI_LONG, r, 0, 1, MPI_LONG, w.win));
            if (has_completed)
                MPI(MPI_Win_complete(w.win));
        }
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (!strcmp(what, "waiting")) {
        if (rank == 0)
            MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        kill_waiting(dying);
    }
    if (rank == dying)
        raise(SIGKILL);
    if (!strcmp(what, "waiting")) {
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
    } else if (!strcmp(what, "shares_one")) {
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win), "MPI_Win_lock");
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        MPI(MPI_Win_unlock(0, w.win));
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
        MPI(MPI_Win_unlock(1, w.win));
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
    } else if (has_completed) {
        MPI(MPI_Win_wait(w.win));
        CHECK_INT((int) w.of[rank][0], 7);
        MPI(MPI_Win_post(last, 0, w.win));
        is_loss(MPI_Win_wait(w.win), "MPI_Win_wait");
    } else if (!strcmp(what, "polled")) {
        int code, over = 0;
        MPI(MPI_Win_post(last, 0, w.win));
        while ((code = MPI_Win_test(w.win, &over)) == MPI_SUCCESS && !over)
            ;
        is_loss(code, "MPI_Win_test");
        ERROR(MPI_Win_test(w.win, &over), MPI_ERR_RMA_SYNC, "MPI_Win_post", NULL);
    } else {
        if (!has_started)
            MPI(MPI_Win_post(last, 0, w.win));
        is_loss(MPI_Win_wait(w.win), "MPI_Win_wait");
        ERROR(MPI_Win_wait(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post", NULL);
    }
    end_of_others();
}
