/* Jobs that have spawned others: parents and children that wait for each other, and such as look like it. The first argument names the case, which
 * children get, too. */
#include "../common/spawned.h"
#include "../common/threads.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { SECONDS = 4 };

static int small[4];
static const char *name;
static char *words[3];
/* The other side, and both. */
static MPI_Comm other = MPI_COMM_NULL, both = MPI_COMM_NULL;

static void receive(int from, int tag, MPI_Comm comm)
{
    MPI(MPI_Recv(small, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
}

static void send(int to, int tag, MPI_Comm comm)
{
    MPI(MPI_Send(small, 1, MPI_INT, to, tag, comm));
}

static void barrier(MPI_Comm comm)
{
    MPI(MPI_Barrier(comm));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void compute(void)
{
    static volatile double x;
    for (double end = now() + SECONDS; now() < end;)
        x += 1;
}

static void merge(void)
{
    MPI(MPI_Intercomm_merge(other, is_child, &both));
}

/* Stuck. */
static void parent_waits(void)
{
    if (rank == 0)
        receive(0, is_child ? 8 : 7, other);
    else
        barrier(MPI_COMM_WORLD);
}
static void child_waits(void)
{
    if (is_child)
        receive(0, 8, other);
    barrier(other);
}
static void merge_of_one_side(void)
{
    if (is_child)
        receive(0, 8, other);
    merge();
}
static void bcast_without_root(void)
{
    if (!is_child && rank == 0)
        receive(0, 7, other);
    MPI(MPI_Bcast(small, 1, MPI_INT, is_child ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other));
    barrier(other);
}
static void children_among_themselves(void)
{
    if (is_child)
        receive((rank + 1) % size, 5, MPI_COMM_WORLD);
    barrier(other);
}
static void ring_of_both(void)
{
    int me, all;
    merge();
    MPI(MPI_Comm_rank(both, &me));
    MPI(MPI_Comm_size(both, &all));
    receive((me + 1) % all, 3, both);
}
static void ring_of_sends(void)
{
    int me, all;
    merge();
    MPI(MPI_Comm_rank(both, &me));
    MPI(MPI_Comm_size(both, &all));
    MPI(MPI_Ssend(small, 1, MPI_INT, (me + 1) % all, 3, both));
}
static void one_child_not_in_barrier(void)
{
    merge();
    if (is_child && rank == 0)
        receive(0, 9, both);
    barrier(both);
}
static void any_source_of_both(void)
{
    receive(MPI_ANY_SOURCE, 7, other);
}
static void probe_of_both(void)
{
    MPI(MPI_Probe(0, 7, other, MPI_STATUS_IGNORE));
}
static void waitall_of_children(void)
{
    MPI_Request requests[2];
    if (is_child) {
        if (rank == 0)
            send(0, 7, other);
        receive(0, 8, other);
    }
    for (int i = 0; i < 2; i++)
        MPI(MPI_Irecv(&small[i], 1, MPI_INT, i, 7, other, &requests[i]));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}
static void disconnect_of_one_side(void)
{
    MPI_Request request;
    if (is_child)
        receive(0, 8, other);
    /* All that was begun has to be done first. */
    MPI(MPI_Issend(small, 1, MPI_INT, 0, 9, other, &request));
    MPI(MPI_Comm_disconnect(&other));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void *receive_in_thread(void *tag)
{
    receive(0, *(int *) tag, other);
    return NULL;
}
static void threads_of_both(void)
{
    static int tag = 5;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, receive_in_thread, &tag), 0);
    receive(0, 6, other);
    pthread_join(thread, NULL);
}
static void two_programs(void)
{
    if (is_child) {
        int *appnum, flag;
        MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
        CHECK(flag);
        receive(*appnum == 0 ? 1 : 0, 4 + *appnum, *appnum == 0 ? MPI_COMM_WORLD : other);
    }
    barrier(other);
}
static void two_jobs(void)
{
    MPI_Comm second = MPI_COMM_NULL;
    if (!is_child)
        second = spawn(MPI_COMM_WORLD, 1, words);
    if (is_child)
        receive(0, 8, other);
    else
        receive(0, 7, second);
}
static void grandchildren(void)
{
    int is_last = is_child && strcmp(words[1], "last") == 0;
    MPI_Comm below = MPI_COMM_NULL;
    if (is_child && !is_last) {
        words[1] = "last";
        below = spawn(MPI_COMM_WORLD, 1, words);
        receive(0, 8, below);
    }
    receive(0, 7, other);
}
static void after_children_ended(void)
{
    part(&other);
    if (!is_child)
        receive((rank + 1) % size, 5, MPI_COMM_WORLD);
}

/* Ranks that are stuck while others go on: outside of MPI, at no cost for other programs, until the time limit. */
static void stay(void)
{
    for (;;)
        usleep(1000);
}
static void children_beside_parents(void)
{
    if (is_child)
        receive((rank + 1) % size, 5, MPI_COMM_WORLD);
    stay();
}
static void pair_of_both_beside(void)
{
    if (rank == 0)
        receive(0, 5, other);
    stay();
}

/* These go on. */
static void child_computes(void)
{
    if (is_child) {
        compute();
        for (int i = 0; i < 2; i++)
            send(i, 7, other);
    } else {
        receive(0, 7, other);
    }
}
static void child_sleeps(void)
{
    if (is_child) {
        sleep(SECONDS);
        for (int i = 0; i < 2; i++)
            send(i, 7, other);
    } else {
        receive(0, 7, other);
    }
}
static void parent_sleeps(void)
{
    if (!is_child)
        sleep(SECONDS);
    barrier(other);
}
static void child_is_stopped(void)
{
    if (is_child) {
        pid_t own = getpid(), wakes = fork();
        if (wakes == 0) {
            sleep(SECONDS);
            kill(own, SIGCONT);
            _exit(0);
        }
        kill(own, SIGSTOP);
    }
    barrier(other);
}
static void child_polls(void)
{
    MPI_Request request;
    int flag = 0;
    if (is_child) {
        MPI(MPI_Irecv(small, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request));
        for (double end = now() + SECONDS; now() < end;)
            MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        send(0, 99, MPI_COMM_SELF);
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    barrier(other);
}
static void *send_later(void *unused)
{
    (void) unused;
    sleep(SECONDS);
    for (int i = 0; i < 2; i++)
        send(i, 7, other);
    return NULL;
}
static void thread_of_child_sleeps(void)
{
    pthread_t thread;
    if (is_child) {
        CHECK_INT(pthread_create(&thread, NULL, send_later, NULL), 0);
        receive(0, 8, other);
        pthread_join(thread, NULL);
    } else {
        receive(0, 7, other);
        if (rank == 0)
            for (int i = 0; i < 2; i++)
                send(i, 8, other);
    }
}
static void accept_waits(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm met = MPI_COMM_NULL;
    if (!is_child && rank == 0) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        MPI(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 7, other));
        MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met));
    } else if (is_child && rank == 0) {
        MPI(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 7, other, MPI_STATUS_IGNORE));
        sleep(SECONDS);
        MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met));
    }
    if (rank == 0)
        MPI(MPI_Comm_disconnect(&met));
    barrier(other);
}
static void children_that_come_late(void)
{
    /* They sleep before MPI_Init. */
    if (!is_child) {
        MPI_Comm late;
        words[1] = "late";
        late = spawn(MPI_COMM_WORLD, 1, words);
        part(&late);
    }
}
static void grandchild_sleeps(void)
{
    int is_last = is_child && strcmp(words[1], "last") == 0;
    if (is_last) {
        sleep(SECONDS);
    } else if (is_child) {
        words[1] = "last";
        MPI_Comm below = spawn(MPI_COMM_WORLD, 1, words);
        barrier(below);
        part(&below);
    }
    barrier(other);
}
static void slow_parents_after_the_end_of_children(void)
{
    part(&other);
    if (!is_child) {
        if (rank == 0)
            sleep(SECONDS);
        barrier(MPI_COMM_WORLD);
    }
}
static void children_without_parents(void)
{
    /* Disconnected: nobody waits for anybody, and they end later. */
    part(&other);
    if (is_child)
        sleep(SECONDS);
}
static void turns(void)
{
    for (int i = 0; i < 8; i++) {
        if (rank == 0 && is_child == i % 2)
            usleep(600000);
        barrier(other);
    }
}

#define CASE(it) {#it, it}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(parent_waits), CASE(child_waits), CASE(merge_of_one_side), CASE(bcast_without_root), CASE(children_among_themselves),
    CASE(ring_of_both), CASE(ring_of_sends), CASE(one_child_not_in_barrier), CASE(any_source_of_both), CASE(probe_of_both),
    CASE(waitall_of_children), CASE(disconnect_of_one_side), CASE(threads_of_both), CASE(two_programs), CASE(two_jobs),
    CASE(grandchildren), CASE(after_children_ended), CASE(children_beside_parents), CASE(pair_of_both_beside),
    CASE(child_computes), CASE(child_sleeps), CASE(parent_sleeps), CASE(child_is_stopped), CASE(child_polls),
    CASE(thread_of_child_sleeps), CASE(accept_waits), CASE(children_that_come_late), CASE(grandchild_sleeps),
    CASE(slow_parents_after_the_end_of_children), CASE(children_without_parents), CASE(turns),
};

static void spawn_two_programs(void)
{
    char *programs[2] = {program, program}, **arguments[2] = {words, words};
    int counts[2] = {1, 1};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI(MPI_Comm_spawn_multiple(2, programs, arguments, counts, infos, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE));
}

int main(int argc, char **argv)
{
    name = argc > 1 ? argv[1] : "";
    words[0] = (char *) name;
    words[1] = argc > 2 ? argv[2] : "first";
    if (strcmp(words[1], "late") == 0)
        sleep(SECONDS);
    if (strncmp(name, "thread", 6) == 0)
        start_multiple(&argc, &argv);
    else
        start(&argc, &argv);
    meet_parent(argv[0]);
    if (is_child)
        other = parent;
    else if (strcmp(name, "two_programs") == 0)
        spawn_two_programs();
    else
        other = spawn(MPI_COMM_WORLD, 2, words);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0)
            cases[i].run();
    if (both != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&both));
    if (other != MPI_COMM_NULL)
        part(&other);
    parent = MPI_COMM_NULL;
    return finish_family();
}
