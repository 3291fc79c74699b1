/* Epochs that are begun or ended at the wrong time, and wrong arguments of the calls that do so: each has its class and text, and none
 * changes anything, so that the epochs that follow work. */
#include "shared_window.h"
#include "wrong.h"

static struct window w;

/* Epochs of all kinds work, by all ranks. */
static void works(void)
{
    static long round;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Group to = group_of(MPI_COMM_WORLD, 1, &next), from = group_of(MPI_COMM_WORLD, 1, &before);
    round++;
    MPI(MPI_Win_fence(0, w.win));
    w.of[next][0] = round;
    MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    CHECK_INT(w.of[rank][0], round);
    MPI(MPI_Win_post(from, 0, w.win));
    MPI(MPI_Win_start(to, 0, w.win));
    w.of[next][1] = round;
    MPI(MPI_Win_complete(w.win));
    MPI(MPI_Win_wait(w.win));
    CHECK_INT(w.of[rank][1], round);
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    w.of[0][2]++;
    MPI(MPI_Win_unlock(0, w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock_all(0, w.win));
    CHECK_INT(w.of[0][2], round * size);
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
}

static void nothing_is_open(void)
{
    int flag;
    ERROR(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC, "target rank 0", NULL);
    ERROR(MPI_Win_unlock_all(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all", NULL);
    ERROR(MPI_Win_complete(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start", NULL);
    ERROR(MPI_Win_wait(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post", NULL);
    ERROR(MPI_Win_test(w.win, &flag), MPI_ERR_RMA_SYNC, "MPI_Win_post", NULL);
    ERROR(MPI_Win_flush(0, w.win), MPI_ERR_RMA_SYNC, "target rank 0", NULL);
    ERROR(MPI_Win_flush_local(0, w.win), MPI_ERR_RMA_SYNC, "target rank 0", NULL);
    ERROR(MPI_Win_flush_all(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock", NULL);
    ERROR(MPI_Win_flush_local_all(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock", NULL);
}

static void locked(MPI_Group own)
{
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC, "rank=0", "locked by this process");
    ERROR(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win), MPI_ERR_RMA_SYNC, "rank=0", "locked by this process");
    ERROR(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock has begun", NULL);
    ERROR(MPI_Win_unlock_all(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all", NULL);
    ERROR(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock has begun", NULL);
    ERROR(MPI_Win_start(own, 0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock has begun", NULL);
    ERROR(MPI_Win_complete(w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start", NULL);
    ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock", NULL);
    if (size > 1) {
        ERROR(MPI_Win_flush(1, w.win), MPI_ERR_RMA_SYNC, "target rank 1", NULL);
        ERROR(MPI_Win_unlock(1, w.win), MPI_ERR_RMA_SYNC, "target rank 1", NULL);
        ERROR(MPI_Win_flush_local(1, w.win), MPI_ERR_RMA_SYNC, "target rank 1", NULL);
    }
    MPI(MPI_Win_flush(0, w.win));
    MPI(MPI_Win_flush_all(w.win));
    MPI(MPI_Win_unlock(0, w.win));

    MPI(MPI_Win_lock_all(0, w.win));
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all has begun", NULL);
    ERROR(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all has begun", NULL);
    ERROR(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC, "target rank 0", NULL);
    ERROR(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all has begun", NULL);
    ERROR(MPI_Win_start(own, 0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all has begun", NULL);
    ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all", NULL);
    MPI(MPI_Win_flush(size - 1, w.win));
    MPI(MPI_Win_unlock_all(w.win));
}

static void started(MPI_Group own)
{
    MPI(MPI_Win_post(own, 0, w.win));
    ERROR(MPI_Win_post(own, 0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post has begun", NULL);
    ERROR(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post has begun", NULL);
    ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "MPI_Win_post", NULL);
    MPI(MPI_Win_start(own, 0, w.win));
    ERROR(MPI_Win_start(own, 0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start has begun", NULL);
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start has begun", NULL);
    ERROR(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start has begun", NULL);
    ERROR(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start has begun", NULL);
    ERROR(MPI_Win_flush(0, w.win), MPI_ERR_RMA_SYNC, "target rank 0", NULL);
    ERROR(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC, "MPI_Win_start", NULL);
    MPI(MPI_Win_complete(w.win));
    MPI(MPI_Win_wait(w.win));
}

static void wrong_arguments(MPI_Group own)
{
    ERROR(MPI_Win_lock(17, 0, 0, w.win), MPI_ERR_LOCKTYPE, "lock_type", "17");
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, w.win), MPI_ERR_RANK, "rank", number(size));
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, -5, 0, w.win), MPI_ERR_RANK, "rank", "-5");
    ERROR(MPI_Win_unlock(size, w.win), MPI_ERR_RANK, "rank", number(size));
    ERROR(MPI_Win_flush(size, w.win), MPI_ERR_RANK, "rank", number(size));
    ERROR(MPI_Win_flush_local(-7, w.win), MPI_ERR_RANK, "rank", "-7");
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 3, w.win), MPI_ERR_ASSERT, "assert", "3");
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, w.win), MPI_ERR_ASSERT, "MPI_MODE_NOPUT", number(MPI_MODE_NOPUT));
    ERROR(MPI_Win_lock_all(MPI_MODE_NOSTORE, w.win), MPI_ERR_ASSERT, "MPI_MODE_NOSTORE", number(MPI_MODE_NOSTORE));
    ERROR(MPI_Win_fence(MPI_MODE_NOCHECK, w.win), MPI_ERR_ASSERT, "MPI_MODE_NOCHECK", number(MPI_MODE_NOCHECK));
    ERROR(MPI_Win_fence(-1, w.win), MPI_ERR_ASSERT, "assert", "-1");
    ERROR(MPI_Win_start(own, MPI_MODE_NOPUT, w.win), MPI_ERR_ASSERT, "MPI_MODE_NOPUT", number(MPI_MODE_NOPUT));
    ERROR(MPI_Win_post(own, MPI_MODE_NOPRECEDE, w.win), MPI_ERR_ASSERT, "MPI_MODE_NOPRECEDE", number(MPI_MODE_NOPRECEDE));
    ERROR(MPI_Win_start(MPI_GROUP_NULL, 0, w.win), MPI_ERR_GROUP, "group", "MPI_GROUP_NULL");
    ERROR(MPI_Win_post(MPI_GROUP_NULL, 0, w.win), MPI_ERR_GROUP, "group", "MPI_GROUP_NULL");
    nothing_is_open();
}

static void wrong_windows(MPI_Group own)
{
    int flag;
    ERROR(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_post(own, 0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_start(own, 0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_complete(MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_wait(MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_test(MPI_WIN_NULL, &flag), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_unlock(0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_lock_all(0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_unlock_all(MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_flush(0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_flush_all(MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_flush_local(0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_flush_local_all(MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Win_sync(MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
}

/* A window of the even ranks: rank 1 is outside. */
static void group_outside(void)
{
    MPI_Comm half;
    struct window v;
    int one = 1;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    make_window(&v, half, 1);
    MPI_Win_set_errhandler(v.win, MPI_ERRORS_RETURN);
    MPI_Group outside = group_of(MPI_COMM_WORLD, 1, &one), own = group_of(MPI_COMM_WORLD, 1, &rank);
    if (rank % 2 == 0) {
        ERROR(MPI_Win_start(outside, 0, v.win), MPI_ERR_GROUP, "group", "rank 1 of MPI_COMM_WORLD");
        ERROR(MPI_Win_post(outside, 0, v.win), MPI_ERR_GROUP, "group", "rank 1 of MPI_COMM_WORLD");
    }
    MPI(MPI_Win_post(own, 0, v.win));
    MPI(MPI_Win_start(own, 0, v.win));
    MPI(MPI_Win_complete(v.win));
    MPI(MPI_Win_wait(v.win));
    MPI(MPI_Win_free(&v.win));
    MPI(MPI_Group_free(&outside));
    MPI(MPI_Group_free(&own));
    MPI(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    MPI_Group own = group_of(MPI_COMM_WORLD, 1, &rank);
    make_window(&w, MPI_COMM_WORLD, 4);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        nothing_is_open();
        works();
        locked(own);
        works();
        started(own);
        works();
        wrong_arguments(own);
        wrong_windows(own);
        works();
    }
    if (size > 1)
        group_outside();
    MPI(MPI_Group_free(&own));
    MPI(MPI_Win_free(&w.win));
    return finish();
}
