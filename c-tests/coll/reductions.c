/* Reduce, Allreduce, Reduce_scatter(_block), Scan, Exscan in all forms: predefined operations, and functions of the program that
 * do not commute, also on a type with holes; to every root, in place. */
#include "forms.h"

static MPI_Comm comm;
static int me, n, form;

/* An affine function x -> a x + b; composing two keeps the order. */
struct affine {
    unsigned a, hole, b;
};

static void compose(void *left, void *right, int *count, MPI_Datatype *type)
{
    struct affine *l = left, *r = right;
    (void) type;
    for (int i = 0; i < *count; i++) {
        r[i].b = l[i].b * r[i].a + r[i].b;
        r[i].a = l[i].a * r[i].a;
    }
}

static struct affine of(int r, int i)
{
    struct affine f = {(unsigned) (r * 7 + i * 3 + 1), 77, (unsigned) (r * 5 + i)};
    return f;
}

static struct affine composed(int ranks, int i)
{
    struct affine result = of(0, i);
    for (int r = 1; r < ranks; r++) {
        struct affine next = of(r, i);
        int one = 1;
        compose(&result, &next, &one, NULL);
        result = next;
    }
    return result;
}

static void check(const struct affine *found, int first, int count, int ranks, int line)
{
    for (int i = 0; i < count; i++) {
        struct affine expected = composed(ranks, first + i);
        if (found[i].a != expected.a || found[i].b != expected.b || found[i].hole != 77) {
            check_failed(__FILE__, line, "form %d: element %d of the first %d ranks is wrong", form, first + i, ranks);
            break;
        }
    }
}

static struct affine *fill_own(struct affine *own, int count)
{
    for (int i = 0; i < count; i++)
        own[i] = of(me, i);
    return own;
}

static struct affine *clear(struct affine *result, int count)
{
    for (int i = 0; i < count; i++)
        result[i].a = result[i].b = 0, result[i].hole = 77;
    return result;
}

/* The program's function on a type with holes. */
static void functions(int count, MPI_Datatype type, MPI_Op op)
{
    int total = 0, begin = 0, counts[64];
    for (int r = 0; r < n; r++) {
        counts[r] = (r + count) % 3;
        begin += r < me ? counts[r] : 0;
        total += counts[r];
    }
    int most = count * n > total ? count * n : total;
    struct affine *own = malloc((most + 1) * sizeof *own), *result = malloc((most + 1) * sizeof *own);
    for (int place = 0; place < 2; place++) {
        void *from = place ? MPI_IN_PLACE : (void *) own;
        /* In place the result is where this rank's data was. */
#define READY(elements) (fill_own(own, elements), place ? fill_own(result, elements) : clear(result, elements))
        for (int root = 0; root < n; root++) {
            READY(count);
            FORM(form, Reduce, reduce, (me == root ? from : own, me == root ? result : NULL, count, type, op, root), comm);
            if (me == root)
                check(result, 0, count, n, __LINE__);
        }
        READY(count);
        FORM(form, Allreduce, allreduce, (from, result, count, type, op), comm);
        check(result, 0, count, n, __LINE__);
        READY(count);
        FORM(form, Scan, scan, (from, result, count, type, op), comm);
        check(result, 0, count, me + 1, __LINE__);
        READY(count);
        FORM(form, Exscan, exscan, (from, result, count, type, op), comm);
        if (me > 0)
            check(result, 0, count, me, __LINE__);
        READY(count * n);
        FORM(form, Reduce_scatter_block, reduce_scatter_block, (from, result, count, type, op), comm);
        check(result, me * count, count, n, __LINE__);
        READY(total);
        FORM(form, Reduce_scatter, reduce_scatter, (from, result, counts, type, op), comm);
        check(result, begin, counts[me], n, __LINE__);
    }
    free(own);
    free(result);
}

static void sums(int count)
{
    long long *own = malloc((count * n + 1) * sizeof *own), *result = malloc((count * n + 1) * sizeof *result);
    for (int i = 0; i < count * n; i++)
        own[i] = me + i;
#define SUM(ranks, i) ((long long) (ranks) * ((ranks) - 1) / 2 + (long long) (ranks) * (i))
#define CHECK_SUMS(first, ranks) do { for (int i = 0; i < count; i++) if (result[i] != SUM(ranks, (first) + i)) { \
        check_failed(__FILE__, __LINE__, "form %d: sum %d of %d is %lld, not %lld", form, i, count, result[i], SUM(ranks, (first) + i)); break; } } while (0)
    for (int root = 0; root < n; root += n > 1 ? n - 1 : 1) {
        FORM(form, Reduce, reduce, (own, result, count, MPI_LONG_LONG, MPI_SUM, root), comm);
        if (me == root)
            CHECK_SUMS(0, n);
    }
    FORM(form, Allreduce, allreduce, (own, result, count, MPI_LONG_LONG, MPI_SUM), comm);
    CHECK_SUMS(0, n);
    FORM(form, Reduce_scatter_block, reduce_scatter_block, (own, result, count, MPI_LONG_LONG, MPI_SUM), comm);
    CHECK_SUMS(me * count, n);
    FORM(form, Scan, scan, (own, result, count, MPI_LONG_LONG, MPI_SUM), comm);
    CHECK_SUMS(0, me + 1);
    FORM(form, Exscan, exscan, (own, result, count, MPI_LONG_LONG, MPI_SUM), comm);
    if (me > 0)
        CHECK_SUMS(0, me);
    free(own);
    free(result);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 2, 5, 100, 3000, 20000, 70000};
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm reversed;
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 2 * sizeof(unsigned)};
    MPI_Datatype parts[2] = {MPI_UNSIGNED, MPI_UNSIGNED};
    start(&argc, &argv);
    MPI(MPI_Type_create_struct(2, lengths, places, parts, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Op_create(compose, 0, &op));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    for (int which = 0; which < 2; which++) {
        comm = which ? reversed : MPI_COMM_WORLD;
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &n));
        for (form = 0; form < FORMS; form++)
            /* with an argument, for algorithms one by one: fewer sizes */
            for (int c = argc > 1; c < (slow() || (argc > 1 && which) ? 5 : which ? 6 : 8); c += argc > 1 ? 2 : 1) {
                if (c < 6)
                    functions(counts[c], type, op);
                sums(counts[c]);
            }
    }
    MPI(MPI_Op_free(&op));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Comm_free(&reversed));
    return finish();
}
