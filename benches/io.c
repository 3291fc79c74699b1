/* Files: ns a call, or MB/s of all ranks together, to the last rank's completion (see bench.h); in the page cache.
 *   io [-m mpi|raw] [-d directory] [-s seconds per row] [only rows whose name contains this]
 * raw: the same bytes by open, pread and pwrite of the ranks, each its own contiguous share of the same file, for comparison. Rows that have
 * nothing of the kind are not in it.
 * What rows of writing leave in the file is verified by plain reading, outside of the timed part. */
#include "bench.h"
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum {
    KB = 1 << 10, MB = 1 << 20, LARGE = 4 * MB, STRIDED = MB, SPAN = 8 * MB, GRID = 256, INDEXED = 100000, DEEP = 60000, FEW = 1024,
    OVERLAPPED = 64 * MB,
};

static const char *directory = "/tmp";
static char path[400];
static int raw, fd = -1;
static MPI_File file = MPI_FILE_NULL;
static MPI_Datatype cyclic, cyclic_32k, block, narrow, wide, indexed, holes;
static char *buffer;
static size_t block_bytes;

#define MUST(call) do { \
        int code_ = (call), length_; \
        char text_[MPI_MAX_ERROR_STRING]; \
        if (code_ != MPI_SUCCESS) { \
            MPI_Error_string(code_, text_, &length_); \
            fprintf(stderr, "%s: %s\n", #call, text_); \
            MPI_Abort(MPI_COMM_WORLD, 2); \
        } } while (0)

static void whole(ssize_t moved, size_t bytes)
{
    if (moved != (ssize_t)bytes) {
        perror("pread or pwrite");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* Where a rank's own part of the file begins. */
static MPI_Offset own(void) { return (MPI_Offset)bench_rank * SPAN; }

#define BODY(name, call) \
    static void name(long iterations, void *what) \
    { \
        const size_t bytes = *(const size_t *)what; \
        (void)bytes; \
        for (long i = 0; i < iterations; i++) { \
            call; \
        } \
    }

/* Small ones walk over 1,024 places. */
#define PLACE (own() + i % FEW * (MPI_Offset)(bytes <= 4 * KB ? bytes : 0))
#define IGNORE MPI_STATUS_IGNORE
BODY(write_at, MUST(MPI_File_write_at(file, PLACE, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(read_at, MUST(MPI_File_read_at(file, PLACE, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(write_at_all, MUST(MPI_File_write_at_all(file, PLACE, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(read_at_all, MUST(MPI_File_read_at_all(file, PLACE, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(raw_write, whole(pwrite(fd, buffer, bytes, PLACE), bytes))
BODY(raw_read, whole(pread(fd, buffer, bytes, PLACE), bytes))

/* The individual pointer, from the rank's own part on. */
BODY(write_next, { if (i % FEW == 0) MUST(MPI_File_seek(file, own(), MPI_SEEK_SET)); MUST(MPI_File_write(file, buffer, bytes, MPI_BYTE, IGNORE)); })
BODY(read_next, { if (i % FEW == 0) MUST(MPI_File_seek(file, own(), MPI_SEEK_SET)); MUST(MPI_File_read(file, buffer, bytes, MPI_BYTE, IGNORE)); })

/* Into a file without pages: one rank cuts it off before each. */
static void emptied(void)
{
    if (bench_rank == 0 && truncate(path, 0) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
}
BODY(write_new, { emptied(); MUST(MPI_File_write_at(file, (MPI_Offset)bench_rank * bytes, buffer, bytes, MPI_BYTE, IGNORE)); MPI_Barrier(MPI_COMM_WORLD); })
BODY(write_new_all, { emptied(); MUST(MPI_File_write_at_all(file, (MPI_Offset)bench_rank * bytes, buffer, bytes, MPI_BYTE, IGNORE)); MPI_Barrier(MPI_COMM_WORLD); })
BODY(raw_new, { emptied(); whole(pwrite(fd, buffer, bytes, (MPI_Offset)bench_rank * bytes), bytes); MPI_Barrier(MPI_COMM_WORLD); })

/* Through a view, from its beginning. */
BODY(view_write, MUST(MPI_File_write_at(file, 0, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(view_read, MUST(MPI_File_read_at(file, 0, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(view_write_all, MUST(MPI_File_write_at_all(file, 0, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(view_read_all, MUST(MPI_File_read_at_all(file, 0, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(raw_share_write, whole(pwrite(fd, buffer, bytes, (MPI_Offset)bench_rank * bytes), bytes))
BODY(raw_share_read, whole(pread(fd, buffer, bytes, (MPI_Offset)bench_rank * bytes), bytes))
BODY(set_view, MUST(MPI_File_set_view(file, 0, MPI_BYTE, indexed, "native", MPI_INFO_NULL)))
BODY(deep_write, MUST(MPI_File_write_at(file, (MPI_Offset)DEEP * 16, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(deep_read, MUST(MPI_File_read_at(file, (MPI_Offset)DEEP * 16, buffer, bytes, MPI_BYTE, IGNORE)))
BODY(deep_position, { MPI_Offset at; MUST(MPI_File_get_position(file, &at)); MUST(MPI_File_get_byte_offset(file, at + (MPI_Offset)DEEP * 16, &at)); })

/* Memory with holes. */
BODY(holes_write, MUST(MPI_File_write_at(file, own(), buffer, 1, holes, IGNORE)))
BODY(holes_read, MUST(MPI_File_read_at(file, own(), buffer, 1, holes, IGNORE)))

/* The shared pointer; it goes back, or the file would grow without end. */
static void rewind_shared(long i)
{
    if (i % FEW == 0)
        MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}
BODY(write_shared, { rewind_shared(i); MUST(MPI_File_write_shared(file, buffer, bytes, MPI_BYTE, IGNORE)); })
BODY(write_ordered, { rewind_shared(i); MUST(MPI_File_write_ordered(file, buffer, bytes, MPI_BYTE, IGNORE)); })

/* Opening. */
static void open_and_close(MPI_Comm comm)
{
    MPI_File opened;
    MUST(MPI_File_open(comm, path, MPI_MODE_RDWR, MPI_INFO_NULL, &opened));
    MUST(MPI_File_close(&opened));
}
BODY(open_self, open_and_close(MPI_COMM_SELF))
BODY(open_world, open_and_close(MPI_COMM_WORLD))
BODY(raw_open, { int opened = open(path, O_RDWR | O_CLOEXEC); if (opened < 0) abort(); close(opened); })

/* Nonblocking, waited for at once. */
static void done(MPI_Request *request) { MUST(MPI_Wait(request, MPI_STATUS_IGNORE)); }
BODY(iwrite_at, { MPI_Request r; MUST(MPI_File_iwrite_at(file, PLACE, buffer, bytes, MPI_BYTE, &r)); done(&r); })
BODY(iread_at, { MPI_Request r; MUST(MPI_File_iread_at(file, PLACE, buffer, bytes, MPI_BYTE, &r)); done(&r); })
BODY(view_iwrite_all, { MPI_Request r; MUST(MPI_File_iwrite_at_all(file, 0, buffer, bytes, MPI_BYTE, &r)); done(&r); })

BODY(write_sync, { MUST(MPI_File_write_at(file, PLACE, buffer, bytes, MPI_BYTE, IGNORE)); MUST(MPI_File_sync(file)); })
BODY(raw_sync, { whole(pwrite(fd, buffer, bytes, PLACE), bytes); MPI_Barrier(MPI_COMM_WORLD); if (bench_rank == 0 && fsync(fd)) abort(); MPI_Barrier(MPI_COMM_WORLD); })

/* So many seconds of computing, without MPI. */
static void compute(double seconds)
{
    volatile double sum = 0;
    for (double end = probe_now() + seconds; probe_now() < end;)
        for (int i = 1; i < 200; i++)
            sum += 1.0 / i;
}

#define COMPUTING 0.01
BODY(write_and_compute, { MPI_Request r; MUST(MPI_File_iwrite_at(file, bench_rank * (MPI_Offset)bytes, buffer, bytes, MPI_BYTE, &r)); compute(COMPUTING); done(&r); })
BODY(write_all_and_compute, { MPI_Request r; MUST(MPI_File_iwrite_at_all(file, 0, buffer, bytes, MPI_BYTE, &r)); compute(COMPUTING); done(&r); })
BODY(raw_write_then_compute, { whole(pwrite(fd, buffer, bytes, (MPI_Offset)bench_rank * bytes), bytes); compute(COMPUTING); })

enum unit { NS, RATE };
enum view { BYTES, CYCLIC, CYCLIC_32K, BLOCKS, NARROW, WIDE, DEEP_INDEXED, ATOMIC };

static const struct row {
    const char *name;
    bench_body *body, *by_hand;
    size_t bytes;
    enum unit unit;
    enum view view;
    int overlaps; /* with a computation of the same length */
} rows[] = {
    {"write_at_8", write_at, raw_write, 8, NS, BYTES, 0},
    {"read_at_8", read_at, raw_read, 8, NS, BYTES, 0},
    {"write_8", write_next, raw_write, 8, NS, BYTES, 0},
    {"read_8", read_next, raw_read, 8, NS, BYTES, 0},
    {"write_at_4K", write_at, raw_write, 4 * KB, NS, BYTES, 0},
    {"read_at_4K", read_at, raw_read, 4 * KB, NS, BYTES, 0},
    {"write_at_64K", write_at, raw_write, 64 * KB, NS, BYTES, 0},
    {"atomic_write_at_64K", write_at, raw_write, 64 * KB, NS, ATOMIC, 0},
    {"write_at_4M", write_at, raw_write, LARGE, RATE, BYTES, 0},
    {"read_at_4M", read_at, raw_read, LARGE, RATE, BYTES, 0},
    {"write_at_all_4M", write_at_all, raw_write, LARGE, RATE, BYTES, 0},
    {"read_at_all_4M", read_at_all, raw_read, LARGE, RATE, BYTES, 0},
    {"new_write_at_4M", write_new, raw_new, LARGE, RATE, BYTES, 0},
    {"new_write_at_all_4M", write_new_all, raw_new, LARGE, RATE, BYTES, 0},
    {"memory_with_holes_write_1M", holes_write, raw_write, MB, RATE, BYTES, 0},
    {"memory_with_holes_read_1M", holes_read, raw_read, MB, RATE, BYTES, 0},
    {"write_all_cyclic_16", view_write_all, raw_share_write, STRIDED, RATE, CYCLIC, 0},
    {"read_all_cyclic_16", view_read_all, raw_share_read, STRIDED, RATE, CYCLIC, 0},
    {"write_all_cyclic_32K", view_write_all, raw_share_write, LARGE, RATE, CYCLIC_32K, 0},
    {"read_all_cyclic_32K", view_read_all, raw_share_read, LARGE, RATE, CYCLIC_32K, 0},
    {"write_all_grid", view_write_all, raw_share_write, 0, RATE, BLOCKS, 0},
    {"read_all_grid", view_read_all, raw_share_read, 0, RATE, BLOCKS, 0},
    {"write_16_of_64", view_write, raw_share_write, STRIDED, RATE, NARROW, 0},
    {"read_16_of_64", view_read, raw_share_read, STRIDED, RATE, NARROW, 0},
    {"write_512_of_1024", view_write, raw_share_write, STRIDED, RATE, WIDE, 0},
    {"read_512_of_1024", view_read, raw_share_read, STRIDED, RATE, WIDE, 0},
    {"set_view_100000", set_view, NULL, 0, NS, BYTES, 0},
    {"deep_write_8", deep_write, raw_write, 8, NS, DEEP_INDEXED, 0},
    {"deep_read_8", deep_read, raw_read, 8, NS, DEEP_INDEXED, 0},
    {"deep_position", deep_position, NULL, 0, NS, DEEP_INDEXED, 0},
    {"write_shared_8", write_shared, raw_write, 8, NS, BYTES, 0},
    {"write_ordered_8", write_ordered, raw_write, 8, NS, BYTES, 0},
    {"open_close_self", open_self, raw_open, 0, NS, BYTES, 0},
    {"open_close_world", open_world, raw_open, 0, NS, BYTES, 0},
    {"iwrite_at_8_wait", iwrite_at, raw_write, 8, NS, BYTES, 0},
    {"iread_at_8_wait", iread_at, raw_read, 8, NS, BYTES, 0},
    {"sync_write_at_4M", write_sync, raw_sync, LARGE, RATE, BYTES, 0},
    {"overlap_iwrite_at_64M", iwrite_at, NULL, OVERLAPPED, RATE, BYTES, 1},
    {"overlap_iwrite_all_cyclic_16", view_iwrite_all, NULL, STRIDED, RATE, CYCLIC, 1},
    {"compute_10ms_iwrite_at_64M", write_and_compute, raw_write_then_compute, OVERLAPPED, NS, BYTES, 0},
    {"compute_10ms_iwrite_all_cyclic_16", write_all_and_compute, raw_write_then_compute, STRIDED, NS, CYCLIC, 0},
};

/* Types of views and of memory, all committed. */
static void make_types(void)
{
    MPI_Datatype one;
    MPI_Type_contiguous(16, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, 16L * bench_size, &cyclic);
    MPI_Type_free(&one);
    MPI_Type_contiguous(32 * KB, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, 32L * KB * bench_size, &cyclic_32k);
    MPI_Type_free(&one);
    /* The last dimension is cut first, so that there are holes. */
    int parts[3] = {0}, sizes[3] = {GRID, GRID, GRID}, subsizes[3], starts[3], rest = bench_rank;
    MPI_Dims_create(bench_size, 3, parts);
    block_bytes = sizeof(double);
    for (int i = 0; i < 3; i++) {
        int cut = parts[2 - i], at = rest % cut;
        rest /= cut;
        starts[i] = GRID / cut * at;
        subsizes[i] = at == cut - 1 ? GRID - starts[i] : GRID / cut;
        block_bytes *= subsizes[i];
    }
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &block);
    MPI_Type_contiguous(16, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, 64, &narrow);
    MPI_Type_free(&one);
    MPI_Type_contiguous(512, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, 1024, &wide);
    MPI_Type_free(&one);
    MPI_Type_vector(4 * KB, 256, 512, MPI_BYTE, &holes);
    /* Pieces of 16 bytes at irregular places. */
    int *at = malloc(INDEXED * sizeof(int));
    for (int i = 0; i < INDEXED; i++)
        at[i] = 32 * i + i % 3;
    MPI_Type_create_indexed_block(INDEXED, 16, at, MPI_BYTE, &indexed);
    free(at);
    MPI_Datatype *all[] = {&cyclic, &cyclic_32k, &block, &narrow, &wide, &holes, &indexed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        MPI_Type_commit(all[i]);
}

static void show(const struct row *row)
{
    struct { MPI_Offset from; MPI_Datatype type; } of[] = {
        [BYTES] = {0, MPI_BYTE}, [ATOMIC] = {0, MPI_BYTE}, [CYCLIC] = {16L * bench_rank, cyclic}, [CYCLIC_32K] = {32L * KB * bench_rank, cyclic_32k},
        [BLOCKS] = {0, block}, [NARROW] = {own(), narrow}, [WIDE] = {own(), wide}, [DEEP_INDEXED] = {own(), indexed},
    };
    MUST(MPI_File_set_view(file, of[row->view].from, MPI_BYTE, of[row->view].type, "native", MPI_INFO_NULL));
    if (row->view == ATOMIC)
        MUST(MPI_File_set_atomicity(file, 1));
}

/* What a strided row has written, a piece at a time, by plain reading. */
static void verify(const struct row *row, size_t bytes)
{
    size_t piece = 0;
    MPI_Offset from = 0, stride = 0;
    char *found = malloc(32 * KB);
    if (row->view == CYCLIC || row->view == CYCLIC_32K) {
        piece = row->view == CYCLIC ? 16 : 32 * KB;
        from = (MPI_Offset)piece * bench_rank;
        stride = (MPI_Offset)piece * bench_size;
    } else if (row->view == NARROW || row->view == WIDE) {
        piece = row->view == NARROW ? 16 : 512;
        from = own();
        stride = row->view == NARROW ? 64 : 1024;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t n = 0; piece && n < bytes / piece; n += 1 + bytes / piece / 97) {
        whole(pread(fd, found, piece, from + n * stride), piece);
        if (memcmp(found, buffer + n * piece, piece)) {
            fprintf(stderr, "WRONG DATA in %s: rank %d, piece %zu\n", row->name, bench_rank, n);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    free(found);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void start_one(const struct row *row, size_t bytes, MPI_Request *request)
{
    if (row->view == BYTES)
        MUST(MPI_File_iwrite_at(file, bench_rank * (MPI_Offset)bytes, buffer, bytes, MPI_BYTE, request));
    else
        MUST(MPI_File_iwrite_at_all(file, 0, buffer, bytes, MPI_BYTE, request));
}

/* The share of an operation that goes on while the ranks compute, in %: (alone + computing - both) / alone. Median of five. */
static double overlap(const struct row *row, size_t bytes)
{
    double shares[BATCHES], alone = 0;
    for (int i = -1; i < BATCHES; i++) {
        double times[2];
        for (int computes = 0; computes < 2; computes++) {
            MPI_Request request;
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = -probe_now(), edges[2], extreme[2];
            start_one(row, bytes, &request);
            if (computes)
                compute(alone);
            done(&request);
            edges[0] = begin;
            edges[1] = probe_now();
            MPI_Allreduce(edges, extreme, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            times[computes] = extreme[1] + extreme[0];
            alone = computes ? alone : times[0];
        }
        if (i >= 0)
            shares[i] = 100 * (2 * times[0] - times[1]) / times[0];
    }
    double share = probe_median(shares, BATCHES);
    return share < 0 ? 0 : share;
}

static void measure(const struct row *row, double budget)
{
    size_t bytes = row->view == BLOCKS ? block_bytes : row->bytes;
    bench_body *body = raw ? row->by_hand : row->body;
    /* What is to overlap with computing needs a core of its own. */
    if (!body || (row->overlaps && bench_size > 2))
        return;
    if (!raw)
        show(row);
    double value = row->overlaps ? overlap(row, bytes) : bench_measure(body, &bytes, budget);
    if (!raw && (body == view_write || body == view_write_all))
        verify(row, bytes);
    if (!raw && row->view == ATOMIC)
        MUST(MPI_File_set_atomicity(file, 0));
    double all_bytes = (double)bytes * bench_size;
    if (row->view == BLOCKS)
        all_bytes = 8.0 * GRID * GRID * GRID;
    if (bench_rank != 0)
        return;
    if (row->overlaps)
        bench_result(row->name, bench_size, value, "%", "higher");
    else if (row->unit == RATE)
        bench_result(row->name, bench_size, all_bytes / value / 1e6, "MB/s", "higher");
    else
        bench_result(row->name, bench_size, 1e9 * value, "ns", "lower");
    fflush(stdout);
}

/* A file with pages for all that is done to it. */
static void make_file(void)
{
    snprintf(path, sizeof path, "%s/oxmpi-bench-io-%ld", directory, (long)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (bench_rank == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        size_t most = (size_t)bench_size * SPAN, grid = sizeof(double) * GRID * GRID * GRID;
        for (size_t at = 0; at < (most > grid ? most : grid); at += MB)
            whole(pwrite(fd, buffer, MB, at), MB);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank != 0)
        fd = open(path, O_RDWR);
    if (fd < 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (!raw)
        MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

int main(int argc, char **argv)
{
    double budget = 0.03;
    const char *only = "";
    bench_start(&argc, &argv);
    for (int option; (option = getopt(argc, argv, "m:d:s:")) != -1;) {
        if (option == 'm')
            raw = !strcmp(optarg, "raw");
        else if (option == 'd')
            directory = optarg;
        else if (option == 's')
            budget = atof(optarg);
        else
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (optind < argc)
        only = argv[optind];
    make_types();
    size_t most = block_bytes > OVERLAPPED ? block_bytes : OVERLAPPED;
    buffer = bench_buffer(most);
    bench_fill(buffer, most, bench_rank + 1);
    make_file();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(rows[i].name, only))
            measure(&rows[i], budget);
    if (!raw)
        MUST(MPI_File_close(&file));
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank == 0)
        unlink(path);
    MPI_Finalize();
    return 0;
}
