/* A thread that is cancelled does not end inside of the library: whatever function of the C library with a cancellation point the library
 * calls, it calls with cancellation disabled. The program puts functions of its own before those, which look. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "threads.h"
#include <dlfcn.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

static _Thread_local int inside;
static _Atomic int points;
static const char *volatile enabled_at;

/* In MPI, may this thread end here? */
static void look(const char *name)
{
    int state;
    if (!inside)
        return;
    points++;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcancelstate(state, NULL);
    if (state == PTHREAD_CANCEL_ENABLE && !enabled_at)
        enabled_at = name;
}

#define POINT(type, name, parameters, arguments) \
    type name parameters \
    { \
        static type (*next) parameters; \
        if (!next) \
            *(void **) &next = dlsym(RTLD_NEXT, #name); \
        look(#name); \
        return next arguments; \
    }

POINT(int, close, (int fd), (fd))
POINT(ssize_t, read, (int fd, void *data, size_t bytes), (fd, data, bytes))
POINT(ssize_t, write, (int fd, const void *data, size_t bytes), (fd, data, bytes))
POINT(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
POINT(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
POINT(ssize_t, getrandom, (void *data, size_t bytes, unsigned flags), (data, bytes, flags))
POINT(int, poll, (struct pollfd *fds, nfds_t count, int limit), (fds, count, limit))
POINT(int, connect, (int fd, const struct sockaddr *address, socklen_t bytes), (fd, address, bytes))
POINT(ssize_t, send, (int fd, const void *data, size_t bytes, int flags), (fd, data, bytes, flags))
POINT(ssize_t, recv, (int fd, void *data, size_t bytes, int flags), (fd, data, bytes, flags))
POINT(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
POINT(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
      (clock, flags, time, left))
POINT(int, fallocate, (int fd, int mode, off_t offset, off_t bytes), (fd, mode, offset, bytes))
POINT(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))

static MPI_Comm comms[3];

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

static void exchange(MPI_Comm comm, int bytes)
{
    char *out = calloc(1, bytes), *in = malloc(bytes);
    MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, bytes, in, bytes, MPI_BYTE, (rank + size - 1) % size, bytes, comm,
                     MPI_STATUS_IGNORE));
    free(out);
    free(in);
}

static void *run(void *number)
{
    MPI_Comm comm = comms[(intptr_t) number], other, parts[8];
    MPI_Group world, few;
    MPI_Info info;
    MPI_Op op;
    MPI_Datatype type;
    MPI_Request request;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int one = 1, sum, length, flag, first[] = { 0 };
    inside = 1;
    for (int bytes = 1; bytes <= 1 << 22; bytes *= 4)
        exchange(comm, bytes);
    for (int i = 0; i < 8; i++)
        MPI(MPI_Comm_dup(comm, &parts[i]));
    for (int i = 0; i < 8; i++) {
        exchange(parts[i], 100000);
        MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parts[i]));
        MPI(MPI_Comm_free(&parts[i]));
    }
    MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &other));
    MPI(MPI_Comm_free(&other));
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, 0, info, &other));
    if (other != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&other));
    MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &other));
    if (other != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&other));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Info_create_env(0, NULL, &info));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Get_hw_resource_info(&info));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Get_processor_name(text, &length));
    MPI(MPI_Comm_idup(comm, &other, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_free(&other));
    MPI(MPI_Comm_group(comm, &world));
    MPI(MPI_Group_incl(world, 1, first, &few));
    if (rank == 0) {
        MPI(MPI_Comm_create_group(comm, few, 5, &other));
        MPI(MPI_Comm_free(&other));
    }
    MPI(MPI_Group_free(&world));
    MPI(MPI_Group_free(&few));
    MPI(MPI_Op_create(add, 1, &op));
    MPI(MPI_Type_vector(100, 1, 2, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, op, comm));
    CHECK_INT(sum, size);
    MPI(MPI_Op_free(&op));
    MPI(MPI_Ibarrier(comm, &request));
    for (flag = 0; !flag;)
        MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    /* Rank 0 comes late, so the others sleep. */
    if (rank == 0 && number == 0) {
        inside = 0;
        nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
        inside = 1;
    }
    MPI(MPI_Barrier(comm));
    exchange(comm, 10);
    inside = 0;
    return number;
}

int main(int argc, char **argv)
{
    inside = 1;
    start_multiple(&argc, &argv);
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    inside = 0;
    run_threads(3, run);
    inside = 1;
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_free(&comms[i]));
    inside = 0;
    CHECK(points > 0); /* MPI_Init has some, or nothing was looked at */
    if (enabled_at)
        check_failed(__FILE__, __LINE__, "a thread could be cancelled in %s", enabled_at);
    return finish();
}
