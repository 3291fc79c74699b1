/* Calls that wait for the last rank, and what it does instead or late. Where it never does what they need, no rank can go on, and mpiexec has to
 * say so; where it only takes its time, it must not. Arguments: call, what the last rank does. */
#include "../common/check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { TAG = 7, OTHER_TAG = 8, LARGE = 1 << 20, SECONDS = 4 };

static MPI_Comm other, after;
static int last;
static const char *how;
static int small[64], *large, *into;
static char path[256];
static const char *program;

static int is(const char *what)
{
    return !strcmp(how, what);
}

/* Of ranks that keep a core busy meanwhile: twice what a verdict takes. */
static const double busy_seconds = 2.5;

/* What takes time outside of MPI, or in calls that do not wait. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void take_time(void)
{
    double end = now() + (is("polls") ? SECONDS : busy_seconds);
    int flag;
    if (is("sleeps")) {
        sleep(SECONDS);
    } else if (is("computes")) {
        volatile double sum = 0;
        while (now() < end)
            sum += 1;
    } else if (is("stops")) {
        char command[100];
        snprintf(command, sizeof command, "(sleep %d; kill -CONT %d) &", SECONDS, (int) getpid());
        CHECK_INT(system(command), 0);
        raise(SIGSTOP);
    } else if (is("polls")) {
        while (now() < end) {
            MPI(MPI_Iprobe(MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
            usleep(1000);
        }
    } else if (is("spins")) {
        while (now() < end)
            MPI(MPI_Iprobe(MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    } else if (is("tests")) {
        MPI_Request request;
        MPI(MPI_Irecv(small, 1, MPI_INT, 0, OTHER_TAG, MPI_COMM_SELF, &request));
        while (now() < end) {
            MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            sched_yield();
        }
        MPI(MPI_Send(small, 1, MPI_INT, 0, OTHER_TAG, MPI_COMM_SELF));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (is("reads")) {
        FILE *pipe = popen("sleep 4; echo 1", "r");
        CHECK(pipe && fscanf(pipe, "%d", &flag) == 1);
        pclose(pipe);
    } else if (is("waits_for_child")) {
        CHECK_INT(system("sleep 4"), 0);
    }
}

static int is_late(void)
{
    const char *all[] = {"sleeps", "computes", "stops", "polls", "spins", "tests", "reads", "waits_for_child", "thread"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (is(all[i]))
            return 1;
    return 0;
}

/* Waiting for the last rank's message. */

static void recv_(MPI_Comm comm)
{
    MPI(MPI_Recv(small, 1, MPI_INT, last, TAG, comm, MPI_STATUS_IGNORE));
}
static void recv_any(MPI_Comm comm)
{
    MPI(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, MPI_STATUS_IGNORE));
}
static MPI_Request irecv(MPI_Comm comm)
{
    MPI_Request request;
    MPI(MPI_Irecv(small, 1, MPI_INT, last, TAG, comm, &request));
    return request;
}
static void wait_(MPI_Comm comm)
{
    MPI_Request request = irecv(comm);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void waitall(MPI_Comm comm)
{
    MPI_Request all[3] = {MPI_REQUEST_NULL, irecv(comm), MPI_REQUEST_NULL};
    MPI(MPI_Waitall(3, all, MPI_STATUSES_IGNORE));
}
static void waitany(MPI_Comm comm)
{
    MPI_Request all[2] = {irecv(comm), MPI_REQUEST_NULL};
    int at;
    MPI(MPI_Waitany(2, all, &at, MPI_STATUS_IGNORE));
}
static void waitsome(MPI_Comm comm)
{
    MPI_Request all[2] = {irecv(comm), MPI_REQUEST_NULL};
    int at[2], count;
    MPI(MPI_Waitsome(2, all, &count, at, MPI_STATUSES_IGNORE));
}
static void recv_init(MPI_Comm comm)
{
    MPI_Request request;
    MPI(MPI_Recv_init(small, 1, MPI_INT, last, TAG, comm, &request));
    MPI(MPI_Start(&request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
}
static void probe(MPI_Comm comm)
{
    MPI(MPI_Probe(last, TAG, comm, MPI_STATUS_IGNORE));
    recv_(comm);
}
static void probe_any(MPI_Comm comm)
{
    MPI(MPI_Probe(MPI_ANY_SOURCE, TAG, comm, MPI_STATUS_IGNORE));
    recv_(comm);
}
static void mprobe(MPI_Comm comm)
{
    MPI_Message message;
    MPI(MPI_Mprobe(last, TAG, comm, &message, MPI_STATUS_IGNORE));
    MPI(MPI_Mrecv(small, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
}
static void sendrecv(MPI_Comm comm)
{
    MPI(MPI_Sendrecv(small, 0, MPI_INT, MPI_PROC_NULL, 0, small + 1, 1, MPI_INT, last, TAG, comm, MPI_STATUS_IGNORE));
}
static void sendrecv_replace(MPI_Comm comm)
{
    MPI(MPI_Sendrecv_replace(small, 1, MPI_INT, MPI_PROC_NULL, 0, last, TAG, comm, MPI_STATUS_IGNORE));
}

/* Waiting until it receives. */

static void ssend(MPI_Comm comm)
{
    MPI(MPI_Ssend(small, 1, MPI_INT, last, TAG, comm));
}
static void send_large(MPI_Comm comm)
{
    MPI(MPI_Send(large, LARGE, MPI_INT, last, TAG, comm));
}
static void issend(MPI_Comm comm)
{
    MPI_Request request;
    MPI(MPI_Issend(small, 1, MPI_INT, last, TAG, comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void isend_large(MPI_Comm comm)
{
    MPI_Request request;
    MPI(MPI_Isend(large, LARGE, MPI_INT, last, TAG, comm, &request));
    MPI(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
}
static void ssend_init(MPI_Comm comm)
{
    MPI_Request request;
    MPI(MPI_Ssend_init(small, 1, MPI_INT, last, TAG, comm, &request));
    MPI(MPI_Start(&request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
}
static void bsend(MPI_Comm comm)
{
    int bytes = LARGE * (int) sizeof(int) + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t) bytes);
    MPI(MPI_Buffer_attach(buffer, bytes));
    MPI(MPI_Bsend(large, LARGE, MPI_INT, last, TAG, comm));
    MPI(MPI_Buffer_detach(&buffer, &bytes));
    free(buffer);
}

/* Many short ones, until there is no more room. */
static void flood(MPI_Comm comm)
{
    for (int i = 0; i < 3; i++)
        MPI(MPI_Ssend(small, 64, MPI_INT, last, TAG, comm));
}

/* Operations of all ranks. */

static void barrier(MPI_Comm comm)
{
    MPI(MPI_Barrier(comm));
}
static void bcast(MPI_Comm comm)
{
    MPI(MPI_Bcast(small, 1, MPI_INT, last, comm));
}
static void bcast_large(MPI_Comm comm)
{
    MPI(MPI_Bcast(large, LARGE, MPI_INT, last, comm));
}
static void gather(MPI_Comm comm)
{
    MPI(MPI_Gather(small, 1, MPI_INT, small + 8, 1, MPI_INT, 0, comm));
}
static int counts[16], places[16];
static MPI_Datatype types[16];
static void gatherv(MPI_Comm comm)
{
    MPI(MPI_Gatherv(small, 1, MPI_INT, small + 8, counts, places, MPI_INT, 0, comm));
}
static void scatter(MPI_Comm comm)
{
    MPI(MPI_Scatter(small, 1, MPI_INT, small + 32, 1, MPI_INT, last, comm));
}
static void scatterv(MPI_Comm comm)
{
    MPI(MPI_Scatterv(small, counts, places, MPI_INT, small + 32, 1, MPI_INT, last, comm));
}
static void allgather(MPI_Comm comm)
{
    MPI(MPI_Allgather(small, 1, MPI_INT, small + 8, 1, MPI_INT, comm));
}
static void allgatherv(MPI_Comm comm)
{
    MPI(MPI_Allgatherv(small, 1, MPI_INT, small + 8, counts, places, MPI_INT, comm));
}
static void alltoall(MPI_Comm comm)
{
    MPI(MPI_Alltoall(small, 1, MPI_INT, small + 32, 1, MPI_INT, comm));
}
static void alltoallv(MPI_Comm comm)
{
    MPI(MPI_Alltoallv(small, counts, places, MPI_INT, small + 32, counts, places, MPI_INT, comm));
}
static void alltoallw(MPI_Comm comm)
{
    MPI(MPI_Alltoallw(small, counts, places, types, small + 32, counts, places, types, comm));
}
static void reduce(MPI_Comm comm)
{
    MPI(MPI_Reduce(small, small + 8, 1, MPI_INT, MPI_SUM, 0, comm));
}
static void allreduce(MPI_Comm comm)
{
    MPI(MPI_Allreduce(small, small + 8, 1, MPI_INT, MPI_SUM, comm));
}
static void allreduce_large(MPI_Comm comm)
{
    MPI(MPI_Allreduce(large, into, LARGE, MPI_INT, MPI_SUM, comm));
}
static void reduce_scatter(MPI_Comm comm)
{
    MPI(MPI_Reduce_scatter(small, small + 32, counts, MPI_INT, MPI_SUM, comm));
}
static void reduce_scatter_block(MPI_Comm comm)
{
    MPI(MPI_Reduce_scatter_block(small, small + 32, 1, MPI_INT, MPI_SUM, comm));
}
static void scan(MPI_Comm comm)
{
    MPI(MPI_Scan(small, small + 8, 1, MPI_INT, MPI_SUM, comm));
}
static void exscan(MPI_Comm comm)
{
    MPI(MPI_Exscan(small, small + 8, 1, MPI_INT, MPI_SUM, comm));
}

/* The same without blocking, and a wait. */
#define BEHIND(name, call)                                                                                                                           \
    static void name(MPI_Comm comm)                                                                                                                  \
    {                                                                                                                                                \
        MPI_Request request;                                                                                                                         \
        MPI(call);                                                                                                                                   \
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                                                  \
    }
BEHIND(ibarrier, MPI_Ibarrier(comm, &request))
BEHIND(ibcast, MPI_Ibcast(small, 1, MPI_INT, last, comm, &request))
BEHIND(igather, MPI_Igather(small, 1, MPI_INT, small + 8, 1, MPI_INT, 0, comm, &request))
BEHIND(iscatter, MPI_Iscatter(small, 1, MPI_INT, small + 32, 1, MPI_INT, last, comm, &request))
BEHIND(iallgather, MPI_Iallgather(small, 1, MPI_INT, small + 8, 1, MPI_INT, comm, &request))
BEHIND(ialltoall, MPI_Ialltoall(small, 1, MPI_INT, small + 32, 1, MPI_INT, comm, &request))
BEHIND(ireduce, MPI_Ireduce(small, small + 8, 1, MPI_INT, MPI_SUM, 0, comm, &request))
BEHIND(iallreduce, MPI_Iallreduce(small, small + 8, 1, MPI_INT, MPI_SUM, comm, &request))
BEHIND(iallreduce_large, MPI_Iallreduce(large, into, LARGE, MPI_INT, MPI_SUM, comm, &request))
BEHIND(ireduce_scatter, MPI_Ireduce_scatter(small, small + 32, counts, MPI_INT, MPI_SUM, comm, &request))
BEHIND(iscan, MPI_Iscan(small, small + 8, 1, MPI_INT, MPI_SUM, comm, &request))
BEHIND(iexscan, MPI_Iexscan(small, small + 8, 1, MPI_INT, MPI_SUM, comm, &request))

/* A task of each that is under way while it waits for something else. */
static void barrier_beside(MPI_Comm comm)
{
    MPI_Request request;
    MPI(MPI_Iallreduce(large, into, LARGE, MPI_INT, MPI_SUM, comm, &request));
    MPI(MPI_Barrier(comm));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Constructors. */
#define MAKES(name, call)                                                                                                                            \
    static void name(MPI_Comm comm)                                                                                                                  \
    {                                                                                                                                                \
        MPI_Comm made;                                                                                                                               \
        MPI(call);                                                                                                                                   \
        if (made != MPI_COMM_NULL)                                                                                                                   \
            MPI(MPI_Comm_free(&made));                                                                                                               \
    }
MAKES(comm_dup, MPI_Comm_dup(comm, &made))
MAKES(dup_with_info, MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made))
MAKES(split, MPI_Comm_split(comm, 0, rank, &made))
MAKES(split_type, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made))
MAKES(cart, MPI_Cart_create(comm, 1, &size, (int[]){1}, 0, &made))
static void create(MPI_Comm comm)
{
    MPI_Group group;
    MPI_Comm made;
    MPI(MPI_Comm_group(comm, &group));
    MPI(MPI_Comm_create(comm, group, &made));
    MPI(MPI_Comm_free(&made));
    MPI(MPI_Group_free(&group));
}
static void create_group(MPI_Comm comm)
{
    MPI_Group group;
    MPI_Comm made;
    MPI(MPI_Comm_group(comm, &group));
    MPI(MPI_Comm_create_group(comm, group, 1, &made));
    MPI(MPI_Comm_free(&made));
    MPI(MPI_Group_free(&group));
}
static void idup(MPI_Comm comm)
{
    MPI_Comm made;
    MPI_Request request;
    MPI(MPI_Comm_idup(comm, &made, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_free(&made));
}
static void neighbor(MPI_Comm comm)
{
    static MPI_Comm ring;
    if (comm == MPI_COMM_NULL) {
        MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring));
        return;
    }
    MPI(MPI_Neighbor_allgather(small, 1, MPI_INT, small + 8, 1, MPI_INT, ring));
    MPI(MPI_Comm_free(&ring));
}

/* Windows and files. Called with MPI_COMM_NULL first, to make what is needed, by all ranks. */

static MPI_Win window;
static MPI_File file;

static void make_window(void)
{
    void *memory;
    MPI(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
}
static void win_create(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    MPI(MPI_Win_create(small, sizeof small, 1, MPI_INFO_NULL, comm, &window));
    MPI(MPI_Win_free(&window));
}
static void win_allocate(MPI_Comm comm)
{
    void *memory;
    if (comm == MPI_COMM_NULL)
        return;
    MPI(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &window));
    MPI(MPI_Win_free(&window));
}
static void fence(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL) {
        make_window();
        MPI(MPI_Win_fence(0, window));
        return;
    }
    MPI(MPI_Win_fence(0, window));
    MPI(MPI_Win_free(&window));
}
static void win_free(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        make_window();
    else
        MPI(MPI_Win_free(&window));
}
static MPI_Group group_of(int first, int end)
{
    MPI_Group world, group;
    int range[1][3] = {{first, end - 1, 1}};
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_range_incl(world, 1, range, &group));
    MPI(MPI_Group_free(&world));
    return group;
}
/* The last rank posts, the others access. */
static void start_complete(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL) {
        make_window();
        return;
    }
    MPI_Group group = rank == last ? group_of(0, last) : group_of(last, size);
    if (rank == last) {
        MPI(MPI_Win_post(group, 0, window));
        MPI(MPI_Win_wait(window));
    } else {
        MPI(MPI_Win_start(group, 0, window));
        MPI(MPI_Put(small, 1, MPI_INT, last, 0, 1, MPI_INT, window));
        MPI(MPI_Win_complete(window));
    }
    MPI(MPI_Group_free(&group));
    MPI(MPI_Win_free(&window));
}
/* The other way round. */
static void post_wait(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL) {
        make_window();
        return;
    }
    MPI_Group group = rank == last ? group_of(0, last) : group_of(last, size);
    if (rank == last) {
        MPI(MPI_Win_start(group, 0, window));
        MPI(MPI_Win_complete(window));
    } else {
        MPI(MPI_Win_post(group, 0, window));
        MPI(MPI_Win_wait(window));
    }
    MPI(MPI_Group_free(&group));
    MPI(MPI_Win_free(&window));
}
/* The last rank has the lock from the beginning, and gives it back in its turn. */
static void lock_of(MPI_Comm comm, int kind)
{
    if (comm == MPI_COMM_NULL) {
        make_window();
        if (rank == last)
            MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        return;
    }
    if (rank != last)
        MPI(MPI_Win_lock(kind, 0, 0, window));
    MPI(MPI_Win_unlock(0, window));
    MPI(MPI_Win_free(&window));
}
static void lock(MPI_Comm comm)
{
    lock_of(comm, MPI_LOCK_EXCLUSIVE);
}
static void lock_shared(MPI_Comm comm)
{
    lock_of(comm, MPI_LOCK_SHARED);
}

/* Not there any more when the job is ended. MPI_File_close waits for all ranks where it is to delete a file. */
static void open_file(void)
{
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(path);
}
static void file_open(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    MPI(MPI_File_open(comm, program, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI(MPI_File_close(&file));
}
#define ON_FILE(name, call)                                                                                                                          \
    static void name(MPI_Comm comm)                                                                                                                  \
    {                                                                                                                                                \
        if (comm == MPI_COMM_NULL) {                                                                                                                 \
            open_file();                                                                                                                             \
            return;                                                                                                                                  \
        }                                                                                                                                            \
        MPI(call);                                                                                                                                   \
        MPI(MPI_File_close(&file));                                                                                                                  \
    }
ON_FILE(file_write_all, MPI_File_write_at_all(file, rank * 4, small, 1, MPI_INT, MPI_STATUS_IGNORE))
ON_FILE(file_read_all, MPI_File_read_at_all(file, 0, small, 0, MPI_INT, MPI_STATUS_IGNORE))
ON_FILE(file_ordered, MPI_File_write_ordered(file, small, 1, MPI_INT, MPI_STATUS_IGNORE))
ON_FILE(file_view, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL))
ON_FILE(file_size, MPI_File_set_size(file, 100))
ON_FILE(file_close, MPI_SUCCESS)
static void file_iwrite_all(MPI_Comm comm)
{
    MPI_Request request;
    if (comm == MPI_COMM_NULL) {
        open_file();
        return;
    }
    MPI(MPI_File_iwrite_at_all(file, rank * 4, small, 1, MPI_INT, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&file));
}

enum kind { RECEIVES, SENDS, ALL, ON_OBJECT };
static const struct {
    const char *name;
    enum kind kind;
    void (*call)(MPI_Comm);
    /* What the last rank receives. */
    int count;
} table[] = {
    {"recv", RECEIVES, recv_, 0},
    {"recv_any", RECEIVES, recv_any, 0},
    {"wait", RECEIVES, wait_, 0},
    {"waitall", RECEIVES, waitall, 0},
    {"waitany", RECEIVES, waitany, 0},
    {"waitsome", RECEIVES, waitsome, 0},
    {"recv_init", RECEIVES, recv_init, 0},
    {"probe", RECEIVES, probe, 0},
    {"probe_any", RECEIVES, probe_any, 0},
    {"mprobe", RECEIVES, mprobe, 0},
    {"sendrecv", RECEIVES, sendrecv, 0},
    {"sendrecv_replace", RECEIVES, sendrecv_replace, 0},
    {"ssend", SENDS, ssend, 1},
    {"send_large", SENDS, send_large, 1},
    {"issend", SENDS, issend, 1},
    {"isend_large", SENDS, isend_large, 1},
    {"ssend_init", SENDS, ssend_init, 1},
    {"bsend", SENDS, bsend, 1},
    {"flood", SENDS, flood, 3},
    {"barrier", ALL, barrier, 0},
    {"bcast", ALL, bcast, 0},
    {"bcast_large", ALL, bcast_large, 0},
    {"gather", ALL, gather, 0},
    {"gatherv", ALL, gatherv, 0},
    {"scatter", ALL, scatter, 0},
    {"scatterv", ALL, scatterv, 0},
    {"allgather", ALL, allgather, 0},
    {"allgatherv", ALL, allgatherv, 0},
    {"alltoall", ALL, alltoall, 0},
    {"alltoallv", ALL, alltoallv, 0},
    {"alltoallw", ALL, alltoallw, 0},
    {"reduce", ALL, reduce, 0},
    {"allreduce", ALL, allreduce, 0},
    {"allreduce_large", ALL, allreduce_large, 0},
    {"reduce_scatter", ALL, reduce_scatter, 0},
    {"reduce_scatter_block", ALL, reduce_scatter_block, 0},
    {"scan", ALL, scan, 0},
    {"exscan", ALL, exscan, 0},
    {"ibarrier", ALL, ibarrier, 0},
    {"ibcast", ALL, ibcast, 0},
    {"igather", ALL, igather, 0},
    {"iscatter", ALL, iscatter, 0},
    {"iallgather", ALL, iallgather, 0},
    {"ialltoall", ALL, ialltoall, 0},
    {"ireduce", ALL, ireduce, 0},
    {"iallreduce", ALL, iallreduce, 0},
    {"iallreduce_large", ALL, iallreduce_large, 0},
    {"ireduce_scatter", ALL, ireduce_scatter, 0},
    {"iscan", ALL, iscan, 0},
    {"iexscan", ALL, iexscan, 0},
    {"barrier_beside", ALL, barrier_beside, 0},
    {"dup", ALL, comm_dup, 0},
    {"dup_with_info", ALL, dup_with_info, 0},
    {"split", ALL, split, 0},
    {"split_type", ALL, split_type, 0},
    {"cart", ALL, cart, 0},
    {"create", ALL, create, 0},
    {"create_group", ALL, create_group, 0},
    {"idup", ALL, idup, 0},
    {"neighbor", ON_OBJECT, neighbor, 0},
    {"win_create", ON_OBJECT, win_create, 0},
    {"win_allocate", ON_OBJECT, win_allocate, 0},
    {"fence", ON_OBJECT, fence, 0},
    {"win_free", ON_OBJECT, win_free, 0},
    {"start_complete", ON_OBJECT, start_complete, 0},
    {"post_wait", ON_OBJECT, post_wait, 0},
    {"lock", ON_OBJECT, lock, 0},
    {"lock_shared", ON_OBJECT, lock_shared, 0},
    {"file_open", ON_OBJECT, file_open, 0},
    {"file_write_all", ON_OBJECT, file_write_all, 0},
    {"file_read_all", ON_OBJECT, file_read_all, 0},
    {"file_ordered", ON_OBJECT, file_ordered, 0},
    {"file_view", ON_OBJECT, file_view, 0},
    {"file_size", ON_OBJECT, file_size, 0},
    {"file_close", ON_OBJECT, file_close, 0},
    {"file_iwrite_all", ON_OBJECT, file_iwrite_all, 0},
};
static int at;

/* What the last rank owes the others. */
static void serve(MPI_Comm comm, int tag)
{
    for (int peer = 0; peer < last; peer++) {
        if (table[at].kind == RECEIVES)
            MPI(MPI_Send(small, 1, MPI_INT, peer, tag, comm));
        for (int i = 0; table[at].kind == SENDS && i < table[at].count; i++)
            MPI(MPI_Recv(large, LARGE, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE));
    }
    if (table[at].kind >= ALL)
        table[at].call(comm);
}

static void *serve_late(void *unused)
{
    (void) unused;
    sleep(SECONDS);
    serve(MPI_COMM_WORLD, TAG);
    MPI(MPI_Send(small, 0, MPI_INT, 0, OTHER_TAG, MPI_COMM_SELF));
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    how = argv[2];
    program = argv[0];
    watchdog(argv[0]);
    int wanted = is("thread") || is("others_wait") ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, given;
    MPI(MPI_Init_thread(&argc, &argv, wanted, &given));
    check_ranks();
    last = size - 1;
    for (at = 0; strcmp(table[at].name, argv[1]); at++)
        CHECK(at + 1 < (int) (sizeof table / sizeof *table));
    for (int i = 0; i < 16; i++) {
        counts[i] = 1;
        places[i] = 0;
        types[i] = MPI_INT;
    }
    large = calloc(LARGE, sizeof *large);
    into = calloc(LARGE, sizeof *into);
    snprintf(path, sizeof path, "/tmp/c-test-stuck-%d", (int) getppid());
    MPI(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    MPI(MPI_Comm_set_name(other, "the other one"));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &after));
    MPI(MPI_Comm_set_name(after, "afterwards"));
    if (table[at].kind == ON_OBJECT)
        table[at].call(MPI_COMM_NULL);

    if (rank != last) {
        table[at].call(MPI_COMM_WORLD);
    } else if (is("never")) {
        /* It waits for something else, which the others would send later. */
        MPI(MPI_Recv(small, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (is("any")) {
        MPI(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (is("probes")) {
        MPI(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE));
    } else if (is("ahead")) {
        MPI(MPI_Barrier(after));
    } else if (is("ahead_behind")) {
        ibarrier(after);
    } else if (is("tag")) {
        serve(MPI_COMM_WORLD, OTHER_TAG);
    } else if (is("comm")) {
        serve(other, TAG);
    } else if (is("self")) {
        MPI(MPI_Recv(small, 1, MPI_INT, last, TAG, other, MPI_STATUS_IGNORE));
    } else if (is("sends")) {
        MPI(MPI_Ssend(small, 1, MPI_INT, 0, 99, MPI_COMM_WORLD));
    } else if (is("finalizes")) {
        /* What waits for it gets an error, which is not the verdict's. */
    } else if (is("thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, serve_late, NULL);
        MPI(MPI_Recv(small, 0, MPI_INT, 0, OTHER_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        pthread_join(thread, NULL);
    } else if (is_late()) {
        take_time();
        serve(MPI_COMM_WORLD, TAG);
    } else {
        CHECK(!"what the last rank does is unknown");
    }
    MPI(MPI_Barrier(after));
    if (rank == last && is("never"))
        CHECK(!"the others have come");
    MPI(MPI_Comm_free(&other));
    MPI(MPI_Comm_free(&after));
    free(large);
    free(into);
    return finish();
}
