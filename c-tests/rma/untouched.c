/* Memory of MPI_Alloc_mem and of windows that nobody touches is not allocated; what is given back is allocated again with its pages, without a
 * look at the system's memory; windows begin as zeros; ranks reach memory of MPI_Alloc_mem directly in windows. */
#define _GNU_SOURCE
#include "check.h"
#include "node_memory.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MB = 1 << 20, LARGE = 256 * MB, OFTEN = 2000 };

/* Files about the memory of the system that were opened. */
static long looks;

static int opened(const char *function, const char *path, int flags, mode_t mode)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, function);
    if (strncmp(path, "/sys/fs/cgroup", 14) == 0 || strcmp(path, "/proc/meminfo") == 0)
        looks++;
    return real(path, flags, mode);
}

#define OPEN(name)                                  \
    int name(const char *path, int flags, ...)      \
    {                                               \
        va_list list;                               \
        va_start(list, flags);                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                               \
        return opened(#name, path, flags, mode);    \
    }

OPEN(open)
OPEN(open64)

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void nothing_is_allocated(void)
{
    char *memory, *base, *shared;
    MPI_Win win, together;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    long long before = allocated();
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &memory));
    MPI(MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI(MPI_Win_allocate_shared(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &together));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(allocated() - before < 16 * MB);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    /* Others touch it, too. */
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, LARGE - 4096, 1, MPI_INT, win));
    MPI(MPI_Win_fence(0, win));
    CHECK_INT(*(int *) (void *) (base + LARGE - 4096), (rank + size - 1) % size);
    CHECK_INT(base[LARGE / 2], 0);
    memory[0] = memory[LARGE - 1] = shared[LARGE - 1] = 1;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(allocated() - before < 16 * MB);
    MPI(MPI_Win_free(&win));
    MPI(MPI_Win_free(&together));
    MPI(MPI_Free_mem(memory));
}

/* Not where another tool has pages of its own. */
static void pages_come_back(void)
{
    char *memory;
    MPI_Win win;
    enum { BYTES = 16 * MB, PAGES = BYTES / 4096 };
    for (int round = 0; round < 4; round++) {
        long before = faults();
        MPI(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory));
        memset(memory, round, BYTES);
        MPI(MPI_Free_mem(memory));
        CHECK(round == 0 || slow() || faults() - before < PAGES / 8);
        before = faults();
        MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        for (int i = 0; i < BYTES; i += slow() ? 4096 : 64)
            CHECK_INT(memory[i], 0);
        memset(memory, 100 + round, BYTES);
        MPI(MPI_Win_free(&win));
        CHECK(round == 0 || slow() || faults() - before < PAGES / 8);
    }
}

static void looks_are_few(void)
{
    MPI_Aint sizes[] = {100, 20000, MB};
    for (int i = 0; i < 3; i++) {
        long before = looks;
        for (int j = 0; j < OFTEN; j++) {
            char *memory[3];
            for (int k = 0; k < 3; k++) {
                MPI(MPI_Alloc_mem(sizes[i] + k, MPI_INFO_NULL, &memory[k]));
                memory[k][0] = 1;
            }
            for (int k = 0; k < 3; k++)
                MPI(MPI_Free_mem(memory[k]));
        }
        CHECK(looks - before < OFTEN);
    }
}

/* In a window of MPI_Win_create others have addresses of it. */
static void windows_are_direct(void)
{
    MPI_Aint sizes[] = {64, 20000, 3 * MB}, bytes;
    for (int i = 0; i < 3; i++) {
        char *memory, *there = NULL;
        int unit, next = (rank + 1) % size;
        MPI_Win win;
        MPI(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &memory));
        memset(memory, 0, (size_t) sizes[i]);
        MPI(MPI_Win_create(memory, sizes[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        MPI(MPI_Win_shared_query(win, next, &bytes, &unit, &there));
        CHECK(there != NULL && bytes == sizes[i]);
        if (there)
            there[sizes[i] - 1] = (char) (rank + 1);
        MPI(MPI_Win_fence(0, win));
        CHECK_INT(memory[sizes[i] - 1], (rank + size - 1) % size + 1);
        MPI(MPI_Win_free(&win));
        MPI(MPI_Free_mem(memory));
    }
}

static void too_much(void)
{
    char *memory;
    CHECK_CLASS(MPI_Alloc_mem((MPI_Aint) 10 << 40, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
    MPI(MPI_Alloc_mem(20000, MPI_INFO_NULL, &memory));
    MPI(MPI_Free_mem(memory));
    CHECK_CLASS(MPI_Free_mem(memory), MPI_ERR_BASE);
}

/* A child of a fork gets memory of its own, and gives nothing back that is its parent's. */
static void forked(void)
{
    char *memory, *other;
    int status = -1;
    MPI(MPI_Alloc_mem(20000, MPI_INFO_NULL, &other));
    memset(other, 1, 20000);
    MPI(MPI_Alloc_mem(20000, MPI_INFO_NULL, &memory));
    MPI(MPI_Free_mem(memory));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (MPI_Alloc_mem(20000, MPI_INFO_NULL, &memory) != MPI_SUCCESS)
            _exit(1);
        memset(memory, 2, 20000);
        MPI_Free_mem(memory);
        MPI_Free_mem(other);
        _exit(7);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    for (int i = 0; i < 20000; i++)
        CHECK_INT(other[i], 1);
    MPI(MPI_Alloc_mem(20000, MPI_INFO_NULL, &memory));
    CHECK(memory != other);
    MPI(MPI_Free_mem(memory));
    MPI(MPI_Free_mem(other));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    nothing_is_allocated();
    pages_come_back();
    looks_are_few();
    windows_are_direct();
    too_much();
    forked();
    return finish();
}
