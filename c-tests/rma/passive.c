/* No operation needs the target: it sleeps outside of MPI, computes, is blocked in a system call, or is stopped by a signal, and
 * goes on only when the origin has done its work and has said so past MPI. Memory of the heap, of malloc, of the stack, static.
 * passive sleep|compute|read|stop */
#include "windows.h"
#include "process.h"
#include <fcntl.h>

enum { BYTES = 1 << 16 };

static char of_program[BYTES];
static char path[256];

/* Requests, elements that need a lock of the library's, shared locks. The target's bytes from 32,000 on. */
static void more_work(const struct window *w, int target)
{
    struct { double value; int index; } pair = {3.5, 4}, seen = {-1, -1};
    long double wide = 2.25L, was = -1;
    int64_t many[200], back[200], old[200];
    MPI_Request requests[2];
    for (int i = 0; i < 200; i++)
        many[i] = i + 1, old[i] = -1;
    MPI(MPI_Rput(many, 200, MPI_INT64_T, target, window_at(w, target, 32000), 200, MPI_INT64_T, w->win, &requests[0]));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(MPI_Win_flush(target, w->win));
    MPI(MPI_Raccumulate(many, 200, MPI_INT64_T, target, window_at(w, target, 32000), 200, MPI_INT64_T, MPI_SUM, w->win, &requests[0]));
    MPI(MPI_Rget_accumulate(many, 200, MPI_INT64_T, old, 200, MPI_INT64_T, target, window_at(w, target, 32000), 200, MPI_INT64_T, MPI_SUM,
                            w->win, &requests[1]));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI(MPI_Fetch_and_op(&pair, &seen, MPI_DOUBLE_INT, target, window_at(w, target, 40000), MPI_MAXLOC, w->win));
    MPI(MPI_Fetch_and_op(&wide, &was, MPI_LONG_DOUBLE, target, window_at(w, target, 41600), MPI_SUM, w->win));
    MPI(MPI_Win_flush_local_all(w->win));
    CHECK(seen.value == 0 && seen.index == 0 && was == 0);
    MPI(MPI_Win_unlock_all(w->win));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    MPI(MPI_Rget(back, 200, MPI_INT64_T, target, window_at(w, target, 32000), 200, MPI_INT64_T, w->win, &requests[0]));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(MPI_Fetch_and_op(NULL, &seen, MPI_DOUBLE_INT, target, window_at(w, target, 40000), MPI_NO_OP, w->win));
    MPI(MPI_Win_unlock(target, w->win));
    MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
    for (int i = 0; i < 200; i++) {
        CHECK_INT(old[i], 2 * (i + 1));
        CHECK_INT(back[i], 3 * (i + 1));
    }
    CHECK(seen.value == 3.5 && seen.index == 4);
}

/* All passive operations; the target's number i is its byte 8 * i. */
static void work(const struct window *w, int target)
{
    int64_t value = 5, result = -1, compare = 12, big[1000], back[1000];
    MPI_Datatype vector;
    MPI(MPI_Put(&value, 1, MPI_INT64_T, target, window_at(w, target, 0), 1, MPI_INT64_T, w->win));
    MPI(MPI_Win_flush(target, w->win));
    MPI(MPI_Accumulate(&value, 1, MPI_INT64_T, target, window_at(w, target, 0), 1, MPI_INT64_T, MPI_SUM, w->win));
    MPI(MPI_Fetch_and_op(&value, &result, MPI_INT64_T, target, window_at(w, target, 8), MPI_SUM, w->win));
    MPI(MPI_Win_flush(target, w->win));
    CHECK_INT(result, 7);
    MPI(MPI_Compare_and_swap(&value, &compare, &result, MPI_INT64_T, target, window_at(w, target, 8), w->win));
    MPI(MPI_Win_flush(target, w->win));
    CHECK_INT(result, 12);
    for (int i = 0; i < 1000; i++)
        big[i] = i;
    MPI(MPI_Put(big, 1000, MPI_INT64_T, target, window_at(w, target, 64), 1000, MPI_INT64_T, w->win));
    MPI(MPI_Win_flush(target, w->win));
    MPI(MPI_Get_accumulate(big, 1000, MPI_INT64_T, back, 1000, MPI_INT64_T, target, window_at(w, target, 64), 1000, MPI_INT64_T, MPI_SUM,
                           w->win));
    MPI(MPI_Win_flush(target, w->win));
    for (int i = 0; i < 1000; i++)
        CHECK_INT(back[i], i);
    MPI(MPI_Type_vector(500, 1, 2, MPI_INT64_T, &vector));
    MPI(MPI_Type_commit(&vector));
    MPI(MPI_Get(back, 500, MPI_INT64_T, target, window_at(w, target, 64), 1, vector, w->win));
    MPI(MPI_Win_flush(target, w->win));
    for (int i = 0; i < 500; i++)
        CHECK_INT(back[i], 4 * i);
    MPI(MPI_Accumulate(big, 500, MPI_INT64_T, target, window_at(w, target, 64), 1, vector, MPI_MAX, w->win));
    MPI(MPI_Win_flush_all(w->win));
    MPI(MPI_Win_unlock_all(w->win));
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    MPI(MPI_Get(&result, 1, MPI_INT64_T, target, window_at(w, target, 0), 1, MPI_INT64_T, w->win));
    MPI(MPI_Win_unlock(target, w->win));
    CHECK_INT(result, 10);
    MPI(MPI_Win_lock_all(0, w->win));
    MPI(MPI_Type_free(&vector));
    more_work(w, target);
}

/* Until the origin has made the file. */
static int is_released(void)
{
    struct stat about;
    return stat(path, &about) == 0;
}

static void release(void)
{
    int made = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(made >= 0);
    close(made);
}

static void one(const struct window *w, const char *how, int number)
{
    int target = 1, process = (int) getpid();
    const char *folder = getenv("TMPDIR"); /* hosts may share this one only */
    snprintf(path, sizeof path, "%s/oxmpi-passive-%d-%d", folder ? folder : "/tmp", process, number);
    MPI(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    MPI(MPI_Bcast(&process, 1, MPI_INT, target, MPI_COMM_WORLD));
    if (rank == 0 && strcmp(how, "read") == 0)
        CHECK(mkfifo(path, 0600) == 0);
    memset(w->base, 0, BYTES);
    ((int64_t *) w->base)[1] = 7;
    window_settle(w);
    /* A lock of the target's own would keep the origin's exclusive one away. */
    if (rank != 0)
        MPI(MPI_Win_unlock_all(w->win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        if (strcmp(how, "stop") == 0) {
            while (!is_stopped(process))
                rest();
            work(w, target);
            kill(process, SIGCONT);
        } else {
            work(w, target);
            if (strcmp(how, "read") == 0) {
                int fifo = open(path, O_WRONLY);
                CHECK(write(fifo, "x", 1) == 1);
                close(fifo);
            } else
                release();
        }
    } else if (rank == target) {
        if (strcmp(how, "sleep") == 0)
            while (!is_released())
                rest();
        else if (strcmp(how, "compute") == 0) {
            volatile double sum = 0;
            for (long i = 1; i % (1 << 20) || !is_released(); i++)
                sum += 1.0 / (double) i;
        } else if (strcmp(how, "read") == 0) {
            char byte;
            int fifo = open(path, O_RDONLY);
            CHECK(read(fifo, &byte, 1) == 1);
            close(fifo);
        } else
            raise(SIGSTOP);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(path);
    else
        MPI(MPI_Win_lock_all(0, w->win));
    window_settle(w);
    if (rank == target) {
        int64_t *cells = (int64_t *) w->base;
        CHECK_INT(cells[0], 10);
        CHECK_INT(cells[1], 5);
        for (int i = 0; i < 1000; i++)
            CHECK_INT(cells[8 + i], 2 * i);
    }
    window_settle(w);
}

/* A window over memory that the library did not give out. */
static void over(char *memory, const char *how, int number)
{
    struct window w = {MPI_WIN_NULL, PRIVATE, memory, BYTES, 1, NULL};
    MPI(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
    MPI(MPI_Win_lock_all(0, w.win));
    one(&w, how, number);
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Win_free(&w.win));
}

int main(int argc, char **argv)
{
    char of_stack[BYTES] __attribute__((aligned(16)));
    start(&argc, &argv);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_make(kind, BYTES, 1);
        one(&w, argv[1], kind);
        window_free(&w);
    }
    over(of_program, argv[1], 10);
    over(of_stack, argv[1], 11);
    return finish();
}
