/* Operations of a thread wait at the origin, and another thread has them done: a flush of the first thread returns when they are. The program defines the
 * library's call for copies by the kernel, in which the second thread stays until the first one has had time to return too early. */
#define _GNU_SOURCE
#include "threads.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <time.h>

typedef ssize_t transfer(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

enum { ROUNDS = 20, TURNS = 100 };

static MPI_Win win;
static atomic_int holds, is_inside, has_returned;

static void hold(void)
{
    if (!atomic_load(&holds))
        return;
    struct timespec turn = {.tv_nsec = 200000};
    atomic_store(&is_inside, 1);
    for (int i = 0; i < TURNS && !atomic_load(&has_returned); i++)
        nanosleep(&turn, NULL);
    CHECK(!atomic_load(&has_returned));
    atomic_store(&holds, 0);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
                         unsigned long flags)
{
    hold();
    return ((transfer *) dlsym(RTLD_NEXT, "process_vm_readv"))(pid, local, locals, remote, remotes, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
                          unsigned long flags)
{
    hold();
    return ((transfer *) dlsym(RTLD_NEXT, "process_vm_writev"))(pid, local, locals, remote, remotes, flags);
}

static void *flush(void *unused)
{
    (void) unused;
    MPI(MPI_Win_flush(1, win));
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Info info;
    char access[20] = "";
    int is_there;
    int64_t cells[2] = {41, 42};
    start_multiple(&argc, &argv);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", "no"));
    MPI(MPI_Win_create(cells, sizeof cells, 8, info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Win_get_info(win, &info));
    MPI(MPI_Info_get(info, "oxmpi_private_access", sizeof access - 1, access, &is_there));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Win_lock_all(0, win));
    for (int round = 0; round < ROUNDS && rank == 0 && strcmp(access, "kernel") == 0; round++) {
        pthread_t other;
        int64_t found[3] = {0, 0, 0};
        /* The first one goes at once. */
        for (int i = 0; i < 3; i++)
            MPI(MPI_Get(&found[i], 1, MPI_INT64_T, 1, i % 2, 1, MPI_INT64_T, win));
        atomic_store(&is_inside, 0);
        atomic_store(&has_returned, 0);
        atomic_store(&holds, 1);
        CHECK(pthread_create(&other, NULL, flush, NULL) == 0);
        while (!atomic_load(&is_inside)) {
        }
        MPI(round % 2 ? MPI_Win_flush(1, win) : MPI_Win_flush_local_all(win));
        atomic_store(&has_returned, 1);
        CHECK_INT(found[0], 41);
        CHECK_INT(found[1], 42);
        CHECK_INT(found[2], 41);
        CHECK(pthread_join(other, NULL) == 0);
    }
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_free(&win));
    return finish();
}
