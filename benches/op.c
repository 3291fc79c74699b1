/* MPI_Reduce_local: µs a call of three common operations, of values with an index and of complex numbers.
 *     op [seconds per value]
 * One rank; the result of one call is compared with a plain loop's before it is timed. Sums grow slowly and products are of
 * ones, so that no repetition meets infinities or denormal numbers. */
#include "bench.h"
#include <complex.h>

struct subject {
    const char *series;
    MPI_Op op;
    MPI_Datatype type;
    size_t bytes;
    void *in, *inout;
    int count;
};

static void reduce(long iterations, void *what)
{
    struct subject *s = what;
    for (long i = 0; i < iterations; i++)
        MPI_Reduce_local(s->in, s->inout, s->count, s->type, s->op);
}

/* Fills both buffers, reduces once, and compares. `plain` combines x (of in) and y (of inout). */
#define PREPARE(name, type_, one, other, plain) \
    static void prepare_##name(struct subject *s) \
    { \
        type_ *in = s->in, *inout = s->inout; \
        for (int i = 0; i < s->count; i++) { \
            in[i] = (type_)(one); \
            inout[i] = (type_)(other); \
        } \
        reduce(1, s); \
        for (int i = 0; i < s->count; i++) { \
            type_ x = (type_)(one), y = (type_)(other); \
            if (inout[i] != (plain)) { \
                fprintf(stderr, "WRONG RESULT in %s, element %d of %d\n", s->series, i, s->count); \
                MPI_Abort(MPI_COMM_WORLD, 3); \
            } \
        } \
    }
PREPARE(sum, double, i % 7 * 0.25, i % 5, x + y)
PREPARE(max, int, i * 7919 % 1000, i * 104729 % 1000, x > y ? x : y)
PREPARE(prod, float, 1 - 2 * (i % 3 == 0), 1 + i % 5, x * y)
PREPARE(product, double complex, 1 - 2 * (i % 3 == 0), 1 + i % 5 + I, x * y)

/* Values and indexes; of equal values the lowest index. */
#define PREPARE_PAIR(name, type_) \
    struct name { \
        type_ value; \
        int index; \
    }; \
    static void prepare_##name(struct subject *s) \
    { \
        struct name *in = s->in, *inout = s->inout; \
        for (int i = 0; i < s->count; i++) { \
            in[i] = (struct name){(type_)(i * 7919L % 100), i * 31 % 50}; \
            inout[i] = (struct name){(type_)(i * 104729L % 100), i * 17 % 50}; \
        } \
        reduce(1, s); \
        for (int i = 0; i < s->count; i++) { \
            type_ x = (type_)(i * 7919L % 100), y = (type_)(i * 104729L % 100); \
            int j = i * 31 % 50, k = i * 17 % 50; \
            if (inout[i].value != (x > y ? x : y) || inout[i].index != (x > y ? j : x < y ? k : j < k ? j : k)) { \
                fprintf(stderr, "WRONG RESULT in %s, element %d of %d\n", s->series, i, s->count); \
                MPI_Abort(MPI_COMM_WORLD, 3); \
            } \
        } \
    }
PREPARE_PAIR(two_ints, int)
PREPARE_PAIR(float_int, float)
PREPARE_PAIR(double_int, double)
PREPARE_PAIR(long_int, long)
PREPARE_PAIR(short_int, short)

int main(int argc, char **argv)
{
    static const long sizes[] = {1 << 10, 64 << 10, 8 << 20};
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    struct {
        struct subject subject;
        void (*prepare)(struct subject *);
    } all[] = {
        {{"sum_double", MPI_SUM, MPI_DOUBLE, sizeof(double), 0, 0, 0}, prepare_sum},
        {{"max_int", MPI_MAX, MPI_INT, sizeof(int), 0, 0, 0}, prepare_max},
        {{"prod_float", MPI_PROD, MPI_FLOAT, sizeof(float), 0, 0, 0}, prepare_prod},
        {{"prod_double_complex", MPI_PROD, MPI_C_DOUBLE_COMPLEX, sizeof(double complex), 0, 0, 0}, prepare_product},
        {{"maxloc_2int", MPI_MAXLOC, MPI_2INT, sizeof(struct two_ints), 0, 0, 0}, prepare_two_ints},
        {{"maxloc_float_int", MPI_MAXLOC, MPI_FLOAT_INT, sizeof(struct float_int), 0, 0, 0}, prepare_float_int},
        {{"maxloc_double_int", MPI_MAXLOC, MPI_DOUBLE_INT, sizeof(struct double_int), 0, 0, 0}, prepare_double_int},
        {{"maxloc_long_int", MPI_MAXLOC, MPI_LONG_INT, sizeof(struct long_int), 0, 0, 0}, prepare_long_int},
        {{"maxloc_short_int", MPI_MAXLOC, MPI_SHORT_INT, sizeof(struct short_int), 0, 0, 0}, prepare_short_int},
    };
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            struct subject *s = &all[a].subject;
            s->count = (int)(sizes[n] / s->bytes);
            s->in = bench_buffer(sizes[n]);
            s->inout = bench_buffer(sizes[n]);
            all[a].prepare(s);
            double time = bench_measure(reduce, s, budget);
            if (bench_rank == 0)
                bench_result(s->series, sizes[n], 1e6 * time, "us", "lower");
            free(s->in);
            free(s->inout);
        }
    MPI_Finalize();
    return 0;
}
