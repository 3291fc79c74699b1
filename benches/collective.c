/* Collective operations: µs a call, to the last rank's completion (see bench.h).   collective [seconds each] [operation ...]
 * Sizes are those of the vector of bcast, reduce, allreduce and reduce_scatter, and of one rank's part of allgather and alltoall.
 * Roots go round, so that no root runs ahead of the others. Each result is checked once, outside the timed part. */
#include "bench.h"

enum { LARGEST = 1 << 20 };

static char *out, *in;
static int counts[1024];

struct shape {
    int bytes, elements;
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

static const struct {
    const char *name;
    bench_body *body;
} operations[] = {{"barrier", barrier}, {"bcast", bcast}, {"allreduce", allreduce}, {"allgather", allgather},
                  {"alltoall", alltoall}, {"reduce_scatter", reduce_scatter}, {"reduce", reduce}};

static void wrong(const char *name, int bytes)
{
    fprintf(stderr, "WRONG DATA in %s of %d bytes on rank %d\n", name, bytes, bench_rank);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Once each with data that tells who it comes from. */
static void check(bench_body *body, const char *name, struct shape shape)
{
    double *sums = (double *)in, *mine = (double *)out, all = bench_size * (bench_size - 1) / 2;
    int reduces = body == reduce || body == allreduce || body == reduce_scatter, first = 0, number = shape.elements;
    if (reduces)
        for (int i = 0; i < shape.elements; i++)
            mine[i] = bench_rank + i % 100, sums[i] = -1;
    else
        for (int r = 0; r < (body == alltoall ? bench_size : 1); r++)
            bench_fill(out + (size_t)r * shape.bytes, shape.bytes, bench_rank * 7 + (body == alltoall ? r : 0));
    if (body == bcast)
        memcpy(in, out, shape.bytes);
    body(1, &shape);
    if (body == reduce_scatter) {
        number = counts[bench_rank];
        for (int r = 0; r < bench_rank; r++)
            first += counts[r];
    }
    if (reduces && (body != reduce || bench_rank == 0))
        for (int i = 0; i < number; i++)
            if (sums[i] != all + bench_size * ((first + i) % 100))
                wrong(name, shape.bytes);
    if (body == bcast)
        bench_check(in, shape.bytes, 0, name);
    if (body == allgather || body == alltoall)
        for (int r = 0; r < bench_size; r++)
            bench_check(in + (size_t)r * shape.bytes, shape.bytes, r * 7 + (body == alltoall ? bench_rank : 0), name);
}

static int wanted(int argc, char **argv, const char *name)
{
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], name))
            return 1;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1024, 65536, LARGEST};
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    out = bench_buffer((size_t)LARGEST * bench_size);
    in = bench_buffer((size_t)LARGEST * bench_size);
    for (unsigned o = 0; o < sizeof operations / sizeof *operations; o++)
        for (int s = 0; s < 4 && wanted(argc, argv, operations[o].name); s++) {
            struct shape shape = {sizes[s], sizes[s] / (int)sizeof(double)};
            for (int r = 0; r < bench_size; r++)
                counts[r] = (r + 1) * shape.elements / bench_size - r * shape.elements / bench_size;
            if (operations[o].body == barrier && s > 0)
                break;
            check(operations[o].body, operations[o].name, shape);
            double time = bench_measure(operations[o].body, &shape, budget);
            if (bench_rank == 0)
                bench_result(operations[o].name, operations[o].body == barrier ? -1 : sizes[s], 1e6 * time, "us", "lower");
        }
    MPI_Finalize();
    return 0;
}
