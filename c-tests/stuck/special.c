/* Single cases: circles, threads, requests that the program completes, children, jobs of one rank. The argument names the case; mpiexec has to call
 * some of them stuck, and must not do so with the others. */
#include "../common/check.h"
#include <pthread.h>
#include <time.h>

enum { SECONDS = 4, LARGE = 1 << 20 };

static int small[4], *large, right, left;
static MPI_Comm comms[2];
static char *program;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void receive(int from, int tag, MPI_Comm comm)
{
    MPI(MPI_Recv(small, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
}

/* Each waits for its neighbour. */
static void ring_of_receives(void)
{
    receive(right, 0, MPI_COMM_WORLD);
}
static void ring_of_sends(void)
{
    MPI(MPI_Ssend(small, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    receive(left, 0, MPI_COMM_WORLD);
}
static void ring_of_large_sends(void)
{
    MPI(MPI_Send(large, LARGE, MPI_INT, right, 0, MPI_COMM_WORLD));
    MPI(MPI_Recv(large, LARGE, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void ring_of_probes(void)
{
    MPI(MPI_Probe(right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void receive_of_oneself(void)
{
    receive(rank, 0, MPI_COMM_WORLD);
}
static void ssend_to_oneself(void)
{
    MPI(MPI_Ssend(small, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
}
static void receive_in_self(void)
{
    receive(0, 0, MPI_COMM_SELF);
}
static void probe_in_self(void)
{
    MPI(MPI_Probe(0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}
/* Two communicators in two orders. */
static void barriers_crossed(void)
{
    MPI(MPI_Barrier(comms[rank == 0]));
    MPI(MPI_Barrier(comms[rank != 0]));
}
static void bcasts_crossed(void)
{
    for (int i = 0; i < 2; i++)
        MPI(MPI_Bcast(small, 1, MPI_INT, (rank == 0) == i, comms[(rank == 0) == i]));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}
static void barrier_and_receive(void)
{
    if (rank == 0)
        receive(1, 7, MPI_COMM_WORLD);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}
static void dups_crossed(void)
{
    MPI_Comm made;
    if (rank == 0)
        MPI(MPI_Comm_split(comms[0], 0, 0, &made));
    else
        MPI(MPI_Comm_split(comms[1], 0, 0, &made));
    MPI(MPI_Comm_free(&made));
}
/* One is done; the others wait for each other. */
static void circle_beside_finalize(void)
{
    if (rank > 0)
        receive(rank == 1 ? 2 : 1, 0, MPI_COMM_WORLD);
}
static void any_source(void)
{
    MPI(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void waitall_of_many(void)
{
    MPI_Request all[20];
    for (int i = 0; i < 20; i++)
        MPI(MPI_Irecv(small, 1, MPI_INT, right, i, MPI_COMM_WORLD, &all[i]));
    for (int i = 0; i < 19; i++)
        MPI(MPI_Send(small, 1, MPI_INT, left, i, MPI_COMM_WORLD));
    MPI(MPI_Waitall(20, all, MPI_STATUSES_IGNORE));
}
static void waitany_of_many(void)
{
    MPI_Request all[20];
    int at;
    for (int i = 0; i < 20; i++)
        MPI(MPI_Irecv(small, 1, MPI_INT, right, i, MPI_COMM_WORLD, &all[i]));
    MPI(MPI_Waitany(20, all, &at, MPI_STATUS_IGNORE));
}
static void partitioned(void)
{
    MPI_Request request;
    MPI(MPI_Precv_init(small, 4, 1, MPI_INT, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    MPI(MPI_Start(&request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void operations_of_two_orders(void)
{
    MPI_Request all[2];
    MPI(MPI_Ibarrier(comms[0], &all[0]));
    if (rank == 0)
        receive(1, 0, MPI_COMM_WORLD);
    MPI(MPI_Ibarrier(comms[1], &all[1]));
    MPI(MPI_Waitall(2, all, MPI_STATUSES_IGNORE));
    if (rank == 1)
        MPI(MPI_Send(small, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
}
static void two_locks(void)
{
    MPI_Win windows[2];
    void *memory;
    for (int i = 0; i < 2; i++)
        MPI(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[i]));
    if (rank < 2)
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[rank]));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank < 2)
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[1 - rank]));
    for (int i = 0; i < 2; i++) {
        if (rank < 2)
            MPI(MPI_Win_unlock(0, windows[i]));
        MPI(MPI_Win_free(&windows[i]));
    }
}

/* Threads. */

static void *receives_in_thread(void *tag)
{
    receive(right, *(int *) tag, MPI_COMM_WORLD);
    return NULL;
}
static void threads_that_all_wait(void)
{
    pthread_t threads[2];
    int tags[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, receives_in_thread, &tags[i]);
    receive(right, 3, MPI_COMM_WORLD);
}
static void *sends_late(void *unused)
{
    (void) unused;
    sleep(SECONDS);
    MPI(MPI_Send(small, 1, MPI_INT, left, 3, MPI_COMM_WORLD));
    return NULL;
}
static void thread_that_sleeps(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sends_late, NULL);
    receive(right, 3, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}
static void *sends_when_told(void *unused)
{
    receive(left, 1, comms[0]);
    return sends_late(unused);
}
static void thread_that_waits_then_sleeps(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sends_when_told, NULL);
    MPI(MPI_Send(small, 1, MPI_INT, right, 1, comms[0]));
    receive(right, 3, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}
static volatile int go_on = 1;
static void *computes(void *unused)
{
    while (go_on)
        usleep(1000);
    return unused;
}
/* Which may not call MPI. */
static void computing_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, computes, NULL);
    receive(right, 3, MPI_COMM_WORLD);
}
static void threads_that_go_one_after_the_other(void)
{
    pthread_t threads[10];
    static int tags[10];
    for (int i = 0; i < 10; i++) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, receives_in_thread, &tags[i]);
    }
    for (int i = 0; i < 10; i++) {
        usleep(SECONDS * 100000);
        MPI(MPI_Send(small, 1, MPI_INT, left, i, MPI_COMM_WORLD));
    }
    for (int i = 0; i < 10; i++)
        pthread_join(threads[i], NULL);
}

/* Requests that the program completes. */

static int query(void *state, MPI_Status *status)
{
    (void) state;
    MPI(MPI_Status_set_elements(status, MPI_BYTE, 0));
    return MPI_SUCCESS;
}
static int release(void *state)
{
    (void) state;
    return MPI_SUCCESS;
}
static int cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}
static MPI_Request generalized;
static void *completes_late(void *unused)
{
    sleep(SECONDS);
    MPI(MPI_Grequest_complete(generalized));
    return unused;
}
static void generalized_request(void)
{
    pthread_t thread;
    MPI_Request all[2];
    MPI(MPI_Grequest_start(query, release, cancel, NULL, &generalized));
    all[0] = generalized;
    all[1] = MPI_REQUEST_NULL;
    pthread_create(&thread, NULL, completes_late, NULL);
    MPI(MPI_Waitall(2, all, MPI_STATUSES_IGNORE));
    pthread_join(thread, NULL);
}

/* Children and other jobs. */

static void spawned_child_sleeps(void)
{
    MPI_Comm child;
    char *arguments[] = {"child", NULL};
    MPI(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE));
    if (rank == 0)
        receive(0, 5, child);
    MPI(MPI_Comm_disconnect(&child));
}
static void child(void)
{
    MPI_Comm parent;
    MPI(MPI_Comm_get_parent(&parent));
    sleep(SECONDS);
    MPI(MPI_Send(small, 1, MPI_INT, 0, 5, parent));
    MPI(MPI_Comm_disconnect(&parent));
}
static char port[MPI_MAX_PORT_NAME];
static void port_that_waits(void)
{
    MPI_Comm connected;
    if (rank == 0)
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank == 0) {
        MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &connected));
    } else if (rank == 1) {
        sleep(SECONDS);
        MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &connected));
    }
    if (rank < 2)
        MPI(MPI_Comm_disconnect(&connected));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* Some ranks beside rank 0, which takes its time outside of MPI, more than mpiexec has patience with those that are stuck: for ever, where they are,
 * for nobody else could say when the time is over. */
static void stay(void)
{
    for (;;)
        pause();
}
static void pair_beside(void)
{
    if (rank == 0 || rank > 2)
        stay();
    receive(3 - rank, 0, MPI_COMM_WORLD);
}
static void pair_and_one_more_beside(void)
{
    if (rank == 0)
        stay();
    else if (rank < 3)
        MPI(MPI_Ssend(small, 1, MPI_INT, 3 - rank, 0, MPI_COMM_WORLD));
    else
        MPI(MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void oneself_beside(void)
{
    if (rank == 1)
        receive(1, 0, MPI_COMM_WORLD);
    stay();
}
static void barrier_beside(void)
{
    MPI_Comm half;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half));
    if (rank == 0)
        stay();
    if (rank == 1)
        receive(1, 0, half);
    MPI(MPI_Barrier(half));
}
static void threads_beside(void)
{
    if (rank == 0)
        stay();
    pthread_t thread;
    int tag = 1;
    right = 3 - rank;
    pthread_create(&thread, NULL, receives_in_thread, &tag);
    receive(right, 3, MPI_COMM_WORLD);
}

enum { LATE = 18 };

/* Each of ranks 1 and 2 waits for the other, which has a task that rank 0 keeps waiting. */
static void task_of_another(void)
{
    MPI_Request request;
    if (rank == 0)
        sleep(LATE);
    MPI(MPI_Ibcast(large, LARGE, MPI_INT, 0, MPI_COMM_WORLD, &request));
    if (rank == 1)
        receive(2, 0, MPI_COMM_WORLD);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (rank == 2)
        MPI(MPI_Send(small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
}
static void help_of_another(void)
{
    if (rank == 0) {
        sleep(LATE);
        MPI(MPI_Send(small, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        receive(2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        receive(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD);
        MPI(MPI_Send(small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
}
static void one_of_two_requests(void)
{
    MPI_Request all[2];
    int at;
    if (rank == 0) {
        sleep(LATE);
        MPI(MPI_Send(small, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        receive(2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI(MPI_Irecv(small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &all[0]));
        MPI(MPI_Irecv(small + 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &all[1]));
        MPI(MPI_Waitany(2, all, &at, MPI_STATUS_IGNORE));
        CHECK_INT(at, 1);
        MPI(MPI_Cancel(&all[0]));
        MPI(MPI_Wait(&all[0], MPI_STATUS_IGNORE));
        MPI(MPI_Send(small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
}
/* What rank 1 sends to rank 0 takes up its room for messages to others. */
static void room_of_another(void)
{
    enum { MANY = 40 };
    MPI_Request all[MANY];
    if (rank == 0)
        sleep(LATE);
    for (int i = 0; i < MANY && rank < 2; i++) {
        if (rank == 0)
            MPI(MPI_Recv(large, LARGE, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        else
            MPI(MPI_Isend(large, LARGE, MPI_INT, 0, 0, MPI_COMM_WORLD, &all[i]));
    }
    if (rank == 1) {
        MPI(MPI_Send(large, LARGE, MPI_INT, 2, 0, MPI_COMM_WORLD));
        receive(2, 0, MPI_COMM_WORLD);
        MPI(MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE));
    } else if (rank == 2) {
        MPI(MPI_Recv(large, LARGE, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Send(small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
}
static void *helps_late(void *unused)
{
    sleep(LATE);
    MPI(MPI_Send(small, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    return unused;
}
/* A thread of rank 2 is outside of MPI. */
static void thread_of_a_pair(void)
{
    pthread_t thread;
    if (rank == 0)
        sleep(LATE + 2);
    if (rank == 1) {
        receive(2, 1, MPI_COMM_WORLD);
        MPI(MPI_Send(small, 1, MPI_INT, 2, 2, MPI_COMM_WORLD));
    } else if (rank == 2) {
        pthread_create(&thread, NULL, helps_late, NULL);
        receive(1, 2, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    }
}

/* A program that does much, a little at a time, with waits that look long. */
static void slow_ring(void)
{
    for (double end = now() + SECONDS; now() < end;) {
        int go = now() < end - 0.5;
        if (rank == 0) {
            usleep(30000);
            MPI(MPI_Send(&go, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
            receive(left, 0, MPI_COMM_WORLD);
        } else {
            MPI(MPI_Recv(&go, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Send(&go, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
        }
        if (!go)
            break;
    }
}
static void slow_tasks(void)
{
    MPI_Request request;
    for (int i = 0; i < 40; i++) {
        MPI(MPI_Iallreduce(large, large + LARGE / 2, LARGE / 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request));
        if (i % size == rank)
            usleep(SECONDS * 25000);
        MPI(MPI_Barrier(comms[i % 2]));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}
static void finalize_late(void)
{
    if (rank == 0)
        sleep(SECONDS);
}
static void init_late(void)
{
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

enum { ONE, MULTIPLE };
static const struct {
    const char *name;
    void (*call)(void);
    int level;
} table[] = {
#define CASE(name, level) {#name, name, level}
    CASE(ring_of_receives, ONE),
    CASE(ring_of_sends, ONE),
    CASE(ring_of_large_sends, ONE),
    CASE(ring_of_probes, ONE),
    CASE(receive_of_oneself, ONE),
    CASE(ssend_to_oneself, ONE),
    CASE(receive_in_self, ONE),
    CASE(probe_in_self, ONE),
    CASE(barriers_crossed, ONE),
    CASE(bcasts_crossed, ONE),
    CASE(barrier_and_receive, ONE),
    CASE(dups_crossed, ONE),
    CASE(circle_beside_finalize, ONE),
    CASE(any_source, ONE),
    CASE(waitall_of_many, ONE),
    CASE(waitany_of_many, ONE),
    CASE(partitioned, ONE),
    CASE(operations_of_two_orders, ONE),
    CASE(two_locks, ONE),
    CASE(threads_that_all_wait, MULTIPLE),
    CASE(computing_thread, ONE),
    CASE(thread_that_sleeps, MULTIPLE),
    CASE(thread_that_waits_then_sleeps, MULTIPLE),
    CASE(threads_that_go_one_after_the_other, MULTIPLE),
    CASE(generalized_request, MULTIPLE),
    CASE(spawned_child_sleeps, ONE),
    CASE(child, ONE),
    CASE(port_that_waits, ONE),
    CASE(pair_beside, ONE),
    CASE(pair_and_one_more_beside, ONE),
    CASE(oneself_beside, ONE),
    CASE(barrier_beside, ONE),
    CASE(threads_beside, MULTIPLE),
    CASE(task_of_another, ONE),
    CASE(help_of_another, ONE),
    CASE(one_of_two_requests, ONE),
    CASE(room_of_another, ONE),
    CASE(thread_of_a_pair, MULTIPLE),
    CASE(slow_ring, ONE),
    CASE(slow_tasks, ONE),
    CASE(finalize_late, ONE),
    CASE(init_late, ONE),
};

int main(int argc, char **argv)
{
    int at = 0, given;
    if (argc < 2)
        return 1;
    program = argv[0];
    watchdog(argv[0]);
    while (strcmp(table[at].name, argv[1]))
        CHECK(++at < (int) (sizeof table / sizeof *table));
    const char *seat = getenv("PMI_RANK");
    if (table[at].call == init_late && seat && atoi(seat) == 0)
        sleep(SECONDS);
    MPI(MPI_Init_thread(&argc, &argv, table[at].level == MULTIPLE ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &given));
    check_ranks();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    large = calloc(LARGE, sizeof *large);
    for (int i = 0; i < 2; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    MPI(MPI_Comm_set_name(comms[0], "first"));
    MPI(MPI_Comm_set_name(comms[1], "second"));
    table[at].call();
    for (int i = 0; i < 2; i++)
        MPI(MPI_Comm_free(&comms[i]));
    free(large);
    if (table[at].call == child) {
        MPI(MPI_Finalize());
        return 0;
    }
    return finish();
}
