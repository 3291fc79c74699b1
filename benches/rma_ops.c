/* One-sided operations from rank 0 to rank 1: ns a call, or MB/s of larger ones (see bench.h).
 *   rma_ops [-w allocate|create|static|stack] [-b BYTES] [-i auto|now|edges|no] [-s wait|sleep|compute|stop] [-e] [seconds per row]
 *           [only rows whose name contains this]
 * Rank 0 holds MPI_Win_lock_all and has touched all lines. The other ranks wait in a barrier, or sleep or compute outside of MPI until
 * the batch is over, which they are told past MPI, or are stopped by SIGSTOP meanwhile. create, static, stack: MPI_Win_create over memory of
 * malloc, a static variable, main's frame. -b: of so many bytes, where malloc puts them, and only rows that need no more.
 * -i: the hint oxmpi_share. -e: the hint mpi_accumulate_granularity=8. */
#include "bench.h"
#include <signal.h>
#include <string.h>

enum { LARGEST = 4 << 20, WINDOW = 64, PIECES = 256 };

struct row {
    const char *name;
    MPI_Win win;
    char *mine, *theirs;
    int bytes, count;
    MPI_Datatype type;
};

static const char *target_does = "wait";
static long window_bytes = LARGEST;
static int *pids;

/* What ranks other than 0 do during a batch: the word changes at its end. */
static struct {
    _Atomic uint32_t *word;
} over;
static uint32_t batch;

static void share_word(void)
{
    int where[2] = {-1, getpid()};
    if (bench_rank == 0) {
        where[0] = memfd_create("over", 0);
        if (where[0] < 0 || ftruncate(where[0], 4096) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", where[1], where[0]);
    int fd = open(name, O_RDWR);
    over.word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (over.word == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

/* Stops the other ranks, or lets them go on; they wait in the barrier behind the batch. */
static void send_all(int signal)
{
    if (strcmp(target_does, "stop") == 0)
        for (int r = 1; r < bench_size; r++)
            kill(pids[r], signal);
}

static void stay_away(void)
{
    volatile double sum = 0;
    if (strcmp(target_does, "wait") == 0 || strcmp(target_does, "stop") == 0)
        return;
    while (atomic_load(over.word) != batch) {
        if (strcmp(target_does, "sleep") == 0) {
            struct timespec pause = {0, 1000000};
            nanosleep(&pause, NULL);
        } else
            for (int i = 1; i < 1000; i++)
                sum += 1.0 / i;
    }
}

#define BODY(name, call) \
    static void name(long iterations, void *what) \
    { \
        struct row *r = what; \
        (void)r; \
        batch++; \
        if (bench_rank != 0) { \
            stay_away(); \
            return; \
        } \
        send_all(SIGSTOP); \
        for (long i = 0; i < iterations; i++) { \
            call; \
        } \
        MPI_Win_flush_all(r->win); \
        send_all(SIGCONT); \
        atomic_store(over.word, batch); \
    }

BODY(put_call, MPI_Put(r->mine, r->bytes, MPI_BYTE, 1, 0, r->bytes, MPI_BYTE, r->win))
BODY(get_call, MPI_Get(r->mine, r->bytes, MPI_BYTE, 1, 0, r->bytes, MPI_BYTE, r->win))
BODY(put_flush, MPI_Put(r->mine, r->bytes, MPI_BYTE, 1, 0, r->bytes, MPI_BYTE, r->win); MPI_Win_flush(1, r->win))
BODY(get_flush, MPI_Get(r->mine, r->bytes, MPI_BYTE, 1, 0, r->bytes, MPI_BYTE, r->win); MPI_Win_flush(1, r->win))
BODY(put_bw, for (int k = 0; k < WINDOW; k++) MPI_Put(r->mine, r->bytes, MPI_BYTE, 1, 0, r->bytes, MPI_BYTE, r->win);
     MPI_Win_flush(1, r->win))
BODY(get_bw, for (int k = 0; k < WINDOW; k++) MPI_Get(r->mine, r->bytes, MPI_BYTE, 1, 0, r->bytes, MPI_BYTE, r->win);
     MPI_Win_flush(1, r->win))
BODY(accumulate, MPI_Accumulate(r->mine, r->count, MPI_DOUBLE, 1, 0, r->count, MPI_DOUBLE, MPI_SUM, r->win);
     MPI_Win_flush(1, r->win))
BODY(get_accumulate, MPI_Get_accumulate(r->mine, r->count, MPI_DOUBLE, r->theirs, r->count, MPI_DOUBLE, 1, 0, r->count, MPI_DOUBLE,
                                        MPI_SUM, r->win);
     MPI_Win_flush(1, r->win))
BODY(accumulate_call, MPI_Accumulate(r->mine, r->count, MPI_DOUBLE, 1, 0, r->count, MPI_DOUBLE, MPI_SUM, r->win))
BODY(fetch, MPI_Fetch_and_op(r->mine, r->theirs, MPI_LONG, 1, 0, MPI_SUM, r->win); MPI_Win_flush(1, r->win))
BODY(fetch_call, MPI_Fetch_and_op(r->mine, r->theirs, MPI_LONG, 1, 0, MPI_SUM, r->win))
BODY(swap, MPI_Compare_and_swap(r->mine, r->mine + 8, r->theirs, MPI_LONG, 1, 0, r->win); MPI_Win_flush(1, r->win))
BODY(swap_call, MPI_Compare_and_swap(r->mine, r->mine + 8, r->theirs, MPI_LONG, 1, 0, r->win))
BODY(put_strided, MPI_Put(r->mine, PIECES, MPI_DOUBLE, 1, 0, 1, r->type, r->win); MPI_Win_flush(1, r->win))
BODY(get_strided, MPI_Get(r->mine, PIECES, MPI_DOUBLE, 1, 0, 1, r->type, r->win); MPI_Win_flush(1, r->win))

static const char *only = "";

static void measure(struct row *row, bench_body *body, const char *name, double budget, int bytes, double per, const char *unit)
{
    int reach = strstr(name, "strided") ? 8 * bytes : bytes;
    if (!strstr(name, only) || reach > window_bytes)
        return;
    row->bytes = bytes;
    row->count = bytes / 8;
    double time = bench_measure(body, row, budget);
    if (bench_rank != 0)
        return;
    int rate = strcmp(unit, "MB/s") == 0;
    bench_result(name, bytes, rate ? per * bytes / time / 1e6 : 1e9 * time / per, unit, rate ? "higher" : "lower");
}

static char fixed[LARGEST];

int main(int argc, char **argv)
{
    char frame[LARGEST];
    const char *kind = "allocate", *share = NULL;
    int option, elements = 0;
    bench_start(&argc, &argv);
    while ((option = getopt(argc, argv, "w:b:i:s:e")) != -1) {
        if (option == 'w')
            kind = optarg;
        else if (option == 'b')
            window_bytes = atol(optarg);
        else if (option == 'i')
            share = optarg;
        else if (option == 's')
            target_does = optarg;
        else if (option == 'e')
            elements = 1;
        else
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double budget = bench_argument(argc, argv, optind, 0.2);
    if (argc > optind + 1)
        only = argv[optind + 1];
    if (bench_size < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    share_word();
    int pid = getpid();
    pids = malloc(bench_size * sizeof *pids);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    struct row row = {.mine = bench_buffer(LARGEST), .theirs = bench_buffer(LARGEST)};
    char *base;
    MPI_Info info = MPI_INFO_NULL;
    if (elements || share)
        MPI_Info_create(&info);
    if (elements)
        MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    if (share)
        MPI_Info_set(info, "oxmpi_share", share);
    if (strcmp(kind, "allocate") != 0) {
        base = strcmp(kind, "static") == 0 ? fixed : strcmp(kind, "stack") == 0 ? frame
               : window_bytes < LARGEST ? malloc(window_bytes) : bench_buffer(LARGEST);
        MPI_Win_create(base, window_bytes, 1, info, MPI_COMM_WORLD, &row.win);
    } else
        MPI_Win_allocate(window_bytes, 1, info, MPI_COMM_WORLD, &base, &row.win);
    memset(base, 0, window_bytes);
    memset(row.mine, 0, LARGEST);
    MPI_Win_lock_all(0, row.win);
    MPI_Win_sync(row.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank == 0) { /* a fast wrong answer is no answer */
        bench_fill(row.mine, window_bytes, 5);
        MPI_Put(row.mine, window_bytes, MPI_BYTE, 1, 0, window_bytes, MPI_BYTE, row.win);
        MPI_Win_flush(1, row.win);
        MPI_Get(row.theirs, window_bytes, MPI_BYTE, 1, 0, window_bytes, MPI_BYTE, row.win);
        MPI_Win_flush(1, row.win);
        bench_check(row.theirs, window_bytes, 5, "get");
        memset(row.mine, 0, window_bytes);
        MPI_Put(row.mine, window_bytes, MPI_BYTE, 1, 0, window_bytes, MPI_BYTE, row.win);
        MPI_Win_flush(1, row.win);
    }
    MPI_Type_vector(PIECES, 1, 8, MPI_DOUBLE, &row.type);
    MPI_Type_commit(&row.type);
    MPI_Barrier(MPI_COMM_WORLD);
    measure(&row, put_call, "put", budget, 8, 1, "ns");
    measure(&row, get_call, "get", budget, 8, 1, "ns");
    static const int sizes[] = {8, 1024, 65536, 1 << 20, LARGEST};
    for (int i = 0; i < 5; i++) {
        measure(&row, put_flush, "put_flush", budget, sizes[i], 1, "ns");
        measure(&row, get_flush, "get_flush", budget, sizes[i], 1, "ns");
    }
    measure(&row, put_bw, "put_bw", budget, 8, WINDOW, "MB/s");
    measure(&row, get_bw, "get_bw", budget, 8, WINDOW, "MB/s");
    measure(&row, put_bw, "put_bw", budget, 65536, WINDOW, "MB/s");
    measure(&row, get_bw, "get_bw", budget, 65536, WINDOW, "MB/s");
    measure(&row, accumulate_call, "accumulate", budget, 8, 1, "ns");
    for (int i = 0; i < 5; i++)
        measure(&row, accumulate, "accumulate_flush", budget, sizes[i], 1, "ns");
    for (int i = 0; i < 5; i++)
        measure(&row, get_accumulate, "get_accumulate_flush", budget, sizes[i], 1, "ns");
    measure(&row, fetch_call, "fetch_and_op", budget, 8, 1, "ns");
    measure(&row, fetch, "fetch_and_op_flush", budget, 8, 1, "ns");
    measure(&row, swap_call, "compare_and_swap", budget, 8, 1, "ns");
    measure(&row, swap, "compare_and_swap_flush", budget, 8, 1, "ns");
    measure(&row, put_strided, "put_strided", budget, 8 * PIECES, 1, "ns");
    measure(&row, get_strided, "get_strided", budget, 8 * PIECES, 1, "ns");
    MPI_Win_unlock_all(row.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&row.type);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    MPI_Win_free(&row.win);
    MPI_Finalize();
    return 0;
}
