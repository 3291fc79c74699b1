/* The connections of rank 0 to ranks of other hosts break under load: their sockets are shut. Nobody has died, so each rank of such a pair gets
 * errors of its calls that need the other, by the error handler; all other pairs go on, and MPI_Finalize ends. args: the load: messages,
 * large (straight transfers), any (MPI_ANY_SOURCE, and a receiver that sends nothing), several (three ranks), collective, put, or rma (puts
 * by the fabric itself, of which alone the connections break). */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

enum { MANY = 16, LARGE = 3 << 20 };

static char out[MANY][16384], in[MANY][16384], *large_out, *large_in;
static int before[1024];
/* Of each rank, in memory of all: that it is done. */
static volatile int *done;

static void share_memory(void)
{
    char name[] = "/tmp/oxmpi-broken-XXXXXX";
    int file = rank == 0 ? mkstemp(name) : -1;
    CHECK(rank != 0 || (file >= 0 && !ftruncate(file, 4096)));
    MPI(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank != 0)
        file = open(name, O_RDWR);
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(file >= 0 && done != MAP_FAILED);
    close(file);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(name);
}

/* Waits until all ranks are here, without messages: who is in MPI_Finalize, or has ended, is another error. */
static void meet(void)
{
    int flag;
    done[rank] = 1;
    for (int i = 0; i < size; i++)
        while (!done[i]) {
            /* Makes progress. */
            MPI(MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
            usleep(1000);
        }
}

/* Calls with each connected socket of TCP that was not there before MPI_Init. */
static int sockets(int shut)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(all));) {
        struct sockaddr_storage there;
        socklen_t length = sizeof there;
        int number = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || getpeername(number, (struct sockaddr *) &there, &length))
            continue;
        if ((there.ss_family != AF_INET && there.ss_family != AF_INET6) || number >= 1024)
            continue;
        if (!shut)
            before[number] = 1;
        else if (!before[number])
            count += !shutdown(number, SHUT_RDWR);
    }
    closedir(all);
    return count;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Breaks the connections, ten times a second: what is made again in between is broken, too. */
static void cut(void)
{
    static double last;
    if (rank == 0 && now() - last > 0.1) {
        last = now();
        sockets(1);
    }
}

/* Whether a call has failed, which it does with one of these texts. */
static int has_failed(int code, const char *wanted, const char *or)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return 0;
    MPI(MPI_Error_string(code, text, &length));
    /* Whom only another rank has lost may be dead. */
    int class = strstr(text, "has ended") ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER;
    if (check_class_of(code) != class || !(strstr(text, wanted) || (or && strstr(text, or))))
        check_failed(__FILE__, __LINE__, "class %s: %s", class_name(check_class_of(code)), text);
    return 1;
}

static int is_loss(int code)
{
    return has_failed(code, "cannot be reached any more", NULL);
}

#define LOSS(call) CHECK(is_loss(call))

/* Whoever has lost a peer gets errors at once, whatever it wants of it. */
static void all_fails(int other)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request request;
    int x = 0, code = MPI_SUCCESS;
    LOSS(MPI_Recv(&x, 1, MPI_INT, other, 9, w, MPI_STATUS_IGNORE));
    LOSS(MPI_Ssend(&x, 1, MPI_INT, other, 9, w));
    LOSS(MPI_Send(large_out, LARGE, MPI_CHAR, other, 9, w));
    LOSS(MPI_Probe(other, 9, w, MPI_STATUS_IGNORE));
    for (int sent = 0; code == MPI_SUCCESS && sent < 5000; sent++)
        code = MPI_Send(out[0], 100, MPI_CHAR, other, 9, w);
    LOSS(code);
    MPI(MPI_Irecv(&x, 1, MPI_INT, other, 9, w, &request));
    LOSS(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Messages both ways until the peer is lost; all requests end. */
static void exchange(int other, int bytes, int count, int cuts)
{
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    for (int round = 0, lost = 0; !lost; round++) {
        for (int i = 0; i < count; i++) {
            char *to = bytes > 16384 ? large_in + (size_t) i * LARGE : in[i];
            char *from = bytes > 16384 ? large_out : out[i];
            MPI(MPI_Irecv(to, bytes, MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[i]));
            MPI(MPI_Isend(from, bytes, MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[count + i]));
        }
        if (cuts && round > 20)
            cut();
        int code = MPI_Waitall(2 * count, requests, statuses);
        if (code == MPI_SUCCESS)
            continue;
        CHECK_INT(code, MPI_ERR_IN_STATUS);
        for (int i = 0; i < 2 * count; i++) {
            CHECK(requests[i] == MPI_REQUEST_NULL);
            lost += is_loss(statuses[i].MPI_ERROR);
        }
        CHECK(lost > 0);
    }
}

static void any(void)
{
    int code = MPI_SUCCESS;
    for (int round = 0; code == MPI_SUCCESS; round++) {
        if (round > 20)
            cut();
        code = rank == 0 ? MPI_Send(out[0], 1 + round % 16384, MPI_CHAR, 1, 0, MPI_COMM_WORLD)
            : MPI_Recv(in[0], 16384, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    LOSS(code);
    LOSS(MPI_Recv(in[0], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The last rank is on another host. It loses rank 0, and not rank 1, which loses nobody. */
static void several(void)
{
    int last = size - 1, x = 0, y = 0;
    if (rank == 0 || rank == last)
        exchange(last - rank, 8000, MANY, 1);
    if (rank == 1 || rank == last)
        for (int i = 0; i < 2000; i++) {
            x = i;
            MPI(MPI_Sendrecv(&x, 1, MPI_INT, rank == 1 ? last : 1, 5, &y, 1, MPI_INT, rank == 1 ? last : 1, 5, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE));
            CHECK_INT(y, i);
        }
    if (rank < 2)
        for (int i = 0; i < 100; i++)
            MPI(MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 6, &y, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* All ranks are told, also those that have lost nobody themselves. */
static void collective(void)
{
    static double from[4096], to[4096];
    int code = MPI_SUCCESS;
    for (int round = 0; code == MPI_SUCCESS; round++) {
        if (round > 20)
            cut();
        code = MPI_Allreduce(from, to, round % 2 ? 4096 : 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    CHECK(has_failed(code, "cannot be reached any more", "is lost to another rank"));
}

static void put(int by_fabric)
{
    MPI_Win win;
    char *base;
    int code = MPI_SUCCESS, other = size - 1 - rank;
    /* Those of the messages stay. */
    if (by_fabric)
        sockets(0);
    MPI(MPI_Win_allocate(sizeof out, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_lock_all(0, win));
    for (int round = 0; code == MPI_SUCCESS && (rank == 0 || !by_fabric); round++) {
        for (int i = 0; i < MANY && code == MPI_SUCCESS; i++)
            code = MPI_Put(out[i], 8 << round % 8, MPI_CHAR, other, 0, 8 << round % 8, MPI_CHAR, win);
        if (round > 20)
            cut();
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(other, win);
    }
    if (by_fabric) {
        CHECK(rank != 0 || has_failed(code, "an RMA operation of the fabric has failed", "cannot be reached any more"));
        /* For messages it is lost, too. */
        LOSS(MPI_Barrier(MPI_COMM_WORLD));
        return;
    }
    LOSS(code);
    code = MPI_Get(in[0], 8, MPI_CHAR, other, 0, 8, MPI_CHAR, win);
    LOSS(code == MPI_SUCCESS ? MPI_Win_flush(other, win) : code);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    sockets(0);
    start(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    share_memory();
    large_out = calloc(1, LARGE);
    large_in = calloc(MANY, LARGE);
    for (int i = 0; i < 10; i++)
        MPI(MPI_Alltoall(out[0], 100, MPI_CHAR, in[0], 100, MPI_CHAR, MPI_COMM_WORLD));
    if (!strcmp(what, "messages"))
        exchange(1 - rank, 8000, MANY, 1);
    if (!strcmp(what, "large"))
        exchange(1 - rank, LARGE, 4, 1);
    if (!strcmp(what, "any"))
        any();
    if (!strcmp(what, "several"))
        several();
    if (!strcmp(what, "collective"))
        collective();
    if (!strcmp(what, "put") || !strcmp(what, "rma"))
        put(!strcmp(what, "rma"));
    if (size == 2)
        all_fails(1 - rank);
    meet();
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    /* The barrier in there may need who is lost. */
    int code = MPI_Finalize();
    if (size == 2)
        CHECK(code != MPI_SUCCESS);
    fprintf(stderr, "rank %d has left\n", rank);
    return check_failures != 0;
}
