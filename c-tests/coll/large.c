/* Large blocking collectives, which go other ways than short ones (through large rings, or out of each other's memory): all operations, uneven counts, holes, in place, an operation that does not commute; on communicators that
 * come and go, short and large operations in turn. */
#include "check.h"

enum { MOST = 90001 };

/* An affine function x -> a x + b; composing two keeps the order. */
struct affine {
    unsigned a, hole, b;
};

static struct affine *out, *into;
static int *numbers, *results;
static MPI_Comm comm;
static int me, n;
static MPI_Datatype affine, pair;
static MPI_Op composing;

static void compose(void *left, void *right, int *count, MPI_Datatype *type)
{
    struct affine *l = left, *r = right;
    (void)type;
    for (int i = 0; i < *count; i++) {
        r[i].b = l[i].b * r[i].a + r[i].b;
        r[i].a = l[i].a * r[i].a;
    }
}

static struct affine of(int r, int i)
{
    struct affine f = {(unsigned)(r * 7 + i * 3 + 1), 77, (unsigned)(r * 5 + i)};
    return f;
}

static void expect_composed(const struct affine *found, int first, int count, int line)
{
    for (int i = 0; i < count; i++) {
        struct affine all = of(0, first + i);
        for (int r = 1; r < n; r++) {
            struct affine next = of(r, first + i);
            int one = 1;
            compose(&all, &next, &one, NULL);
            all = next;
        }
        if (found[i].a != all.a || found[i].b != all.b || found[i].hole != 77) {
            check_failed(__FILE__, line, "element %d of %d is wrong", first + i, count);
            return;
        }
    }
}

static void expect_sums(const int *found, int first, int count, int line)
{
    for (int i = 0; i < count; i++)
        if (found[i] != n * (n - 1) / 2 + n * (first + i)) {
            check_failed(__FILE__, line, "element %d of %d is %d", first + i, count, found[i]);
            return;
        }
}

/* Own data to where it is sent from: in place that is where the result will be. */
static void prepare(int count, int in_place)
{
    for (int i = 0; i < count; i++) {
        out[i] = of(me, i);
        into[i] = in_place ? out[i] : of(99, i);
        numbers[i] = me + i;
        results[i] = in_place ? numbers[i] : -1;
    }
}

static void reductions(int count, int in_place)
{
    const void *own = in_place ? MPI_IN_PLACE : (void *)out, *mine = in_place ? MPI_IN_PLACE : (void *)numbers;
    prepare(count, in_place);
    MPI(MPI_Allreduce(own, into, count, affine, composing, comm));
    expect_composed(into, 0, count, __LINE__);
    MPI(MPI_Allreduce(mine, results, count, MPI_INT, MPI_SUM, comm));
    expect_sums(results, 0, count, __LINE__);
    for (int root = 0; root < n; root++) {
        int here = in_place && me == root;
        prepare(count, here);
        MPI(MPI_Reduce(here ? MPI_IN_PLACE : (void *)out, into, count, affine, composing, root, comm));
        MPI(MPI_Reduce(here ? MPI_IN_PLACE : (void *)numbers, results, count, MPI_INT, MPI_SUM, root, comm));
        if (me == root) {
            expect_composed(into, 0, count, __LINE__);
            expect_sums(results, 0, count, __LINE__);
        }
    }
    int counts[64], first = 0;
    for (int r = 0; r < n; r++) /* rank 0 has nothing, the last one most */
        counts[r] = (int)((long)count * (r + 1) * r / n / (n + 1)) - (int)((long)count * r * (r - 1) / n / (n + 1));
    for (int r = 0; r < me; r++)
        first += counts[r];
    if (n == 1)
        counts[0] = count;
    prepare(count, in_place);
    MPI(MPI_Reduce_scatter(own, into, counts, affine, composing, comm));
    expect_composed(into, first, counts[me], __LINE__);
    MPI(MPI_Reduce_scatter(mine, results, counts, MPI_INT, MPI_SUM, comm));
    expect_sums(results, first, counts[me], __LINE__);
}

static void expect(const int *found, int from, int count, int line)
{
    for (int i = 0; i < count; i++)
        if (found[i] != from * 1000003 + i) {
            check_failed(__FILE__, line, "number %d of %d from rank %d is %d", i, count, from, found[i]);
            return;
        }
}

static void number(int *numbers_of, int from, int count)
{
    for (int i = 0; i < count; i++)
        numbers_of[i] = from * 1000003 + i;
}

static void movement(int count, int in_place)
{
    for (int root = 0; root < n; root++) {
        number(numbers, me == root ? root : 99, count);
        MPI(MPI_Bcast(numbers, count, MPI_INT, root, comm));
        expect(numbers, root, count, __LINE__);
        for (int i = 0; i < count; i++)
            out[i] = of(me == root ? root : 99, i);
        MPI(MPI_Bcast(out, count, affine, root, comm));
        for (int i = 0; i < count; i++)
            if (out[i].a != of(root, i).a || out[i].b != of(root, i).b || out[i].hole != 77) {
                check_failed(__FILE__, __LINE__, "function %d of %d from rank %d is wrong", i, count, root);
                break;
            }
    }
    int each = count / n;
    number(numbers, me, each);
    number(results + me * each, me, each);
    MPI(MPI_Allgather(in_place ? MPI_IN_PLACE : (void *)numbers, each, MPI_INT, results, each, MPI_INT, comm));
    for (int r = 0; r < n; r++)
        expect(results + r * each, r, each, __LINE__);
    /* Two numbers as one element on one side only. */
    int pairs = each / 2;
    number(numbers, me, 2 * pairs);
    MPI(MPI_Allgather(numbers, 2 * pairs, MPI_INT, out, pairs, pair, comm));
    for (int r = 0; r < n; r++)
        for (int i = 0; i < pairs; i++)
            if ((int)out[r * pairs + i].a != r * 1000003 + 2 * i || (int)out[r * pairs + i].b != r * 1000003 + 2 * i + 1) {
                check_failed(__FILE__, __LINE__, "pair %d of %d from rank %d is wrong", i, pairs, r);
                r = n;
                break;
            }
    for (int r = 0; r < n; r++) {
        number(numbers + r * each, me * n + r, each);
        number(results + r * each, me * n + r, each);
    }
    MPI(MPI_Alltoall(in_place ? MPI_IN_PLACE : (void *)numbers, each, MPI_INT, results, each, MPI_INT, comm));
    for (int r = 0; r < n; r++)
        expect(results + r * each, r * n + me, each, __LINE__);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int blocks = slow() ? 1 : 3;
    MPI_Datatype parts;
    MPI_Aint at[] = {0, offsetof(struct affine, b)};
    int ones[] = {1, 1};
    MPI_Datatype types[] = {MPI_UNSIGNED, MPI_UNSIGNED};
    MPI(MPI_Type_create_struct(2, ones, at, types, &parts));
    MPI(MPI_Type_create_resized(parts, 0, sizeof(struct affine), &affine));
    MPI(MPI_Type_commit(&affine));
    MPI(MPI_Type_free(&parts));
    types[0] = types[1] = MPI_INT;
    MPI(MPI_Type_create_struct(2, ones, at, types, &parts));
    MPI(MPI_Type_create_resized(parts, 0, sizeof(struct affine), &pair));
    MPI(MPI_Type_commit(&pair));
    MPI(MPI_Type_free(&parts));
    MPI(MPI_Op_create(compose, 0, &composing));
    out = calloc(MOST, sizeof *out);
    into = calloc(MOST, sizeof *into);
    numbers = calloc(MOST, sizeof *numbers);
    results = calloc(MOST, sizeof *results);
    static const int counts[] = {3, 5001, 40000, MOST};
    for (int round = 0; round < blocks; round++) {
        if (round == 1) /* of fewer ranks, and in another order */
            MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
        else
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &n));
        for (int turn = 0; turn < 2; turn++)
            for (int c = 0; c < 4; c++) {
                int count = slow() ? (counts[c] + 7) / 8 : counts[c];
                reductions(count, turn);
                movement(count, turn);
                MPI(MPI_Barrier(comm));
            }
        MPI(MPI_Comm_free(&comm));
    }
    MPI(MPI_Type_free(&affine));
    MPI(MPI_Type_free(&pair));
    MPI(MPI_Op_free(&composing));
    free(out);
    free(into);
    free(numbers);
    free(results);
    return finish();
}
