/* The last rank, of another host than rank 0, is killed: as the holder of a lock there, as one that shares it, before a fence, as a target, with gets
 * under way and the window to be freed, as a target whose lock rank 0 holds or shares. The others, of both hosts, get an error that names window
 * and rank. arg: what. */
#include "dying.h"
#include "lost_rank.h"
#include "process.h"
#include "windows.h"
#include <signal.h>

static void is_loss(int code, const char *function)
{
    IS_LOSS(code, MPIX_ERR_PROC_FAILED, function);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exclusive";
    start(&argc, &argv);
    int last = size - 1;
    int64_t *cells, value = 3, other = 4, got[20] = {-1};
    int process = getpid();
    MPI_Request request;
    MPI_Win win;
    MPI(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win));
    name_window(win);
    if (rank == last && !strcmp(what, "exclusive"))
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    if (rank == last && !strcmp(what, "shared"))
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    if (rank == 0 && !strcmp(what, "held_from_afar"))
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win));
    if (rank == 0 && !strcmp(what, "shared_from_afar"))
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win));
    MPI(MPI_Bcast(&process, 1, MPI_INT, last, MPI_COMM_WORLD));
    if (!strcmp(what, "pending")) {
        got[19] = -1;
        MPI(MPI_Win_lock_all(0, win));
        if (rank == 0)
            MPI(MPI_Win_flush(last, win));
    }
    if (strcmp(what, "pending"))
        before_deaths(MPI_COMM_WORLD, rank == last);
    else
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == last)
        raise(!strcmp(what, "pending") ? SIGSTOP : SIGKILL);
    if (rank == 0 && !strcmp(what, "pending"))
        while (!is_stopped(process))
            rest();
    if (!strcmp(what, "exclusive")) {
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), "MPI_Win_lock");
        is_loss(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), "MPI_Win_lock");
    } else if (!strcmp(what, "shared")) {
        is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), "MPI_Win_lock");
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        MPI(MPI_Put(&value, 1, MPI_INT64_T, 0, rank, 1, MPI_INT64_T, win));
        MPI(MPI_Win_unlock(0, win));
    } else if (!strcmp(what, "fence")) {
        for (int i = 0; i < 3; i++)
            is_loss(MPI_Win_fence(0, win), "MPI_Win_fence");
    } else if (strstr(what, "_from_afar")) {
        /* Its process would have given the lock up. */
        if (rank == last - 1)
            is_loss(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win), "MPI_Win_lock");
        if (rank == last - 1 && !strcmp(what, "held_from_afar"))
            is_loss(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win), "MPI_Win_lock");
    } else if (!strcmp(what, "pending")) {
        if (rank == 0) {
            for (int i = 0; i < 20; i++)
                MPI(MPI_Get(&got[i], 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, win));
            MPI(MPI_Rget(&value, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, win, &request));
            CHECK(kill(process, SIGKILL) == 0);
            is_loss(MPI_Win_flush(last, win), "MPI_Win_flush");
            is_loss(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
            MPI(MPI_Get(got, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, win));
            CHECK(value == 3 && got[0] == -1 && got[19] == -1);
        }
        int code = MPI_Win_unlock_all(win);
        if (rank == 0)
            is_loss(code, "MPI_Win_unlock_all");
        is_loss(MPI_Win_free(&win), "MPI_Win_free");
        end_of_others();
    } else if (rank == 0) {
        /* Until then it can be reached. */
        while (kill(process, 0) == 0)
            rest();
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, last, MPI_MODE_NOCHECK, win));
        MPI(MPI_Put(&value, 1, MPI_INT64_T, last, 1, 1, MPI_INT64_T, win));
        is_loss(MPI_Win_flush(last, win), "MPI_Win_flush");
        MPI(MPI_Get(&value, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, win));
        is_loss(MPI_Win_flush_local(last, win), "MPI_Win_flush_local");
        MPI(MPI_Fetch_and_op(&value, &other, MPI_INT64_T, last, 0, MPI_SUM, win));
        is_loss(MPI_Win_flush_all(win), "MPI_Win_flush_all");
        MPI(MPI_Rget(&value, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, win, &request));
        is_loss(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        CHECK(value == 3 && other == 4);
        MPI(MPI_Win_unlock(last, win));
    }
    /* The locks of others are free. */
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
    MPI(MPI_Win_unlock(1, win));
    end_of_others();
}
