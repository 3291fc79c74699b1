/* Each call on windows with a process that has died, for each kind of window: what needs the dead ends with MPIX_ERR_PROC_FAILED, what might not need it ends with that or
 * without an error, and what does not need it works. None hangs. The memory of the dead may still be there; nothing is said about what is in it. Arguments: how the
 * last rank dies. */
#include "failing.h"
#include "windows.h"

enum { LONGS = 16, BYTES = LONGS * 8 };
/* Each of them is good for one kind of epoch: an error may be for good. */
enum use { PASSIVE, ALL, FENCES, STARTS, POSTS, LIVES, USES };
static const char *use_names[] = {"passive", "all", "fences", "starts", "posts", "lives"};
static struct window windows[WINDOW_KINDS][USES];
static const struct window *w;
static MPI_Win win;
static enum use use;
static int next, before;

/* Whether the call has succeeded, which it may. */
static int ends(const char *call, int code)
{
    int class = code == MPI_SUCCESS ? MPI_SUCCESS : check_class_of(code);
    if (class != MPI_SUCCESS && class != MPIX_ERR_PROC_FAILED)
        check_failed(__FILE__, __LINE__, "%s, %s: error class %d of %s", window_names[w->kind], use_names[use], class, call);
    return class == MPI_SUCCESS;
}
#define ENDS(call) ends(#call, call)

static void needs(const char *call, int code)
{
    int class = code == MPI_SUCCESS ? MPI_SUCCESS : check_class_of(code);
    if (class != MPIX_ERR_PROC_FAILED)
        check_failed(__FILE__, __LINE__, "%s, %s: error class %d of %s", window_names[w->kind], use_names[use], class, call);
}
#define NEEDS(call) needs(#call, call)

static void requested(const char *call, int code, MPI_Request *request)
{
    if (ends(call, code))
        ends(call, MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK(code != MPI_SUCCESS || *request == MPI_REQUEST_NULL);
}
#define REQUESTED(call) requested(#call, call, &request)

/* Each operation; to one that lives none fails. */
static void operate(int target)
{
    /* Results come until the epoch ends. */
    static long out[LONGS], in[LONGS], one = 1, zero = 0;
    MPI_Aint at = window_at(w, target, 0);
    MPI_Request request = MPI_REQUEST_NULL;
    int good = 1;
    good &= ENDS(MPI_Put(out, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, win));
    good &= ENDS(MPI_Get(in, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, win));
    good &= ENDS(MPI_Accumulate(out, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, MPI_SUM, win));
    good &= ENDS(MPI_Get_accumulate(out, LONGS, MPI_LONG, in, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, MPI_SUM, win));
    good &= ENDS(MPI_Fetch_and_op(&one, in, MPI_LONG, target, at, MPI_SUM, win));
    good &= ENDS(MPI_Compare_and_swap(&one, &zero, in, MPI_LONG, target, at, win));
    if (use == PASSIVE || use == ALL) {
        REQUESTED(MPI_Rput(out, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, win, &request));
        REQUESTED(MPI_Rget(in, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, win, &request));
        REQUESTED(MPI_Raccumulate(out, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, MPI_SUM, win, &request));
        REQUESTED(MPI_Rget_accumulate(out, LONGS, MPI_LONG, in, LONGS, MPI_LONG, target, at, LONGS, MPI_LONG, MPI_SUM, win, &request));
        good &= ENDS(MPI_Win_flush_local(target, win));
        good &= ENDS(MPI_Win_flush(target, win));
    }
    if (target != last && !good)
        check_failed(__FILE__, __LINE__, "%s, %s: an operation on rank %d fails, which lives", window_names[w->kind], use_names[use], target);
}

static void passive(void)
{
    for (int type = 0; type < 2; type++) {
        int lock = type ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        if (ENDS(MPI_Win_lock(lock, last, 0, win))) {
            operate(last);
            ENDS(MPI_Win_flush_all(win));
            ENDS(MPI_Win_flush_local_all(win));
            ENDS(MPI_Win_unlock(last, win));
        }
        MPI(MPI_Win_lock(lock, next, 0, win));
        operate(next);
        MPI(MPI_Win_flush_all(win));
        MPI(MPI_Win_unlock(next, win));
    }
    MPI(MPI_Win_sync(win));
}

static void all(void)
{
    if (!ENDS(MPI_Win_lock_all(0, win)))
        return;
    operate(next);
    operate(last);
    operate(next);
    ENDS(MPI_Win_flush_all(win));
    ENDS(MPI_Win_flush_local_all(win));
    ENDS(MPI_Win_unlock_all(win));
}

static void fences(void)
{
    for (int i = 0; i < 3; i++)
        NEEDS(MPI_Win_fence(0, win));
}

static MPI_Group only(int one)
{
    MPI_Group world, group;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_incl(world, 1, &one, &group));
    MPI(MPI_Group_free(&world));
    return group;
}

static void starts(void)
{
    MPI_Group group = only(last);
    for (int i = 0; i < 2; i++) {
        int code = MPI_Win_start(group, 0, win);
        if (code == MPI_SUCCESS) {
            operate(last);
            code = MPI_Win_complete(win);
        }
        /* It has not posted. */
        needs("MPI_Win_start or MPI_Win_complete", code);
    }
    MPI(MPI_Group_free(&group));
}

static void posts(void)
{
    MPI_Group group = only(last);
    int flag = 0, code = MPI_SUCCESS;
    if (ENDS(MPI_Win_post(group, 0, win)))
        NEEDS(MPI_Win_wait(win));
    if (ENDS(MPI_Win_post(group, 0, win))) {
        while (code == MPI_SUCCESS && !flag)
            code = MPI_Win_test(win, &flag);
        needs("MPI_Win_test", code);
    }
    MPI(MPI_Group_free(&group));
}

/* Epochs among those that live. */
static void lives(void)
{
    MPI_Group to = only(next), from = only(before);
    for (int i = 0; i < 3; i++) {
        MPI(MPI_Win_post(from, 0, win));
        MPI(MPI_Win_start(to, 0, win));
        operate(next);
        MPI(MPI_Win_complete(win));
        MPI(MPI_Win_wait(win));
    }
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
}

static void (*const in[USES])(void) = {passive, all, fences, starts, posts, lives};

static void check_new_ones(void)
{
    MPI_Comm left;
    MPI_Win new;
    long *base, me, value = 0;
    int ranks, r;
    MPI(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    MPI(MPI_Comm_rank(left, &r));
    MPI(MPI_Comm_size(left, &ranks));
    MPI(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, left, &base, &new));
    me = r;
    MPI(MPI_Win_fence(0, new));
    MPI(MPI_Put(&me, 1, MPI_LONG, (r + 1) % ranks, 0, 1, MPI_LONG, new));
    MPI(MPI_Win_fence(0, new));
    CHECK_INT(*base, (r + ranks - 1) % ranks);
    MPI(MPI_Barrier(left));
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, new));
    MPI(MPI_Fetch_and_op(&me, &value, MPI_LONG, 0, 0, MPI_SUM, new));
    MPI(MPI_Win_unlock(0, new));
    MPI(MPI_Win_free(&new));
    MPI(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    start_failing(&argc, &argv);
    next = (rank + 1) % last, before = (rank + last - 1) % last;
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        for (int i = 0; i < USES; i++) {
            windows[kind][i] = window_make((enum window_kind) kind, BYTES, 8);
            MPI(MPI_Win_unlock_all(windows[kind][i].win));
            MPI(MPI_Win_set_errhandler(windows[kind][i].win, MPI_ERRORS_RETURN));
        }
    last_is_dead(argv[1]);
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        for (int i = 0; i < USES; i++) {
            w = &windows[kind][i], win = w->win, use = (enum use) i;
            in[i]();
        }
    check_new_ones();
    for (int kind = 0; kind < WINDOW_KINDS; kind++)
        for (int i = 0; i < USES; i++) {
            w = &windows[kind][i], use = (enum use) i;
            if (w->kind == DYNAMIC)
                MPI(MPI_Win_detach(w->win, w->base));
            ENDS(MPI_Win_free(&windows[kind][i].win));
        }
    return finish();
}
