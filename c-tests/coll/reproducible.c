/* With OXMPI_REPRODUCIBLE: reductions have the bits of one association, whatever the form, the size, the root and the place in the data,
 * and whatever algorithms and nodes the settings name. */
#include "forms.h"

enum { MOST_RANKS = 64, DIFFERENT = 100 };

static int n;
static double trees[DIFFERENT], prefixes[DIFFERENT], befores[DIFFERENT];

/* Large and small numbers of both signs, so that each association has a rounding of its own. */
static double of(int r, int i)
{
    static const double scale[] = {1e16, 1, -1e16, 3e-7, 1e8};
    return scale[(r + i) % 5] * (1 + 1.0 / (r + 3)) + r * 0.1 + i * 1e-3;
}

/* The binomial tree in the order of the ranks. */
static double tree(int i)
{
    double parts[MOST_RANKS];
    for (int r = 0; r < n; r++)
        parts[r] = of(r, i);
    for (int mask = 1; mask < n; mask *= 2)
        for (int r = 0; r + mask < n; r += 2 * mask)
            parts[r] = parts[r] + parts[r + mask];
    return parts[0];
}

/* What the ranks up to one have, doubling; `before`: without its own. */
static double prefix(int rank, int i, int before)
{
    double parts[MOST_RANKS], left[MOST_RANKS], result = 0;
    int known = 0;
    for (int r = 0; r < n; r++)
        parts[r] = of(r, i);
    for (int distance = 1; distance < n; distance *= 2) {
        memcpy(left, parts, sizeof left);
        if (rank >= distance) {
            result = known ? left[rank - distance] + result : left[rank - distance];
            known = 1;
        }
        for (int r = distance; r < n; r++)
            parts[r] = left[r - distance] + left[r];
    }
    return before ? result : parts[rank];
}

static void same(const char *what, int form, double found, double expected, int i)
{
    if (memcmp(&found, &expected, sizeof found))
        check_failed(__FILE__, __LINE__, "%s, form %d, element %d: %.17g, not %.17g", what, form, i, found, expected);
}

static void all(MPI_Comm comm, int me, int count, int form)
{
    double *own = malloc((size_t) count * n * sizeof *own), *result = malloc((size_t) count * n * sizeof *result);
    int root = (count + form) % n;
#define FILL(to, elements) do { for (int i = 0; i < (elements); i++) (to)[i] = of(me, i % DIFFERENT); } while (0)
    FILL(own, count * n);
    FORM(form, Allreduce, allreduce, (own, result, count, MPI_DOUBLE, MPI_SUM), comm);
    for (int i = 0; i < count; i++)
        same("Allreduce", form, result[i], trees[i % DIFFERENT], i);
    FILL(result, count);
    FORM(form, Allreduce, allreduce, (MPI_IN_PLACE, result, count, MPI_DOUBLE, MPI_SUM), comm);
    for (int i = 0; i < count; i++)
        same("Allreduce in place", form, result[i], trees[i % DIFFERENT], i);
    FORM(form, Reduce, reduce, (own, result, count, MPI_DOUBLE, MPI_SUM, root), comm);
    for (int i = 0; me == root && i < count; i++)
        same("Reduce", form, result[i], trees[i % DIFFERENT], i);
    FORM(form, Reduce_scatter_block, reduce_scatter_block, (own, result, count, MPI_DOUBLE, MPI_SUM), comm);
    for (int i = 0; i < count; i++)
        same("Reduce_scatter_block", form, result[i], trees[(me * count + i) % DIFFERENT], i);
    FORM(form, Scan, scan, (own, result, count, MPI_DOUBLE, MPI_SUM), comm);
    for (int i = 0; i < count; i++)
        same("Scan", form, result[i], prefixes[i % DIFFERENT], i);
    FORM(form, Exscan, exscan, (own, result, count, MPI_DOUBLE, MPI_SUM), comm);
    for (int i = 0; me > 0 && i < count; i++)
        same("Exscan", form, result[i], befores[i % DIFFERENT], i);
    free(own);
    free(result);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 100, 1000, 20000};
    MPI_Comm comm;
    int me;
    start(&argc, &argv);
    for (int key = 1; key >= -1; key -= 2) {
        MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, key * rank, &comm));
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &n));
        for (int i = 0; i < DIFFERENT; i++)
            trees[i] = tree(i), prefixes[i] = prefix(me, i, 0), befores[i] = prefix(me, i, 1);
        /* several times, as the first blocking ones may go another way than later ones */
        for (int round = 0; round < 2; round++)
            for (int c = 0; c < (slow() ? 3 : 5); c++)
                for (int form = 0; form < FORMS; form++)
                    all(comm, me, counts[c], form);
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
