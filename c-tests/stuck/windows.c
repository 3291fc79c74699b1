/* Jobs with windows: epochs and locks in which ranks wait for each other, and such as look like it. The argument names the case. Over several hosts a
 * thread of the library's own answers in each process, whatever its program does. */
#include "../common/check.h"
#include <pthread.h>
#include <time.h>

enum { SECONDS = 4, LARGE = 1 << 18 };

static int small[4], *large, *memory, last;
static MPI_Win window;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void receive(int from)
{
    MPI(MPI_Recv(small, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void barrier(void)
{
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}
static void lock(int target)
{
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window));
}
static void unlock(int target)
{
    MPI(MPI_Win_unlock(target, window));
}
static void put(int target)
{
    MPI(MPI_Put(small, 4, MPI_INT, target, 0, 4, MPI_INT, window));
}
static MPI_Group group_of(int first, int number)
{
    MPI_Group all, some;
    int range[1][3] = {{first, first + number - 1, 1}};
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Group_range_incl(all, 1, range, &some));
    MPI(MPI_Group_free(&all));
    return some;
}

/* Stuck. */

/* The last rank has the lock and waits for a message of rank 0, which wants it. */
static void lock_that_is_kept(void)
{
    if (rank == last)
        lock(0);
    barrier();
    if (rank == last)
        receive(0);
    lock(0);
}
/* Of the last rank's memory, by rank 0. */
static void far_lock_that_is_kept(void)
{
    if (rank == 0)
        lock(last);
    barrier();
    if (rank == 0)
        receive(last);
    lock(last);
}
static void locks_crossed(void)
{
    if (rank == 0)
        lock(0);
    if (rank == last)
        lock(last);
    barrier();
    if (rank == 0)
        lock(last);
    if (rank == last)
        lock(0);
    barrier();
}
static void lock_all_beside_a_lock(void)
{
    if (rank == 0)
        lock(last);
    barrier();
    if (rank == 0)
        receive(last);
    MPI(MPI_Win_lock_all(0, window));
}
static void lock_beside_a_shared_one(void)
{
    if (rank == 0)
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window));
    barrier();
    if (rank == 0)
        receive(last);
    lock(last);
}
static void start_without_post(void)
{
    MPI_Group others = group_of(last, 1);
    if (rank == last)
        receive(0);
    MPI(MPI_Win_start(others, 0, window));
    put(last);
    MPI(MPI_Win_complete(window));
}
static void wait_without_complete(void)
{
    MPI_Group origins = group_of(0, last), target = group_of(last, 1);
    if (rank == last) {
        MPI(MPI_Win_post(origins, 0, window));
        MPI(MPI_Win_wait(window));
    } else {
        MPI(MPI_Win_start(target, 0, window));
        put(last);
        receive(last);
    }
}
static void fence_without_all(void)
{
    MPI(MPI_Win_fence(0, window));
    put(0);
    if (rank == last)
        receive(0);
    MPI(MPI_Win_fence(0, window));
}
static void free_without_all(void)
{
    if (rank == last)
        receive(0);
    MPI(MPI_Win_free(&window));
}
/* Each has been at all others before. */
static void ring_after_accesses(void)
{
    for (int target = 0; target < size; target++) {
        lock(target);
        put(target);
        MPI(MPI_Get(large, LARGE, MPI_INT, target, 0, LARGE, MPI_INT, window));
        unlock(target);
    }
    receive((rank + 1) % size);
}
static void requests_then_a_message(void)
{
    MPI_Request all[2];
    MPI(MPI_Win_lock_all(0, window));
    MPI(MPI_Rput(small, 4, MPI_INT, (rank + 1) % size, 0, 4, MPI_INT, window, &all[0]));
    MPI(MPI_Rget(large, LARGE, MPI_INT, (rank + 1) % size, 0, LARGE, MPI_INT, window, &all[1]));
    MPI(MPI_Waitall(2, all, MPI_STATUSES_IGNORE));
    receive((rank + 1) % size);
}

/* Ranks 1 and 2, while rank 0 goes on. */

static void stay(void)
{
    for (;;)
        pause();
}
static void locks_crossed_beside(void)
{
    if (rank == 0)
        stay();
    lock(rank);
    MPI(MPI_Sendrecv(small, 1, MPI_INT, 3 - rank, 0, small + 1, 1, MPI_INT, 3 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    lock(3 - rank);
}
static void shared_lock_beside(void)
{
    if (rank == 0)
        stay();
    if (rank == 1) {
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
        MPI(MPI_Send(small, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    }
    receive(3 - rank);
    lock(0);
}
static void epoch_beside(void)
{
    if (rank == 0)
        stay();
    if (rank == 2)
        receive(1);
    MPI(MPI_Win_start(group_of(2, 1), 0, window));
    put(2);
    MPI(MPI_Win_complete(window));
}
static void fence_beside(void)
{
    MPI_Comm half;
    MPI_Win of_half;
    int *its;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half));
    MPI(MPI_Win_allocate(sizeof *its, sizeof *its, MPI_INFO_NULL, half, &its, &of_half));
    if (rank == 0)
        stay();
    if (rank == 2)
        receive(1);
    MPI(MPI_Win_fence(0, of_half));
}

/* Going on. */

enum { LATE = 18 };

/* Rank 0 is what ranks 1 and 2 wait for, by a lock. */
static void lock_of_another(void)
{
    if (rank == 0)
        lock(0);
    barrier();
    if (rank == 0)
        sleep(LATE);
    else if (rank == 2) {
        receive(1);
        return;
    } else
        lock(0);
    unlock(0);
    if (rank == 1)
        MPI(MPI_Send(small, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
}
/* Rank 1 had the lock when rank 2 began to wait for it, and rank 0 has it now. */
static void lock_that_is_passed_on(void)
{
    if (rank == 1)
        lock(0);
    barrier();
    if (rank == 0) {
        lock(0);
        sleep(LATE);
        unlock(0);
    } else if (rank == 1) {
        sleep(1);
        unlock(0);
        receive(2);
    } else {
        usleep(300000);
        lock(0);
        unlock(0);
        MPI(MPI_Send(small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
}

static void holder_that_sleeps(void)
{
    if (rank == last)
        lock(0);
    barrier();
    if (rank == last)
        sleep(SECONDS);
    else
        lock(0);
    unlock(0);
}
static void holder_that_polls(void)
{
    int flag = 0;
    if (rank == last)
        lock(0);
    barrier();
    if (rank == last)
        for (double begin = now(); now() - begin < SECONDS;)
            MPI(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    else
        lock(0);
    unlock(0);
}
static void *unlocks_in_thread(void *target)
{
    sleep(SECONDS);
    unlock(*(int *) target);
    return NULL;
}
/* The thread that has to do it is outside of MPI while the other one waits. */
static void holder_in_thread(void)
{
    static int target = 0;
    pthread_t thread;
    if (rank == last)
        lock(target);
    barrier();
    if (rank == last)
        CHECK(!pthread_create(&thread, NULL, unlocks_in_thread, &target));
    else {
        lock(target);
        unlock(target);
    }
    barrier();
    if (rank == last)
        CHECK(!pthread_join(thread, NULL));
}
/* A chain of ranks that wait behind one that sleeps. */
static void message_behind_a_lock(void)
{
    if (rank == 0)
        lock(0);
    barrier();
    if (rank == 0) {
        sleep(SECONDS);
        unlock(0);
    } else {
        if (rank < last)
            receive(rank + 1);
        lock(0);
        unlock(0);
        if (rank > 1)
            MPI(MPI_Send(small, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD));
    }
}
static void target_that_sleeps(void)
{
    if (rank == 0)
        sleep(SECONDS);
    else
        for (int i = 0; i < 3; i++) {
            lock(0);
            put(0);
            unlock(0);
        }
    barrier();
}
static void post_that_comes_late(void)
{
    MPI_Group origins = group_of(0, last), target = group_of(last, 1);
    if (rank == last) {
        sleep(SECONDS);
        MPI(MPI_Win_post(origins, 0, window));
        MPI(MPI_Win_wait(window));
    } else {
        MPI(MPI_Win_start(target, 0, window));
        put(last);
        MPI(MPI_Win_complete(window));
    }
}
static void fence_that_comes_late(void)
{
    MPI(MPI_Win_fence(0, window));
    if (rank == last)
        sleep(SECONDS);
    put(0);
    MPI(MPI_Win_fence(0, window));
}
/* All the others wait, and only their libraries answer. */
static void one_that_accesses(void)
{
    MPI(MPI_Win_lock_all(0, window));
    if (rank == 0)
        for (double begin = now(); now() - begin < SECONDS;)
            for (int target = 1; target < size; target++) {
                MPI(MPI_Get(large, LARGE, MPI_INT, target, 0, LARGE, MPI_INT, window));
                MPI(MPI_Accumulate(large, LARGE, MPI_INT, target, 0, LARGE, MPI_INT, MPI_SUM, window));
                MPI(MPI_Win_flush(target, window));
            }
    barrier();
    MPI(MPI_Win_unlock_all(window));
}
static void locks_in_turn(void)
{
    for (double begin = now(); now() - begin < SECONDS;)
        for (int target = 0; target < size; target++) {
            lock(target);
            put(target);
            unlock(target);
        }
}
/* Epochs all around, in each of which but one rank moves. */
static void epochs_in_turn(void)
{
    MPI_Group left = group_of((rank + size - 1) % size, 1), right = group_of((rank + 1) % size, 1);
    for (int i = 0; i < 200; i++) {
        if (i > 0 || rank > 0) {
            MPI(MPI_Win_post(left, 0, window));
            MPI(MPI_Win_wait(window));
        }
        usleep(SECONDS * 1000000 / 200 / size);
        if (i < 199 || rank < last) {
            MPI(MPI_Win_start(right, 0, window));
            put((rank + 1) % size);
            MPI(MPI_Win_complete(window));
        }
    }
}

enum { ONE, MULTIPLE };
static const struct {
    const char *name;
    void (*call)(void);
    int level;
} table[] = {
#define CASE(name, level) {#name, name, level}
    CASE(lock_that_is_kept, ONE),
    CASE(far_lock_that_is_kept, ONE),
    CASE(locks_crossed, ONE),
    CASE(lock_all_beside_a_lock, ONE),
    CASE(lock_beside_a_shared_one, ONE),
    CASE(start_without_post, ONE),
    CASE(wait_without_complete, ONE),
    CASE(fence_without_all, ONE),
    CASE(free_without_all, ONE),
    CASE(ring_after_accesses, ONE),
    CASE(requests_then_a_message, ONE),
    CASE(locks_crossed_beside, ONE),
    CASE(shared_lock_beside, ONE),
    CASE(epoch_beside, ONE),
    CASE(fence_beside, ONE),
    CASE(lock_of_another, ONE),
    CASE(lock_that_is_passed_on, ONE),
    CASE(holder_that_sleeps, ONE),
    CASE(holder_that_polls, ONE),
    CASE(holder_in_thread, MULTIPLE),
    CASE(message_behind_a_lock, ONE),
    CASE(target_that_sleeps, ONE),
    CASE(post_that_comes_late, ONE),
    CASE(fence_that_comes_late, ONE),
    CASE(one_that_accesses, ONE),
    CASE(locks_in_turn, ONE),
    CASE(epochs_in_turn, ONE),
};

int main(int argc, char **argv)
{
    int at = 0, given;
    if (argc < 2)
        return 1;
    watchdog(argv[0]);
    while (strcmp(table[at].name, argv[1]))
        CHECK(++at < (int) (sizeof table / sizeof *table));
    MPI(MPI_Init_thread(&argc, &argv, table[at].level == MULTIPLE ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &given));
    check_ranks();
    last = size - 1;
    large = calloc(LARGE, sizeof *large);
    MPI(MPI_Win_allocate(LARGE * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    memset(memory, 0, LARGE * sizeof *memory);
    MPI(MPI_Win_set_name(window, "halo"));
    barrier();
    table[at].call();
    barrier();
    MPI(MPI_Win_free(&window));
    free(large);
    return finish();
}
