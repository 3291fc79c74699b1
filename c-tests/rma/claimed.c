/* Puts and gets of many pieces of private memory, and accumulates, which a target does itself while it is in MPI, and the origin by the kernel where it
 * is not: each element is in its place either way, and accumulated once, all while both sides do that to each other; a page that is not mapped, or may not be written, is an error of the
 * origin's, also where it was there before. The program defines what the library calls for copies by the kernel, and to have pages provided, so
 * that it can be told who has done a put, and how often the target has asked for its pages. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t transfer(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static long calls;

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
                          unsigned long flags)
{
    static transfer *next;
    if (!next)
        next = (transfer *) dlsym(RTLD_NEXT, "process_vm_writev");
    calls++;
    return next(pid, local, locals, remote, remotes, flags);
}

static long asked;

int madvise(void *address, size_t bytes, int advice)
{
    asked += advice == 23 /* MADV_POPULATE_WRITE */;
    return (int) syscall(SYS_madvise, address, bytes, advice);
}

enum { PAGE = 4096, PAGES = 8, BYTES = PAGES * PAGE, PIECES = 256 };

static char *memory;
static MPI_Win win;
static uint64_t state = 88172645463325252u;

/* Types of many pieces, of all lengths and distances, in order, backwards or at random. */
static MPI_Datatype shape(int which, int *bytes)
{
    static const int lengths[] = {8, 1, 2, 4, 24, 7};
    int length = lengths[which % 6], apart = BYTES / PIECES, each[PIECES];
    MPI_Aint at[PIECES];
    MPI_Datatype type;
    for (int i = 0; i < PIECES; i++) {
        int place = which % 3 == 1 ? PIECES - 1 - i : i;
        at[i] = (MPI_Aint) place * apart + (which % 5 == 4 ? (MPI_Aint) (next_random(&state) % (uint64_t) (apart - length)) : which % 4);
        each[i] = length;
    }
    *bytes = PIECES * length;
    if (which % 5 == 0)
        MPI(MPI_Type_vector(PIECES, length, apart, MPI_BYTE, &type));
    else
        MPI(MPI_Type_create_hindexed(PIECES, each, at, MPI_BYTE, &type));
    MPI(MPI_Type_commit(&type));
    return type;
}

static void begin(void)
{
    MPI_Info info;
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", "no"));
    MPI(MPI_Win_create(memory, BYTES, 1, info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
}

static void end(void)
{
    MPI(MPI_Win_free(&win));
    munmap(memory, BYTES);
}

/* A rank puts, gets what it has put and more, and knows all of it. `origins`: rank 0, while the others are in a barrier, or every rank, to the next one. */
static void compare(int origins, int rounds)
{
    static char model[BYTES], values[PIECES * 24], back[PIECES * 24], all[BYTES];
    begin();
    memset(model, 0, sizeof model);
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    int target = (rank + 1) % size;
    for (int round = 0; round < rounds && rank < origins; round++) {
        int bytes, count, position = 0;
        MPI_Datatype type = shape(round, &bytes);
        for (int i = 0; i < bytes; i++)
            values[i] = (char) next_random(&state);
        count = bytes;
        MPI(MPI_Put(values, count, MPI_BYTE, target, 0, 1, type, win));
        MPI(MPI_Unpack(values, bytes, &position, model, 1, type, MPI_COMM_WORLD));
        memset(back, 0x55, sizeof back);
        MPI(MPI_Win_flush(target, win));
        MPI(MPI_Get(back, count, MPI_BYTE, target, 0, 1, type, win));
        MPI(MPI_Win_flush(target, win));
        CHECK(memcmp(back, values, (size_t) bytes) == 0);
        if (round % 8 == 0) {
            MPI(MPI_Get(all, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, win));
            MPI(MPI_Win_flush(target, win));
            CHECK(memcmp(all, model, BYTES) == 0);
        }
        MPI(MPI_Type_free(&type));
    }
    MPI(MPI_Win_flush_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
    MPI_Status status;
    int source = (rank + size - 1) % size;
    MPI(MPI_Sendrecv(model, BYTES, MPI_BYTE, target, 0, all, BYTES, MPI_BYTE, source, 0, MPI_COMM_WORLD, &status));
    CHECK(memcmp(memory, all, BYTES) == 0);
    MPI(MPI_Win_unlock_all(win));
    end();
}

/* Accumulates of one element to more than a box has room for, with and without results, by rank 0 while the others are in a barrier, or by every rank
 * to any. */
static void accumulates(int origins, int rounds)
{
    enum { CELLS = BYTES / 8, MOST = 4 };
    static const int counts[] = {1, 1, 2, 1, 100, 1024, 3500, 1500};
    static int64_t model[MOST][CELLS], sums[MOST][CELLS], values[CELLS], old[CELLS];
    begin();
    memset(model, 0, sizeof model);
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < rounds && rank < origins; round++) {
        int target = origins == 1 ? 1 % size : (int) (next_random(&state) % (uint64_t) size), count = counts[next_random(&state) % 8];
        int at = (int) (next_random(&state) % (uint64_t) (CELLS - count + 1)), fetches = round % 3 == 0;
        for (int i = 0; i < count; i++)
            values[i] = (int64_t) (next_random(&state) >> 20);
        if (fetches)
            MPI(MPI_Get_accumulate(values, count, MPI_INT64_T, old, count, MPI_INT64_T, target, 8 * at, count, MPI_INT64_T, MPI_SUM, win));
        else
            MPI(MPI_Accumulate(values, count, MPI_INT64_T, target, 8 * at, count, MPI_INT64_T, MPI_SUM, win));
        if (round % 5 != 1)
            MPI(MPI_Win_flush(target, win));
        if (fetches && origins == 1 && round % 5 != 1)
            CHECK(memcmp(old, &model[target][at], 8 * (size_t) count) == 0);
        for (int i = 0; i < count; i++)
            model[target][at + i] += values[i];
        if (fetches || round % 5 == 1)
            MPI(MPI_Win_flush(target, win));
    }
    MPI(MPI_Win_flush_all(win));
    MPI(MPI_Allreduce(model, sums, MOST * CELLS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
    CHECK(memcmp(memory, sums[rank], BYTES) == 0);
    MPI(MPI_Win_unlock_all(win));
    end();
}

/* Puts in a row that wait, then go together. */
static void lists(int rounds)
{
    begin();
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < rounds && rank == 0; round++) {
        int value = round, back;
        for (int i = 0; i < 100; i++)
            MPI(MPI_Put(&value, 1, MPI_INT, 1 % size, i * 40 + i / 50 * 4, 1, MPI_INT, win));
        MPI(MPI_Win_flush(1 % size, win));
        for (int i = 0; i < 100; i++) {
            MPI(MPI_Get(&back, 1, MPI_INT, 1 % size, i * 40 + i / 50 * 4, 1, MPI_INT, win));
            MPI(MPI_Win_flush(1 % size, win));
            CHECK_INT(back, round);
        }
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_unlock_all(win));
    end();
}

/* The cores of all ranks, each of which may be bound to one. */
static int cores;

static void count_cores(void)
{
    cpu_set_t own, all;
    CHECK(sched_getaffinity(0, sizeof own, &own) == 0);
    MPI(MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
    cores = CPU_COUNT(&all);
}

/* Whether the kernel says if memory can be written without writing to it. */
static int can_ask(void)
{
    return madvise(memory, PAGE, 23 /* MADV_POPULATE_WRITE */) == 0;
}

static int threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks))
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Puts so many times at most, so many microseconds apart, until the target has done so many of them: how many it has. */
static int put_by_target(MPI_Datatype type, int bytes, int wanted, int most, useconds_t apart)
{
    static char values[PIECES * 24];
    int done = 0;
    for (int i = 0; i < most && done < wanted; i++) {
        if (apart)
            usleep(apart);
        long before = calls;
        MPI(MPI_Put(values, bytes, MPI_BYTE, 1, 0, 1, type, win));
        MPI(MPI_Win_flush(1, win));
        done += calls == before;
    }
    return done;
}

/* Some of many puts are done by the target, which tests in a loop and has a core: the kernel is not asked for them. */
static void by_target(void)
{
    int bytes;
    begin();
    MPI_Datatype type = shape(0, &bytes);
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1 && size == 2) {
        MPI_Request over;
        int is_over = 0;
        MPI(MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &over));
        while (!is_over)
            MPI(MPI_Test(&over, &is_over, MPI_STATUS_IGNORE));
    } else if (size == 2 && cores == size && can_ask()) {
        CHECK_INT(put_by_target(type, bytes, 3, 1000000, 0), 3);
    }
    if (rank == 0 && size == 2)
        MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Type_free(&type));
    end();
}

/* Begins what two ranks do with puts of many pieces. Whether the target can do them, which both know. */
static int begin_of_two(MPI_Datatype *type, int *bytes)
{
    begin();
    *type = shape(0, bytes);
    MPI(MPI_Win_lock_all(0, win));
    int can = size == 2 && can_ask() && !slow();
    MPI(MPI_Bcast(&can, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    return can;
}

/* A target that has fallen asleep in its wait is woken for puts of many pieces: it does them, or, on a busy machine, comes too late for them, and sleeps
 * again each time. Without that it sleeps on. */
static void woken(void)
{
    enum { PUTS = 320, APART = 2000 /* us, in which it falls asleep */, OFTEN = 8 /* one of 32 is offered at least */ };
    struct rusage before, after;
    int bytes, done = 0;
    MPI_Datatype type;
    int can = begin_of_two(&type, &bytes);
    if (can && rank == 0) {
        done = put_by_target(type, bytes, 3, PUTS, APART);
        MPI(MPI_Send(&done, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else if (can) {
        CHECK(getrusage(RUSAGE_THREAD, &before) == 0);
        MPI(MPI_Recv(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(getrusage(RUSAGE_THREAD, &after) == 0);
        CHECK(done == 3 || after.ru_nvcsw - before.ru_nvcsw >= OFTEN);
    }
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Type_free(&type));
    end();
}

/* Accumulates, where each rank has a core, until the target, which has fallen asleep in a receive, has done some: it is woken when they have cost as much by the kernel, and on a busy
 * machine comes too late, and sleeps again each time. Without that it sleeps on. */
static void accumulated_by_target(int count)
{
    enum { ROUNDS = 400, EACH = 100, APART = 2000 /* us */, OFTEN = 8 };
    static int64_t values[BYTES / 8];
    struct rusage before, after;
    int bytes, done = 0;
    MPI_Datatype type;
    int can = begin_of_two(&type, &bytes) && cores >= size;
    if (can && rank == 0) {
        for (int i = 0; i < ROUNDS && done < 3; i++) {
            usleep(APART);
            for (int k = 0; k < EACH; k++) {
                long written = calls;
                MPI(MPI_Accumulate(values, count, MPI_INT64_T, 1, 0, count, MPI_INT64_T, MPI_SUM, win));
                MPI(MPI_Win_flush(1, win));
                done += calls == written;
            }
        }
        MPI(MPI_Send(&done, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else if (can) {
        CHECK(getrusage(RUSAGE_THREAD, &before) == 0);
        MPI(MPI_Recv(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(getrusage(RUSAGE_THREAD, &after) == 0);
        CHECK(done >= 3 || after.ru_nvcsw - before.ru_nvcsw >= OFTEN);
    }
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Type_free(&type));
    end();
}

/* A target with one thread asks for its pages a few times in a wait, however many puts it does there. Beside other programs it may fall asleep
 * in each: then this shows nothing. */
static void asked_once(void)
{
    enum { MANY = 100, ROUNDS = 50 };
    int bytes, done = 0;
    MPI_Datatype type;
    int can = begin_of_two(&type, &bytes);
    for (int round = 0; can && round < ROUNDS && done < MANY; round++) {
        long before = asked;
        if (rank == 0) {
            done = put_by_target(type, bytes, MANY, 2 * MANY, 0);
            MPI(MPI_Send(&done, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
            continue;
        }
        MPI(MPI_Recv(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (threads() == 1)
            CHECK(asked - before <= 20);
        else
            CHECK(asked - before >= done);
    }
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Type_free(&type));
    end();
}

/* A thread of the target unmaps a page while the target waits, when nobody uses it: the next put to it is an error all the same. */
static void *unmaps(void *unused)
{
    volatile int *told = (volatile int *) (memory + 64);
    while (*told != 1)
        usleep(100);
    CHECK(munmap(memory + 3 * PAGE, PAGE) == 0);
    *told = 2;
    return unused;
}

static void unmapped_by_thread(void)
{
    static char values[PIECES * 24];
    int bytes, class, told = 1;
    pthread_t thread;
    begin();
    MPI_Datatype type = shape(0, &bytes);
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_lock_all(0, win));
    int can = can_ask() && !slow();
    if (rank == 1 && size == 2)
        CHECK(pthread_create(&thread, NULL, unmaps, NULL) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0 && size == 2) {
        if (can)
            put_by_target(type, bytes, 20, 200, 0);
        MPI(MPI_Put(&told, 1, MPI_INT, 1, 64, 1, MPI_INT, win));
        while (told != 2) {
            MPI(MPI_Win_flush(1, win));
            MPI(MPI_Get(&told, 1, MPI_INT, 1, 64, 1, MPI_INT, win));
        }
        for (int i = 0; i < 200; i++) {
            int code = MPI_Put(values, bytes, MPI_BYTE, 1, 0, 1, type, win);
            MPI(MPI_Error_class(code, &class));
            CHECK_INT(class, MPI_ERR_RMA_RANGE);
        }
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1 && size == 2)
        CHECK(pthread_join(thread, NULL) == 0);
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Type_free(&type));
    end();
}

/* A page is gone, or read only, that was there in an earlier wait of the target, which is in MPI and must not be ended by it. */
static void unusable(int gone)
{
    static char values[PIECES * 24];
    static int64_t sums[2000];
    int bytes, class;
    begin();
    MPI_Datatype type = shape(0, &bytes);
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    memset(memory, 7, BYTES);
    MPI(MPI_Win_lock_all(0, win));
    int can = can_ask() && !slow();
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0 && size == 2 && can)
        put_by_target(type, bytes, 20, 200, 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK((gone ? munmap(memory + 3 * PAGE, PAGE) : mprotect(memory + 3 * PAGE, PAGE, PROT_READ)) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 200 && rank == 0 && size > 1; i++) {
        int code = MPI_Put(values, bytes, MPI_BYTE, 1, 0, 1, type, win);
        int flushed = MPI_Win_flush(1, win);
        MPI(MPI_Error_class(code != MPI_SUCCESS ? code : flushed, &class));
        CHECK_INT(class, MPI_ERR_RMA_RANGE);
        code = MPI_Get(values, bytes, MPI_BYTE, 1, 0, 1, type, win);
        MPI(MPI_Error_class(code, &class));
        CHECK_INT(class, gone ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
        static const int counts[] = {1, 512, 2000};
        int count = counts[i % 3];
        code = MPI_Accumulate(sums, count, MPI_INT64_T, 1, 3 * PAGE + 8, count, MPI_INT64_T, MPI_SUM, win);
        flushed = MPI_Win_flush(1, win);
        MPI(MPI_Error_class(code != MPI_SUCCESS ? code : flushed, &class));
        CHECK_INT(class, MPI_ERR_RMA_RANGE);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_unlock_all(win));
    CHECK_INT(memory[7 * PAGE + 100], 7);
    MPI(MPI_Type_free(&type));
    end();
}

/* The ranks share the first core that they may use. */
static void share_core(void)
{
    cpu_set_t may, first;
    int core = 0;
    CHECK(sched_getaffinity(0, sizeof may, &may) == 0);
    while (!CPU_ISSET(core, &may))
        core++;
    CPU_ZERO(&first);
    CPU_SET(core, &first);
    CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "one-core") == 0)
        share_core();
    start(&argc, &argv);
    int rounds = 200;
    state += (uint64_t) rank;
    count_cores();
    compare(1, rounds);
    compare(size, rounds);
    accumulates(1, 4 * rounds);
    accumulates(size, 4 * rounds);
    lists(rounds / 4);
    by_target();
    woken();
    accumulated_by_target(1);
    accumulated_by_target(3000);
    asked_once();
    unmapped_by_thread();
    unusable(1);
    unusable(0);
    return finish();
}
