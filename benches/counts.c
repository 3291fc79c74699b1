/* Paths of the library, each counted by callgrind: on rank 0, in calls that find the other rank there already, so that no wait is counted.
 * tests/counts runs it on two ranks, rank 0 under valgrind, and compares with benches/counts.tsv.
 *
 * A path has up to four steps: both ranks `prepare` it once; then, several times, rank 1 is `ahead` (it sends what rank 0 will receive, or enters
 * the operation), rank 0 is `counted`, and both `after`. Flags in memory of their own order the steps, since messages would change what is
 * counted. Each round is dumped by itself under the path's name; the least of them counts. */
#include <mpi.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

enum { BATCH = 16, FEW = 6, /* what fits into a pair's bulk ring */ ROUNDS = 6, WARM = 40, LONG = 1024, BLOCKS = 512 };

static int rank;
static volatile int *steps; /* how far each rank has come */
static int here;
static alignas(64) double out[BLOCKS * 8 * 4], in[BLOCKS * 8 * 4];
static alignas(64) char packed[sizeof out];
static MPI_Request requests[BATCH];
static MPI_Comm made;
static MPI_Win window;
static MPI_File file;
static double *memory;
static MPI_Datatype type;
static MPI_Status status;
static int flag, position;

/* Both ranks have come as far. */
static void meet(void)
{
    steps[rank] = ++here;
    while (steps[1 - rank] < here)
        usleep(20);
}

#define WORLD MPI_COMM_WORLD
#define EACH for (int i = 0; i < BATCH; i++)
#define A_FEW for (int i = 0; i < FEW; i++)

static void nothing(void) {}

/* Messages */
static void send_8(void) { EACH MPI_Send(out, 1, MPI_DOUBLE, 1, 0, WORLD); }
static void send_1k(void) { A_FEW MPI_Send(out, 128, MPI_DOUBLE, 1, 0, WORLD); }
static void receive_8(void) { EACH MPI_Recv(in, 1, MPI_DOUBLE, 1 - rank, 0, WORLD, MPI_STATUS_IGNORE); }
static void receive_1k(void) { A_FEW MPI_Recv(in, 128, MPI_DOUBLE, 1 - rank, 0, WORLD, MPI_STATUS_IGNORE); }
static void receive_any(void) { EACH MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status); }
static void give_8(void) { EACH MPI_Send(out, 1, MPI_DOUBLE, 0, 0, WORLD); }
static void give_1k(void) { A_FEW MPI_Send(out, 128, MPI_DOUBLE, 0, 0, WORLD); }
static void isend_wait(void)
{
    EACH {
        MPI_Isend(out, 1, MPI_DOUBLE, 1, 0, WORLD, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
}
static void irecv_wait(void)
{
    EACH {
        MPI_Irecv(in, 1, MPI_DOUBLE, 1, 0, WORLD, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
}
static void isend_waitall(void)
{
    EACH MPI_Isend(out, 1, MPI_DOUBLE, 1, 0, WORLD, requests + i);
    MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
}
static void irecv_waitall(void)
{
    EACH MPI_Irecv(in + i, 1, MPI_DOUBLE, 1, 0, WORLD, requests + i);
    MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
}
static void prepare_persistent(void)
{
    if (!rank)
        MPI_Send_init(out, 1, MPI_DOUBLE, 1, 0, WORLD, requests);
}
static void start_wait(void)
{
    EACH {
        MPI_Start(requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
}
static void end_request(void)
{
    if (requests[0] != MPI_REQUEST_NULL)
        MPI_Request_free(requests);
}
static void probe_finds(void) { EACH MPI_Iprobe(1, 0, WORLD, &flag, &status); }
static void probe_misses(void) { EACH MPI_Iprobe(1, 7, WORLD, &flag, &status); }
static void to_itself(void)
{
    EACH {
        MPI_Irecv(in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, requests);
        MPI_Send(out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
}
static void test_pending(void) { EACH MPI_Test(requests, &flag, MPI_STATUS_IGNORE); }
static void prepare_pending(void)
{
    if (!rank)
        MPI_Irecv(in, 1, MPI_DOUBLE, 1, 9, WORLD, requests);
}
static void end_pending(void)
{
    if (rank)
        MPI_Send(out, 1, MPI_DOUBLE, 0, 9, WORLD);
    else
        MPI_Wait(requests, MPI_STATUS_IGNORE);
}

/* Collective operations: one call a round, since both ranks are in it. */
static void barrier(void) { MPI_Barrier(WORLD); }
static void bcast_root(void) { MPI_Bcast(out, 1, MPI_DOUBLE, 0, WORLD); }
static void bcast_leaf(void) { MPI_Bcast(out, 1, MPI_DOUBLE, 1, WORLD); }
static void reduce(void) { MPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD); }
static void allreduce(void) { MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, WORLD); }
static void allgather(void) { MPI_Allgather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, WORLD); }
static void alltoall(void) { MPI_Alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, WORLD); }
static void gather(void) { MPI_Gather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, WORLD); }
static void scatter(void) { MPI_Scatter(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 1, WORLD); }
static void scan(void) { MPI_Scan(out, in, 1, MPI_DOUBLE, MPI_SUM, WORLD); }
static void iallreduce(void)
{
    MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
}
static void ibarrier(void)
{
    MPI_Ibarrier(WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
}
static void prepare_allreduce(void) { MPI_Allreduce_init(out, in, 1, MPI_DOUBLE, MPI_SUM, WORLD, MPI_INFO_NULL, requests); }
static void start_wait_once(void)
{
    MPI_Start(requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
}

/* Communicators */
static void duplicate(void) { MPI_Comm_dup(WORLD, &made); }
static void split(void) { MPI_Comm_split(WORLD, 0, 0, &made); }
static void make(void) { MPI_Comm_dup(WORLD, &made); }
static void free_made(void) { MPI_Comm_free(&made); }

/* Windows */
static void prepare_window(void)
{
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, WORLD, &memory, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
}
static void end_window(void)
{
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}
static void put(void) { EACH MPI_Put(out, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window); }
static void get(void) { EACH MPI_Get(in, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window); }
static void accumulate(void) { EACH MPI_Accumulate(out, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_SUM, window); }
static void fetch_and_op(void) { EACH MPI_Fetch_and_op(out, in, MPI_DOUBLE, 1, 0, MPI_SUM, window); }
static void compare_and_swap(void)
{
    static long a = 1, b = 2, c;
    EACH MPI_Compare_and_swap(&a, &b, &c, MPI_LONG, 1, 8, window);
}
static void flush(void) { EACH MPI_Win_flush(1, window); }
static void prepare_locked(void) { MPI_Win_allocate(4096, 8, MPI_INFO_NULL, WORLD, &memory, &window); }
static void end_locked(void) { MPI_Win_free(&window); }
static void lock_unlock(void)
{
    EACH {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Win_unlock(1, window);
    }
}
static void fence(void) { MPI_Win_fence(0, window); }

/* Files */
static void prepare_file(void)
{
    MPI_File_open(WORLD, "counts.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
}
static void end_file(void) { MPI_File_close(&file); }
static void write_at(void) { EACH MPI_File_write_at(file, 8 * i, out, 1, MPI_DOUBLE, MPI_STATUS_IGNORE); }
static void write_at_all(void) { MPI_File_write_at_all(file, 8 * rank, out, 1, MPI_DOUBLE, MPI_STATUS_IGNORE); }

/* Datatypes: MPI_Pack of BLOCKS blocks, MPI_Unpack of some */
static void contiguous(void) { MPI_Type_contiguous(BLOCKS, MPI_DOUBLE, &type); MPI_Type_commit(&type); }
static void vector_1(void) { MPI_Type_vector(BLOCKS, 1, 2, MPI_DOUBLE, &type); MPI_Type_commit(&type); }
static void vector_3(void) { MPI_Type_vector(BLOCKS, 3, 5, MPI_DOUBLE, &type); MPI_Type_commit(&type); }
static void vector_8(void) { MPI_Type_vector(BLOCKS, 8, 16, MPI_DOUBLE, &type); MPI_Type_commit(&type); }
static void vector_int(void) { MPI_Type_vector(BLOCKS, 1, 3, MPI_INT, &type); MPI_Type_commit(&type); }
static void vector_byte(void) { MPI_Type_vector(BLOCKS, 1, 4, MPI_BYTE, &type); MPI_Type_commit(&type); }
static void indexed(void)
{
    static int lengths[BLOCKS], places[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + i % 7;
        places[i] = 8 * i;
    }
    MPI_Type_indexed(BLOCKS, lengths, places, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
}
static void mixed(void)
{
    int lengths[3] = {1, 3, 1};
    MPI_Aint places[3] = {0, 8, 32};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, one;
    MPI_Type_create_struct(3, lengths, places, types, &one);
    MPI_Type_contiguous(BLOCKS, one, &type);
    MPI_Type_free(&one);
    MPI_Type_commit(&type);
}
static void face(void)
{
    int sizes[3] = {16, 16, 16}, parts[3] = {16, 4, 16}, starts[3] = {0, 4, 0};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
}
static void free_type(void) { MPI_Type_free(&type); }
static void pack(void) { position = 0; MPI_Pack(out, 1, type, packed, sizeof packed, &position, WORLD); }
static void unpack(void) { position = 0; MPI_Unpack(packed, sizeof packed, &position, in, 1, type, WORLD); }
static void pack_external(void) { position = 0; MPI_Aint at = 0; MPI_Pack_external("external32", out, 1, type, packed, sizeof packed, &at); }
static void commit_vector(void) { EACH { MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &type); MPI_Type_commit(&type); MPI_Type_free(&type); } }

/* Reductions */
static void reduce_short(void) { EACH MPI_Reduce_local(out, in, 8, MPI_DOUBLE, MPI_SUM); }
static void reduce_long(void) { MPI_Reduce_local(out, in, LONG, MPI_DOUBLE, MPI_SUM); }
static void reduce_int(void) { MPI_Reduce_local(out, in, LONG, MPI_INT, MPI_MAX); }
static void reduce_pair(void) { MPI_Reduce_local(out, in, LONG, MPI_2INT, MPI_MAXLOC); }
static void reduce_wide_pair(void) { MPI_Reduce_local(out, in, LONG, MPI_DOUBLE_INT, MPI_MINLOC); }
static void reduce_complex(void) { MPI_Reduce_local(out, in, LONG, MPI_C_DOUBLE_COMPLEX, MPI_PROD); }
static void reduce_byte(void) { MPI_Reduce_local(out, in, LONG, MPI_UINT8_T, MPI_BXOR); }

/* What asks nobody */
static void get_rank(void) { EACH MPI_Comm_rank(WORLD, &flag); }
static void wtime(void) { EACH MPI_Wtime(); }

struct path {
    const char *name;
    int calls; /* in one round */
    void (*prepare)(void), (*ahead)(void), (*counted)(void), (*after)(void), (*end)(void);
    int rank_1_too; /* rank 1 is in the counted operation, too */
};

#define ALONE(name, calls, prepare, counted, end) {name, calls, prepare, nothing, counted, nothing, end, 0}
#define BOTH(name, prepare, counted, after, end) {name, 1, prepare, nothing, counted, after, end, 1}
#define TAKEN(name, calls, counted, by_1) {name, calls, nothing, nothing, counted, by_1, nothing, 0}
#define GIVEN(name, calls, by_1, counted) {name, calls, nothing, by_1, counted, nothing, nothing, 0}

static void take_8(void) { if (rank) receive_8(); }
static void take_1k(void) { if (rank) receive_1k(); }
static void get_8(void) { if (!rank) receive_8(); }

static const struct path paths[] = {
    TAKEN("MPI_Send 8 B", BATCH, send_8, take_8),
    TAKEN("MPI_Send 1 KB", FEW, send_1k, take_1k),
    GIVEN("MPI_Recv 8 B", BATCH, give_8, receive_8),
    GIVEN("MPI_Recv 1 KB", FEW, give_1k, receive_1k),
    GIVEN("MPI_Recv any source", BATCH, give_8, receive_any),
    TAKEN("MPI_Isend, MPI_Wait", BATCH, isend_wait, take_8),
    TAKEN("MPI_Isend, MPI_Waitall", BATCH, isend_waitall, take_8),
    GIVEN("MPI_Irecv, MPI_Wait", BATCH, give_8, irecv_wait),
    GIVEN("MPI_Irecv, MPI_Waitall", BATCH, give_8, irecv_waitall),
    {"MPI_Start, MPI_Wait of a send", BATCH, prepare_persistent, nothing, start_wait, take_8, end_request, 0},
    {"MPI_Iprobe that finds", BATCH, nothing, give_8, probe_finds, get_8, nothing, 0},
    ALONE("MPI_Iprobe that finds nothing", BATCH, nothing, probe_misses, nothing),
    ALONE("MPI_Irecv, MPI_Send, MPI_Wait on MPI_COMM_SELF", BATCH, nothing, to_itself, nothing),
    ALONE("MPI_Test of a pending receive", BATCH, prepare_pending, test_pending, end_pending),
    BOTH("MPI_Barrier", nothing, barrier, nothing, nothing),
    BOTH("MPI_Bcast, root", nothing, bcast_root, nothing, nothing),
    BOTH("MPI_Bcast, other rank", nothing, bcast_leaf, nothing, nothing),
    BOTH("MPI_Reduce, root", nothing, reduce, nothing, nothing),
    BOTH("MPI_Allreduce", nothing, allreduce, nothing, nothing),
    BOTH("MPI_Allgather", nothing, allgather, nothing, nothing),
    BOTH("MPI_Alltoall", nothing, alltoall, nothing, nothing),
    BOTH("MPI_Gather, root", nothing, gather, nothing, nothing),
    BOTH("MPI_Scatter, other rank", nothing, scatter, nothing, nothing),
    BOTH("MPI_Scan", nothing, scan, nothing, nothing),
    BOTH("MPI_Ibarrier, MPI_Wait", nothing, ibarrier, nothing, nothing),
    BOTH("MPI_Iallreduce, MPI_Wait", nothing, iallreduce, nothing, nothing),
    BOTH("MPI_Start, MPI_Wait of an allreduce", prepare_allreduce, start_wait_once, nothing, end_request),
    BOTH("MPI_Comm_dup", nothing, duplicate, free_made, nothing),
    BOTH("MPI_Comm_split", nothing, split, free_made, nothing),
    {"MPI_Comm_free", 1, nothing, make, free_made, nothing, nothing, 2},
    ALONE("MPI_Put 8 B", BATCH, prepare_window, put, end_window),
    ALONE("MPI_Get 8 B", BATCH, prepare_window, get, end_window),
    ALONE("MPI_Accumulate 8 B", BATCH, prepare_window, accumulate, end_window),
    ALONE("MPI_Fetch_and_op", BATCH, prepare_window, fetch_and_op, end_window),
    ALONE("MPI_Compare_and_swap", BATCH, prepare_window, compare_and_swap, end_window),
    ALONE("MPI_Win_flush", BATCH, prepare_window, flush, end_window),
    ALONE("MPI_Win_lock, MPI_Win_unlock", BATCH, prepare_locked, lock_unlock, end_locked),
    BOTH("MPI_Win_fence", prepare_locked, fence, nothing, end_locked),
    ALONE("MPI_File_write_at 8 B", BATCH, prepare_file, write_at, end_file),
    BOTH("MPI_File_write_at_all 8 B", prepare_file, write_at_all, nothing, end_file),
    ALONE("MPI_Pack contiguous", 1, contiguous, pack, free_type),
    ALONE("MPI_Pack vector of 1 double", 1, vector_1, pack, free_type),
    ALONE("MPI_Unpack vector of 1 double", 1, vector_1, unpack, free_type),
    ALONE("MPI_Pack vector of 3 doubles", 1, vector_3, pack, free_type),
    ALONE("MPI_Unpack vector of 3 doubles", 1, vector_3, unpack, free_type),
    ALONE("MPI_Pack vector of 8 doubles", 1, vector_8, pack, free_type),
    ALONE("MPI_Unpack vector of 8 doubles", 1, vector_8, unpack, free_type),
    ALONE("MPI_Pack vector of 1 int", 1, vector_int, pack, free_type),
    ALONE("MPI_Pack vector of 1 byte", 1, vector_byte, pack, free_type),
    ALONE("MPI_Pack indexed", 1, indexed, pack, free_type),
    ALONE("MPI_Unpack indexed", 1, indexed, unpack, free_type),
    ALONE("MPI_Pack struct", 1, mixed, pack, free_type),
    ALONE("MPI_Unpack struct", 1, mixed, unpack, free_type),
    ALONE("MPI_Pack face of a cube", 1, face, pack, free_type),
    ALONE("MPI_Pack_external vector of 1 double", 1, vector_1, pack_external, free_type),
    ALONE("MPI_Type_vector, _commit, _free", BATCH, nothing, commit_vector, nothing),
    ALONE("MPI_Reduce_local sum of 8 doubles", BATCH, nothing, reduce_short, nothing),
    ALONE("MPI_Reduce_local sum of 1024 doubles", 1, nothing, reduce_long, nothing),
    ALONE("MPI_Reduce_local max of 1024 ints", 1, nothing, reduce_int, nothing),
    ALONE("MPI_Reduce_local maxloc of 1024 MPI_2INT", 1, nothing, reduce_pair, nothing),
    ALONE("MPI_Reduce_local minloc of 1024 MPI_DOUBLE_INT", 1, nothing, reduce_wide_pair, nothing),
    ALONE("MPI_Reduce_local product of 1024 complex", 1, nothing, reduce_complex, nothing),
    ALONE("MPI_Reduce_local xor of 1024 bytes", 1, nothing, reduce_byte, nothing),
    ALONE("MPI_Comm_rank", BATCH, nothing, get_rank, nothing),
    ALONE("MPI_Wtime", BATCH, nothing, wtime, nothing),
};

/* Rank 1 has begun its part for a while when rank 0 comes. */
static void once(const struct path *path, int is_counted)
{
    meet();
    if (rank) {
        path->ahead();
        if (path->rank_1_too == 2)
            meet();
        else
            steps[1] = ++here;
        if (path->rank_1_too)
            path->counted();
    } else {
        if (path->rank_1_too == 2) {
            path->ahead();
            meet();
        } else {
            here++;
            while (steps[1] < here)
                usleep(20);
            steps[0] = here;
        }
        if (is_counted) {
            usleep(path->rank_1_too == 1 ? 20000 : 1500); /* until rank 1 sleeps, and is not in its looks before that */
            CALLGRIND_ZERO_STATS; /* of what wakes collected: see tests/counts */
            CALLGRIND_TOGGLE_COLLECT;
        }
        path->counted();
        if (is_counted) {
            CALLGRIND_TOGGLE_COLLECT;
            char label[128];
            snprintf(label, sizeof label, "%d %s", path->calls, path->name);
            CALLGRIND_DUMP_STATS_AT(label);
        }
    }
    meet();
    path->after();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Win shared;
    void *base;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, WORLD, &base, &shared);
    MPI_Win_shared_query(shared, 0, &bytes, &unit, &base);
    steps = base;
    MPI_Barrier(WORLD);
    EACH requests[i] = MPI_REQUEST_NULL;
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct path *path = paths + i;
        if (argc > 1 && strcmp(argv[1], path->name))
            continue;
        path->prepare();
        for (int round = 0; round < WARM; round++)
            once(path, 0);
        for (int round = 0; round < ROUNDS; round++)
            once(path, 1);
        path->end();
    }
    MPI_Win_free(&shared);
    MPI_Finalize();
    return 0;
}
