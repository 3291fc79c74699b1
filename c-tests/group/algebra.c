/* Groups: every function, on groups of the world with and without a pattern. */
#include "check.h"

static MPI_Group all;

/* The ranks in the world of a group's members must be these. */
static void expect(MPI_Group group, int count, const int *ranks)
{
    int s, *own = malloc((count + 1) * sizeof *own), *world = malloc((count + 1) * sizeof *world);
    MPI(MPI_Group_size(group, &s));
    CHECK_INT(s, count);
    for (int i = 0; i < count; i++)
        own[i] = i;
    if (s == count) {
        MPI(MPI_Group_translate_ranks(group, count, own, all, world));
        for (int i = 0; i < count; i++)
            CHECK_INT(world[i], ranks[i]);
    }
    int mine = MPI_UNDEFINED, r;
    for (int i = 0; i < count; i++)
        if (ranks[i] == rank)
            mine = i;
    MPI(MPI_Group_rank(group, &r));
    CHECK_INT(r, mine);
    free(own);
    free(world);
}

static void compare(MPI_Group one, MPI_Group two, int expected)
{
    int result;
    MPI(MPI_Group_compare(one, two, &result));
    CHECK_INT(result, expected);
    MPI(MPI_Group_compare(two, one, &result));
    CHECK_INT(result, expected);
}

static int contains(const int *list, int count, int value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Group one, two, three;
    uint64_t seed = 5;
    start(&argc, &argv);
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    int *a = malloc((size + 1) * sizeof *a), *b = malloc((size + 1) * sizeof *b), *c = malloc((2 * size + 1) * sizeof *c);
    for (int round = 0; round < (slow() ? 10 : 200); round++) {
        /* two random lists without repetition */
        int na = 0, nb = 0, nc = 0;
        for (int i = 0; i < size; i++) {
            int x = (int) (next_random(&seed) % size), y = (int) (next_random(&seed) % size);
            if (!contains(a, na, x))
                a[na++] = x;
            if (!contains(b, nb, y))
                b[nb++] = y;
        }
        MPI(MPI_Group_incl(all, na, a, &one));
        MPI(MPI_Group_incl(all, nb, b, &two));
        expect(one, na, a);
        expect(two, nb, b);
        for (int i = 0; i < na; i++)
            c[nc++] = a[i];
        for (int i = 0; i < nb; i++)
            if (!contains(a, na, b[i]))
                c[nc++] = b[i];
        MPI(MPI_Group_union(one, two, &three));
        expect(three, nc, c);
        MPI(MPI_Group_free(&three));
        nc = 0;
        for (int i = 0; i < na; i++)
            if (contains(b, nb, a[i]))
                c[nc++] = a[i];
        MPI(MPI_Group_intersection(one, two, &three));
        expect(three, nc, c);
        if (nc)
            MPI(MPI_Group_free(&three));
        else
            CHECK(three == MPI_GROUP_EMPTY);
        nc = 0;
        for (int i = 0; i < na; i++)
            if (!contains(b, nb, a[i]))
                c[nc++] = a[i];
        MPI(MPI_Group_difference(one, two, &three));
        expect(three, nc, c);
        if (nc)
            MPI(MPI_Group_free(&three));
        /* ranks of one in two */
        int *own = malloc(na * sizeof *own), *in_two = malloc(na * sizeof *in_two), same = na == nb;
        for (int i = 0; i < na; i++)
            own[i] = i;
        MPI(MPI_Group_translate_ranks(one, na, own, two, in_two));
        for (int i = 0; i < na; i++) {
            CHECK(in_two[i] == MPI_UNDEFINED ? !contains(b, nb, a[i]) : b[in_two[i]] == a[i]);
            same = same && in_two[i] != MPI_UNDEFINED;
        }
        compare(one, two, !same ? MPI_UNEQUAL : memcmp(a, b, na * sizeof *a) ? MPI_SIMILAR : MPI_IDENT);
        free(own);
        free(in_two);
        /* all but those */
        nc = 0;
        for (int i = 0; i < size; i++)
            if (!contains(a, na, i))
                c[nc++] = i;
        MPI(MPI_Group_excl(all, na, a, &three));
        expect(three, nc, c);
        if (nc)
            MPI(MPI_Group_free(&three));
        MPI(MPI_Group_free(&one));
        MPI(MPI_Group_free(&two));
    }
    /* ranges: every stride, forwards and backwards, and two in one call */
    for (int stride = 1; stride <= size; stride++) {
        int n = 0, up[1][3] = {{0, size - 1, stride}}, last = (size - 1) / stride * stride, down[1][3] = {{last, 0, -stride}};
        for (int i = 0; i < size; i += stride)
            c[n++] = i;
        MPI(MPI_Group_range_incl(all, 1, up, &one));
        expect(one, n, c);
        for (int i = 0; i < n; i++)
            c[i] = last - i * stride;
        MPI(MPI_Group_range_incl(all, 1, down, &two));
        expect(two, n, c);
        compare(one, two, n > 1 ? MPI_SIMILAR : MPI_IDENT);
        MPI(MPI_Group_range_incl(two, 1, (int[][3]) {{n - 1, 0, -1}}, &three));
        compare(one, three, MPI_IDENT);
        MPI(MPI_Group_free(&three));
        n = 0;
        for (int i = 0; i < size; i++)
            if (i % stride)
                c[n++] = i;
        MPI(MPI_Group_range_excl(all, 1, down, &three));
        expect(three, n, c);
        if (n)
            MPI(MPI_Group_free(&three));
        MPI(MPI_Group_free(&one));
        MPI(MPI_Group_free(&two));
    }
    if (size > 2) {
        int both[2][3] = {{size - 1, size - 1, 5}, {0, 1, 1}};
        MPI(MPI_Group_range_incl(all, 2, both, &one));
        expect(one, 3, (int[]) {size - 1, 0, 1});
        MPI(MPI_Group_free(&one));
    }
    /* nothing at all */
    MPI(MPI_Group_incl(all, 0, NULL, &one));
    CHECK(one == MPI_GROUP_EMPTY);
    MPI(MPI_Group_range_incl(all, 0, NULL, &one));
    CHECK(one == MPI_GROUP_EMPTY);
    MPI(MPI_Group_excl(all, 0, NULL, &one));
    compare(one, all, MPI_IDENT);
    MPI(MPI_Group_free(&one));
    MPI(MPI_Group_range_excl(all, 0, NULL, &one));
    compare(one, all, MPI_IDENT);
    compare(one, MPI_GROUP_EMPTY, MPI_UNEQUAL);
    compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, MPI_IDENT);
    int null = MPI_PROC_NULL, found = 7;
    MPI(MPI_Group_translate_ranks(one, 1, &null, all, &found));
    CHECK_INT(found, MPI_PROC_NULL);
    MPI(MPI_Group_translate_ranks(one, 0, NULL, all, NULL));
    MPI(MPI_Group_free(&one));
    CHECK(one == MPI_GROUP_NULL);
    MPI(MPI_Group_free(&all));
    free(a);
    free(b);
    free(c);
    return finish();
}
