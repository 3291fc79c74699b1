/* Collective operations: µs a call, to the last rank's completion (see bench.h).   collective [seconds each] [OPERATION[:BYTES] ...]
 * Sizes are those of the vector of bcast, reduce, allreduce, reduce_scatter and scan, and of one rank's part of allgather, alltoall,
 * gather and scatter. Roots go round, so that no root runs ahead of the others. Each result is checked once, outside the timed part.
 * A nonblocking operation is the call and MPI_Wait, allreduce_init MPI_Start and MPI_Wait of one persistent request, iallreduce_x8 eight
 * MPI_Iallreduce on the way together and MPI_Waitall: µs for all eight. Large data is exchanged for a while first: a library touches memory
 * of its own at first use, and page faults can make the first thousand calls ten times as slow. */
#include "bench.h"

enum { LARGEST = 1 << 20, FLIGHT = 8, LARGE = 65536 };
static const double WARM = 0.03; /* s */

static char *out, *in;
static int counts[1024];

struct shape {
    int bytes, elements;
    MPI_Request persistent;
};

static void barrier(long iterations, void *what)
{
    (void)what;
    for (long i = 0; i < iterations; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++)
        MPI_Bcast(in, ((struct shape *)what)->bytes, MPI_BYTE, (int)(i % bench_size), MPI_COMM_WORLD);
}

static void reduce(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++)
        MPI_Reduce(out, in, ((struct shape *)what)->elements, MPI_DOUBLE, MPI_SUM, (int)(i % bench_size), MPI_COMM_WORLD);
}

static void allreduce(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++)
        MPI_Allreduce(out, in, ((struct shape *)what)->elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter(long iterations, void *what)
{
    (void)what;
    for (long i = 0; i < iterations; i++)
        MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(long iterations, void *what)
{
    int bytes = ((struct shape *)what)->bytes;
    for (long i = 0; i < iterations; i++)
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(long iterations, void *what)
{
    int bytes = ((struct shape *)what)->bytes;
    for (long i = 0; i < iterations; i++)
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void gather(long iterations, void *what)
{
    int bytes = ((struct shape *)what)->bytes;
    for (long i = 0; i < iterations; i++)
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, (int)(i % bench_size), MPI_COMM_WORLD);
}

static void scatter(long iterations, void *what)
{
    int bytes = ((struct shape *)what)->bytes;
    for (long i = 0; i < iterations; i++)
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, (int)(i % bench_size), MPI_COMM_WORLD);
}

static void scan(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++)
        MPI_Scan(out, in, ((struct shape *)what)->elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void ibarrier(long iterations, void *what)
{
    (void)what;
    for (long i = 0; i < iterations; i++) {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void ibcast(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++) {
        MPI_Request request;
        MPI_Ibcast(in, ((struct shape *)what)->bytes, MPI_BYTE, (int)(i % bench_size), MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void iallreduce(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++) {
        MPI_Request request;
        MPI_Iallreduce(out, in, ((struct shape *)what)->elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void allreduce_init(long iterations, void *what)
{
    for (long i = 0; i < iterations; i++) {
        MPI_Start(&((struct shape *)what)->persistent);
        MPI_Wait(&((struct shape *)what)->persistent, MPI_STATUS_IGNORE);
    }
}

static void iallreduce_x8(long iterations, void *what)
{
    struct shape *shape = what;
    for (long i = 0; i < iterations; i++) {
        MPI_Request requests[FLIGHT];
        for (int k = 0; k < FLIGHT; k++) {
            size_t at = (size_t)k * shape->bytes;
            MPI_Iallreduce(out + at, in + at, shape->elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
        }
        MPI_Waitall(FLIGHT, requests, MPI_STATUSES_IGNORE);
    }
}

/* What an operation does to data, for the check. */
enum what { NOTHING, COPY, SUM, PARTS };

static const struct operation {
    const char *name;
    bench_body *body;
    enum what what;
    int sizes[5]; /* up to a zero; -1: no size */
} operations[] = {
    {"barrier", barrier, NOTHING, {-1}},
    {"bcast", bcast, COPY, {8, 1024, 65536, LARGEST}},
    {"allreduce", allreduce, SUM, {8, 1024, 65536, LARGEST}},
    {"allgather", allgather, PARTS, {8, 1024, 65536, LARGEST}},
    {"alltoall", alltoall, PARTS, {8, 1024, 65536, LARGEST}},
    {"reduce_scatter", reduce_scatter, SUM, {8, 1024, 65536, LARGEST}},
    {"reduce", reduce, SUM, {8, 1024, 65536, LARGEST}},
    {"gather", gather, PARTS, {8, 1024, 65536, LARGEST}},
    {"scatter", scatter, PARTS, {8, 1024, 65536, LARGEST}},
    {"scan", scan, SUM, {8, 1024, 65536, LARGEST}},
    {"ibarrier", ibarrier, NOTHING, {-1}},
    {"ibcast", ibcast, COPY, {8, 65536}},
    {"iallreduce", iallreduce, SUM, {8, 65536}},
    {"allreduce_init", allreduce_init, SUM, {8, 65536}},
    {"iallreduce_x8", iallreduce_x8, SUM, {8}},
};
/* Without any named. */
static char *usual[] = {"barrier", "bcast", "allreduce", "allgather", "alltoall", "reduce_scatter", "reduce"};

static void wrong(const char *name, int bytes)
{
    fprintf(stderr, "WRONG DATA in %s of %d bytes on rank %d\n", name, bytes, bench_rank);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void check_sum(const struct operation *operation, struct shape *shape)
{
    bench_body *body = operation->body;
    double *sums = (double *)in, *mine = (double *)out;
    int elements = shape->elements * (body == iallreduce_x8 ? FLIGHT : 1), first = 0, number = elements;
    int terms = body == scan ? bench_rank + 1 : bench_size;
    for (int i = 0; i < elements; i++)
        mine[i] = bench_rank + i % 100, sums[i] = -1;
    body(1, shape);
    if (body == reduce_scatter) {
        number = counts[bench_rank];
        for (int r = 0; r < bench_rank; r++)
            first += counts[r];
    }
    if (body != reduce || bench_rank == 0)
        for (int i = 0; i < number; i++)
            if (sums[i] != terms * (terms - 1) / 2 + terms * ((first + i) % 100))
                wrong(operation->name, shape->bytes);
}

static void check_parts(const struct operation *operation, struct shape *shape)
{
    bench_body *body = operation->body;
    size_t bytes = shape->bytes;
    int to_each = body == alltoall || body == scatter, from_each = body != scatter;
    for (int r = 0; r < (to_each ? bench_size : 1); r++)
        bench_fill(out + r * bytes, bytes, bench_rank * 7 + r);
    memset(in, -1, bytes * bench_size);
    body(1, shape);
    if (body != gather || bench_rank == 0)
        for (int r = 0; r < (from_each ? bench_size : 1); r++)
            bench_check(in + r * bytes, bytes, r * 7 + (to_each ? bench_rank : 0), operation->name);
}

/* Once with data that tells who it comes from; rank 0 is the root. */
static void check(const struct operation *operation, struct shape *shape)
{
    if (operation->what == SUM)
        check_sum(operation, shape);
    else if (operation->what == PARTS)
        check_parts(operation, shape);
    else if (operation->what == COPY) {
        bench_fill(in, shape->bytes, bench_rank * 7);
        operation->body(1, shape);
        bench_check(in, shape->bytes, 0, operation->name);
    }
}

static void cell(const struct operation *operation, int bytes, double budget)
{
    struct shape shape = {bytes, bytes / (int)sizeof(double), MPI_REQUEST_NULL};
    for (int r = 0; r < bench_size; r++)
        counts[r] = (r + 1) * shape.elements / bench_size - r * shape.elements / bench_size;
    if (operation->body == allreduce_init)
        MPI_Allreduce_init(out, in, shape.elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &shape.persistent);
    check(operation, &shape);
    double spent = 0;
    for (long n = 1; bytes >= LARGE && spent < WARM; n = 2 * n < bench_size ? 2 * n : bench_size) /* then each is the root as often */
        spent += bench_batch(operation->body, &shape, n);
    double time = bench_measure(operation->body, &shape, budget);
    if (bench_rank == 0)
        bench_result(operation->name, bytes, 1e6 * time, "us", "lower");
    if (shape.persistent != MPI_REQUEST_NULL)
        MPI_Request_free(&shape.persistent);
}

/* All sizes of an operation, or the one that is named with it. */
static void cells(const char *named, double budget)
{
    size_t length = strcspn(named, ":");
    const struct operation *operation = operations, *end = operations + sizeof operations / sizeof *operations;
    while (operation < end && (strlen(operation->name) != length || strncmp(operation->name, named, length)))
        operation++;
    int bytes = named[length] ? atoi(named + length + 1) : 0;
    int most = operation < end && operation->body == iallreduce_x8 ? LARGEST / FLIGHT : LARGEST;
    if (operation == end || bytes < 0 || bytes > most || bytes % sizeof(double)) {
        if (bench_rank == 0)
            fprintf(stderr, "%s: no operation of collective.c, or a size that is no multiple of 8 up to %d\n", named, most);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (bytes)
        cell(operation, bytes, budget);
    for (const int *size = operation->sizes; !bytes && *size; size++)
        cell(operation, *size, budget);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    out = bench_buffer((size_t)LARGEST * bench_size);
    in = bench_buffer((size_t)LARGEST * bench_size);
    char **named = argc > 2 ? argv + 2 : usual, **end = argc > 2 ? argv + argc : usual + sizeof usual / sizeof *usual;
    for (; named < end; named++)
        cells(*named, budget);
    MPI_Finalize();
    return 0;
}
