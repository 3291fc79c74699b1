/* Operations with a result do not wait for each other: rank 0 begins up to 30 of them while their target, the last rank, is stopped, and its results are
 * there after flush, flush_local, unlock, fence, complete or the wait for a request. Types are freed meanwhile. Between hosts; on one it shows
 * the same results. */
#include "windows.h"
#include "process.h"
#include <signal.h>
#include <sys/mman.h>

enum { CALLS = 20, CELLS = 200 };

static int far, target;
static int process;

static void stop(void)
{
    CHECK(kill(process, SIGSTOP) == 0);
    while (!is_stopped(process))
        rest();
}

static void resume(void)
{
    CHECK(kill(process, SIGCONT) == 0);
}

/* Begins operations of every kind while the target is stopped, and lets it go on. Cell i of the target is 1000 + i before. */
struct results {
    int64_t got[CALLS], added[CALLS], fetched[CALLS], swapped[CALLS], requested[CALLS], apart[2 * CALLS];
    MPI_Request requests[CALLS];
};

static void begin(struct results *r, const struct window *w, int with_requests)
{
    MPI_Datatype every_second;
    int64_t one = 1, value, compare;
    int flag;
    memset(r, -1, sizeof *r);
    MPI(MPI_Type_vector(CALLS, 1, 2, MPI_INT64_T, &every_second));
    MPI(MPI_Type_commit(&every_second));
    stop();
    for (int i = 0; i < CALLS; i++) {
        /* Each result has a cell of its own. */
        MPI(MPI_Get(&r->got[i], 1, MPI_INT64_T, target, window_at(w, target, 8 * i), 1, MPI_INT64_T, w->win));
        if (i < 3) {
            MPI(MPI_Fetch_and_op(&one, &r->fetched[i], MPI_INT64_T, target, window_at(w, target, 8 * (40 + i)), MPI_SUM, w->win));
            MPI(MPI_Get_accumulate(&one, 1, MPI_INT64_T, &r->added[i], 1, MPI_INT64_T, target, window_at(w, target, 8 * (80 + i)), 1,
                                   MPI_INT64_T, MPI_SUM, w->win));
        }
    }
    value = -5, compare = 1120;
    MPI(MPI_Compare_and_swap(&value, &compare, &r->swapped[0], MPI_INT64_T, target, window_at(w, target, 8 * 120), w->win));
    if (!with_requests) {
        /* One call's data, in pieces here. */
        MPI(MPI_Get(r->apart, 1, every_second, target, window_at(w, target, 0), CALLS, MPI_INT64_T, w->win));
    } else {
        MPI(MPI_Rget(r->apart, 1, every_second, target, window_at(w, target, 0), CALLS, MPI_INT64_T, w->win, &r->requests[0]));
        MPI(MPI_Test(&r->requests[0], &flag, MPI_STATUS_IGNORE));
        if (far)
            CHECK(!flag);
        MPI(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &r->requested[1], 1, MPI_INT64_T, target, window_at(w, target, 8 * 160), 1, MPI_INT64_T,
                                MPI_SUM, w->win, &r->requests[1]));
        if (far)
            CHECK(r->requests[1] != MPI_REQUEST_NULL);
    }
    if (far)
        CHECK(r->got[0] == -1 && r->fetched[0] == -1 && r->added[0] == -1 && r->swapped[0] == -1 && r->apart[0] == -1);
    MPI(MPI_Type_free(&every_second));
    resume();
}

/* `turn`: calls of begin before. */
static void check(const struct results *r, int turn)
{
    for (int i = 0; i < CALLS; i++) {
        CHECK_INT(r->got[i], 1000 + i);
        CHECK_INT(r->apart[2 * i], 1000 + i);
        CHECK_INT(r->apart[2 * i + 1], -1);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_INT(r->fetched[i], 1040 + i + turn);
        CHECK_INT(r->added[i], 1080 + i + turn);
    }
    CHECK_INT(r->swapped[0], turn ? -5 : 1120);
}

static void passive(enum window_kind kind)
{
    struct window w = window_make(kind, 8 * CELLS, 8);
    struct results r;
    if (rank == target)
        for (int i = 0; i < CELLS; i++)
            ((int64_t *) w.base)[i] = 1000 + i;
    window_settle(&w);
    if (rank == 0) {
        /* A connection is not made while the target is stopped. */
        MPI(MPI_Get(&r.got[0], 1, MPI_INT64_T, target, window_at(&w, target, 0), 1, MPI_INT64_T, w.win));
        MPI(MPI_Win_flush(target, w.win));
        CHECK_INT(r.got[0], 1000);
        begin(&r, &w, 0);
        MPI(MPI_Win_flush(target, w.win));
        check(&r, 0);
        begin(&r, &w, 0);
        MPI(MPI_Win_flush_local(target, w.win));
        check(&r, 1);
        begin(&r, &w, 0);
        MPI(MPI_Win_flush_all(w.win));
        check(&r, 2);
        begin(&r, &w, 0);
        MPI(MPI_Win_flush_local_all(w.win));
        check(&r, 3);
        begin(&r, &w, 1);
        MPI(MPI_Waitall(2, r.requests, MPI_STATUSES_IGNORE));
        CHECK_INT(r.requested[1], 1160);
        /* Theirs were the last calls, so all others are there. */
        MPI(MPI_Win_flush_local(target, w.win));
        check(&r, 4);
        begin(&r, &w, 1);
        MPI(MPI_Win_flush(target, w.win));
        check(&r, 5);
        CHECK_INT(r.requested[1], 1161);
        MPI(MPI_Waitall(2, r.requests, MPI_STATUSES_IGNORE));
        begin(&r, &w, 0);
        MPI(MPI_Win_unlock_all(w.win));
        check(&r, 6);
        MPI(MPI_Win_lock_all(0, w.win));
        MPI(MPI_Win_unlock_all(w.win));
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, MPI_MODE_NOCHECK, w.win));
        begin(&r, &w, 0);
        MPI(MPI_Win_unlock(target, w.win));
        check(&r, 7);
        MPI(MPI_Win_lock_all(0, w.win));
    }
    window_free(&w);
}

/* The origin's calls are under way when its epoch ends with the others'. */
static void active(void)
{
    int64_t cells[CELLS], first = -1;
    struct results r;
    struct window w = {MPI_WIN_NULL, PRIVATE, (char *) cells, sizeof cells, 8, NULL};
    MPI_Group world, one;
    for (int i = 0; i < CELLS; i++)
        cells[i] = 1000 + i;
    MPI(MPI_Win_create(cells, sizeof cells, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
    MPI(MPI_Win_fence(0, w.win));
    if (rank == 0)
        begin(&r, &w, 0);
    MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    if (rank == 0)
        check(&r, 0);
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (rank == target && rank != 0) {
        int origin = 0;
        MPI(MPI_Group_incl(world, 1, &origin, &one));
        MPI(MPI_Win_post(one, 0, w.win));
        MPI(MPI_Win_wait(w.win));
        CHECK_INT(cells[40], 1042);
        MPI(MPI_Group_free(&one));
    } else if (rank == 0) {
        MPI(MPI_Group_incl(world, 1, &target, &one));
        MPI(MPI_Win_start(one, 0, w.win));
        /* Waits for the post, not for its data. */
        MPI(MPI_Get(&first, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, w.win));
        begin(&r, &w, 0);
        MPI(MPI_Win_complete(w.win));
        check(&r, 1);
        CHECK_INT(first, 1000);
        MPI(MPI_Group_free(&one));
    }
    MPI(MPI_Group_free(&world));
    MPI(MPI_Win_free(&w.win));
}

/* What the target finds out is an error of the request, else of the call that synchronises; each is told once. */
static void errors(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *base = mmap(NULL, (size_t) page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t value = -1;
    MPI_Request request;
    MPI_Win win;
    MPI(MPI_Win_create(base, page, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_lock_all(0, win));
    if (rank == target)
        CHECK(munmap(base, (size_t) page) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0 && far) {
        MPI(MPI_Rget(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win, &request));
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
        CHECK(request == MPI_REQUEST_NULL);
        MPI(MPI_Win_flush(target, win));
        MPI(MPI_Get(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win));
        CHECK_CLASS(MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE);
        MPI(MPI_Win_flush(target, win));
        CHECK_INT(value, -1);
        /* A request that nobody waits for. */
        MPI(MPI_Rget(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win, &request));
        MPI(MPI_Request_free(&request));
        MPI(MPI_Win_flush(target, win));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Win_free(&win));
    if (rank != target)
        munmap(base, (size_t) page);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    process = getpid();
    target = size - 1;
    far = !share_memory(MPI_COMM_WORLD);
    MPI(MPI_Bcast(&process, 1, MPI_INT, target, MPI_COMM_WORLD));
    const char *rma = getenv("OXMPI_FABRIC_RMA");
    if (size > 1) {
        passive(ALLOCATED);
        passive(PRIVATE);
        passive(ELEMENTS);
        active();
        /* A provider need not survive the loss of memory that it has registered. */
        if (!rma || strcmp(rma, "yes"))
            errors();
    }
    return finish();
}
