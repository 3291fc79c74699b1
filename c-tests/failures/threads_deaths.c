/* The last rank dies while threads of all others are in different calls: receives from anybody and named ones, collective operations in both forms,
 * partitioned messages, windows, files, agreements. Each thread is told; then they revoke what they have, agree and shrink at the same time, and go
 * on with what is left. */
#include "failing.h"
#include "threads.h"
#include <stdatomic.h>

enum { CALLS = 8, STEPS = 4000, BYTES = 3000 };
static MPI_Comm of_thread[CALLS];
static MPI_Win win;
static MPI_File file;
static atomic_int begun;
static char data[CALLS][2 * BYTES];

/* An error that a death or a revocation explains; else the program ends. */
static int fails(int code, const char *what)
{
    int class = code ? check_class_of(code) : MPI_SUCCESS;
    if (class == MPI_SUCCESS)
        return 0;
    if (class == MPI_ERR_IN_STATUS || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED)
        return 1;
    check_failed(__FILE__, __LINE__, "error class %d of %s", class, what);
    return 1;
}

#define FAILS(call) fails(call, #call)

/* Each calls until it fails. */
static void in_any(MPI_Comm comm, char *mine)
{
    MPI_Request request;
    for (int i = 0; i < STEPS; i++) {
        int next = (rank + 1) % size;
        if (FAILS(MPI_Isend(mine, 100, MPI_CHAR, next, i, comm, &request)))
            return;
        int failed = FAILS(MPI_Recv(mine + BYTES, 100, MPI_CHAR, MPI_ANY_SOURCE, i, comm, MPI_STATUS_IGNORE));
        if (failed)
            MPI(MPIX_Comm_revoke(comm));
        failed |= FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (failed)
            return;
    }
}

static void in_waitall(MPI_Comm comm, char *mine)
{
    for (int i = 0; i < STEPS; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status statuses[2];
        if (FAILS(MPI_Irecv(mine + BYTES, BYTES, MPI_CHAR, (rank + size - 1) % size, 1, comm, &requests[0])))
            return;
        if (FAILS(MPI_Isend(mine, BYTES, MPI_CHAR, (rank + 1) % size, 1, comm, &requests[1]))) {
            FAILS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
            return;
        }
        if (FAILS(MPI_Waitall(2, requests, statuses))) {
            /* One of them may still wait for a process that lives, which has given up. */
            MPI(MPIX_Comm_revoke(comm));
            FAILS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
            FAILS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            return;
        }
    }
}

static void in_allreduce(MPI_Comm comm, char *mine)
{
    for (int i = 0; i < STEPS; i++)
        if (FAILS(MPI_Allreduce(mine, mine + BYTES, i % BYTES, MPI_BYTE, MPI_BXOR, comm)))
            return;
}

static void in_ialltoall(MPI_Comm comm, char *mine)
{
    MPI_Request request;
    for (int i = 0; i < STEPS; i++)
        if (FAILS(MPI_Ialltoall(mine, 20, MPI_BYTE, mine + BYTES, 20, MPI_BYTE, comm, &request)) || FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE)))
            return;
}

static void in_partitions(MPI_Comm comm, char *mine)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int failed = 0;
    if (FAILS(MPI_Psend_init(mine, 4, 100, MPI_CHAR, (rank + 1) % size, 0, comm, MPI_INFO_NULL, &requests[0])))
        return;
    if (FAILS(MPI_Precv_init(mine + BYTES, 4, 100, MPI_CHAR, (rank + size - 1) % size, 0, comm, MPI_INFO_NULL, &requests[1]))) {
        MPI(MPI_Request_free(&requests[0]));
        return;
    }
    for (int i = 0; i < STEPS && !failed; i++) {
        MPI(MPI_Startall(2, requests));
        failed = FAILS(MPI_Pready_range(0, 3, requests[0]));
        failed |= FAILS(MPI_Waitall(2, requests, statuses));
    }
    MPI(MPIX_Comm_revoke(comm));
    FAILS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    FAILS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&requests[0]));
    MPI(MPI_Request_free(&requests[1]));
}

static void in_win(MPI_Comm comm, char *mine)
{
    (void) comm;
    for (int i = 0; i < STEPS; i++)
        if (FAILS(MPI_Win_fence(0, win)) || FAILS(MPI_Put(mine, 8, MPI_BYTE, (rank + 1) % size, 8, 8, MPI_BYTE, win)))
            return;
}

static void in_file(MPI_Comm comm, char *mine)
{
    (void) comm;
    for (int i = 0; i < STEPS; i++)
        if (FAILS(MPI_File_write_at_all(file, rank * 100, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE)))
            return;
}

static void in_agree(MPI_Comm comm, char *mine)
{
    (void) mine;
    for (int i = 0; i < STEPS; i++) {
        int flag = ~(1 << rank);
        int failed = FAILS(MPIX_Comm_agree(comm, &flag));
        CHECK(failed || flag == (int) (~0u << size));
        if (failed)
            return;
    }
}

static void (*const in[CALLS])(MPI_Comm, char *) = {in_any, in_waitall, in_allreduce, in_ialltoall, in_partitions, in_win, in_file, in_agree};

static void *run(void *argument)
{
    int me = (int) (intptr_t) argument, flag = 1, left, one = 1, sum = 0;
    MPI_Comm comm = of_thread[me], new;
    begun++;
    in[me](comm, data[me]);
    /* On a fast machine the calls are over before it dies. */
    while (rank == last)
        pause();
    /* The others of this call may wait for this thread. */
    MPI(MPIX_Comm_revoke(comm));
    MPI(MPIX_Comm_failure_ack(comm));
    FAILS(MPIX_Comm_agree(comm, &flag));
    CHECK_INT(flag, 1);
    MPI(MPIX_Comm_shrink(comm, &new));
    MPI(MPI_Comm_size(new, &left));
    CHECK_INT(left, size - 1);
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, new));
    CHECK_INT(sum, size - 1);
    MPI(MPI_Comm_free(&new));
    MPI(MPI_Comm_free(&of_thread[me]));
    return NULL;
}

static void *kill_later(void *argument)
{
    while (begun < CALLS)
        usleep(500);
    usleep(1000 * (int) (intptr_t) argument);
    raise(SIGKILL);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[200], *base;
    int pid = getpid();
    pthread_t killer;
    start_multiple(&argc, &argv);
    last = size - 1;
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(path, sizeof path, "%s/oxmpi-threads-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", pid);
    for (int i = 0; i < CALLS; i++) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]));
        MPI(MPI_Comm_set_errhandler(of_thread[i], MPI_ERRORS_RETURN));
    }
    MPI(MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        CHECK_INT(unlink(path), 0);
    if (rank == last)
        CHECK(!pthread_create(&killer, NULL, kill_later, (void *) (intptr_t) atoi(argv[1])));
    run_threads(CALLS, run);
    /* It has a member that has died: errors are allowed, and it is not used any more. */
    MPI_File_close(&file);
    MPI_Win_free(&win);
    return finish();
}
