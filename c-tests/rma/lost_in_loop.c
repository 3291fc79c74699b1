/* The last rank is killed at any moment of a loop of synchronisation or accumulates, in which the others take part. Each of their calls
 * does its work or tells of the loss, and none waits for ever. arg: what. */
#define _GNU_SOURCE
#include "lost_rank.h"
#include "shared_window.h"
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { LONGS = 16 << 10, TURNS_AFTER = 100 };

static struct window w;
static MPI_Group last, others;
static int dying_pid;

static void die(int signal)
{
    (void) signal;
    raise(SIGKILL);
}

/* The moment is any: nothing depends on it but which of the cases is met. */
static void die_soon(void)
{
    struct itimerval soon = {{0, 0}, {0, 1000 + getpid() % 64 * 200}};
    if (signal(SIGALRM, die) == SIG_ERR || setitimer(ITIMER_REAL, &soon, NULL) != 0)
        exit(2);
}

/* Calls of the others are expected to work, or to fail by the loss. */
static int fails(int code, int class, const char *function)
{
    if (code != MPI_SUCCESS)
        IS_LOSS(code, class, function);
    return code != MPI_SUCCESS;
}

/* Ranks take turns under exclusive and shared locks. */
static int turn_of_locks(int i)
{
    int exclusive = (i + rank) % 3 == 0;
    if (fails(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w.win), MPIX_ERR_PROC_FAILED, "MPI_Win_lock"))
        return 0;
    CHECK_INT((int) (w.of[0][0] - w.of[0][1]), 0);
    if (exclusive) {
        w.of[0][0]++;
        w.of[0][1]++;
    }
    MPI(MPI_Win_unlock(0, w.win));
    return 1;
}

static int turn_of_accumulates(int i)
{
    static long one[LONGS];
    (void) i;
    return !fails(MPI_Accumulate(one, LONGS, MPI_LONG, 0, 0, LONGS, MPI_LONG, MPI_SUM, w.win), MPIX_ERR_PROC_FAILED, "MPI_Accumulate");
}

static int turn_of_fences(int i)
{
    (void) i;
    return !fails(MPI_Win_fence(0, w.win), MPIX_ERR_PROC_FAILED, "MPI_Win_fence");
}

static int turn_of_target(int i)
{
    (void) i;
    MPI(MPI_Win_post(rank == size - 1 ? others : last, 0, w.win));
    return !fails(MPI_Win_wait(w.win), MPIX_ERR_PROC_FAILED, "MPI_Win_wait");
}

static int turn_of_origin(int i)
{
    long value = i;
    MPI_Group targets = rank == size - 1 ? others : last;
    int code = MPI_Win_start(targets, 0, w.win), first = rank == size - 1 ? 0 : size - 1, count = rank == size - 1 ? size - 1 : 1;
    if (fails(code, MPIX_ERR_PROC_FAILED, "MPI_Win_start"))
        return 0;
    for (int r = first; r < first + count; r++)
        MPI(MPI_Put(&value, 1, MPI_LONG, r, rank, 1, MPI_LONG, w.win));
    return !fails(MPI_Win_complete(w.win), MPIX_ERR_PROC_FAILED, "MPI_Win_complete");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "fences";
    start(&argc, &argv);
    int is_dying = rank == size - 1, dying = size - 1;
    /* These cannot go on without the rank. */
    int depends = strcmp(what, "locks") && strcmp(what, "accumulates");
    make_window(&w, MPI_COMM_WORLD, LONGS);
    name_window(w.win);
    last = group_of(MPI_COMM_WORLD, 1, &dying);
    others = all_but_the_last();
    dying_pid = (int) getpid();
    MPI(MPI_Bcast(&dying_pid, 1, MPI_INT, dying, MPI_COMM_WORLD));
    int (*turn)(int) = turn_of_fences;
    if (!strcmp(what, "locks"))
        turn = turn_of_locks;
    else if (!strcmp(what, "accumulates"))
        turn = turn_of_accumulates;
    else if (!strcmp(what, "target"))
        turn = is_dying ? turn_of_target : turn_of_origin;
    else if (!strcmp(what, "origin"))
        turn = is_dying ? turn_of_origin : turn_of_target;
    if (turn == turn_of_accumulates)
        MPI(MPI_Win_lock_all(0, w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (is_dying)
        die_soon();
    int i = 0, left = TURNS_AFTER, goes_on = 1;
    while (goes_on && left > 0) {
        goes_on = turn(i++);
        if (!depends && !is_dying && kill(dying_pid, 0) != 0)
            left--;
    }
    CHECK(!depends || !goes_on);
    if (!goes_on)
        for (int j = 0; j < 3 && turn != turn_of_locks; j++)
            CHECK_INT(turn(i++), 0);
    end_of_others();
}
