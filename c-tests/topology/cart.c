/* Grids: create, coordinates, ranks, shifts, slices, duplicates; grids smaller than the communicator, of no dimension, reordered. */
#include "check.h"

/* Each process asks for everything, and its neighbors agree by messages. */
static void whole(const int *sides, const int *periods, int n, int reorder)
{
    MPI_Comm grid, copy;
    int product = 1, kind, count, dims[4], wraps[4], here[4], there[4], inside, other, me;
    for (int d = 0; d < n; d++)
        product *= sides[d];
    MPI(MPI_Cart_create(MPI_COMM_WORLD, n, sides, periods, reorder, &grid));
    if (product > size || grid == MPI_COMM_NULL) {
        CHECK(product <= size && product < size && grid == MPI_COMM_NULL);
        if (!reorder)
            CHECK(rank >= product);
        return;
    }
    MPI(MPI_Comm_rank(grid, &me));
    MPI(MPI_Comm_size(grid, &inside));
    CHECK_INT(inside, product);
    if (!reorder)
        CHECK_INT(me, rank);
    for (int pass = 0; pass < 2; pass++) {
        MPI(MPI_Topo_test(grid, &kind));
        CHECK_INT(kind, MPI_CART);
        MPI(MPI_Cartdim_get(grid, &count));
        CHECK_INT(count, n);
        MPI(MPI_Cart_get(grid, 4, dims, wraps, here));
        MPI(MPI_Cart_coords(grid, me, n, there));
        int expected = 0;
        for (int d = 0; d < n; d++) {
            CHECK_INT(dims[d], sides[d]);
            CHECK_INT(wraps[d], !!periods[d]);
            CHECK_INT(there[d], here[d]);
            CHECK(here[d] >= 0 && here[d] < sides[d]);
            expected = expected * sides[d] + here[d];
        }
        CHECK_INT(expected, me);
        for (int r = 0; r < product; r++) {
            MPI(MPI_Cart_coords(grid, r, n, there));
            for (int d = 0; d < n; d++)
                if (periods[d])
                    there[d] += (r % 3 - 1) * sides[d];
            MPI(MPI_Cart_rank(grid, there, &other));
            CHECK_INT(other, r);
        }
        for (int d = 0; d < n; d++)
            for (int step = -3; step <= 3; step++) {
                int from, to, out = 1000 * me + step, in = -1;
                MPI(MPI_Cart_shift(grid, d, step, &from, &to));
                memcpy(there, here, sizeof there);
                there[d] = here[d] + step;
                if (!periods[d] && (there[d] < 0 || there[d] >= sides[d]))
                    CHECK_INT(to, MPI_PROC_NULL);
                else {
                    MPI(MPI_Cart_rank(grid, there, &other));
                    CHECK_INT(to, other);
                }
                MPI(MPI_Sendrecv(&out, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, grid, MPI_STATUS_IGNORE));
                CHECK_INT(in, from == MPI_PROC_NULL ? -1 : 1000 * from + step);
            }
        /* all slices, by the bits of a mask */
        for (int mask = reference; mask < 1 << n; mask++) { /* MPICH 4.0.2 gives one process a grid of no dimension, not each */
            MPI_Comm slice;
            int keep[4], m = 0, r;
            for (int d = 0; d < n; d++)
                keep[d] = mask >> d & 1 ? 7 : 0;
            MPI(MPI_Cart_sub(grid, keep, &slice));
            int slice_size = 1, slice_rank = 0;
            for (int d = 0; d < n; d++)
                if (keep[d]) {
                    m++;
                    slice_size *= sides[d];
                    slice_rank = slice_rank * sides[d] + here[d];
                }
            MPI(MPI_Cartdim_get(slice, &count));
            CHECK_INT(count, m);
            MPI(MPI_Comm_size(slice, &inside));
            CHECK_INT(inside, slice_size);
            MPI(MPI_Comm_rank(slice, &r));
            CHECK_INT(r, slice_rank);
            MPI(MPI_Cart_get(slice, 4, dims, wraps, there));
            m = 0;
            for (int d = 0; d < n; d++)
                if (keep[d]) {
                    CHECK(dims[m] == sides[d] && wraps[m] == !!periods[d] && there[m] == here[d]);
                    m++;
                }
            /* the members are those that share the other coordinates */
            int mine = 0, sum;
            for (int d = 0; d < n; d++)
                if (!keep[d])
                    mine = mine * sides[d] + here[d];
            MPI(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, slice));
            CHECK_INT(sum, mine * slice_size);
            MPI(MPI_Comm_free(&slice));
        }
        MPI(MPI_Comm_dup(grid, &copy));
        MPI(MPI_Comm_free(&grid));
        grid = copy;
    }
    MPI(MPI_Comm_free(&grid));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm grid, other;
    int kind, dims[3] = {0, 0, 0}, periods[4] = {0, 1, 0, 1}, found;
    MPI(MPI_Topo_test(MPI_COMM_WORLD, &kind));
    CHECK_INT(kind, MPI_UNDEFINED);
    for (int reorder = 0; reorder < 2; reorder++) {
        for (int p = 0; p < 2; p++)
            whole(&size, &p, 1, reorder);
        for (int n = 2; n <= 3; n++) {
            memset(dims, 0, sizeof dims);
            MPI(MPI_Dims_create(size, n, dims));
            whole(dims, periods, n, reorder);
            whole(dims, periods + 1, n, reorder);
        }
        if (size > 1)
            whole((int[]) {size - 1, 1}, periods + 1, 2, reorder);
        if (size > 3)
            whole((int[]) {1, 2, 1, 2}, periods, 4, reorder);
    }
    /* of no dimension: one process */
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid));
    CHECK((grid == MPI_COMM_NULL) == (rank > 0));
    if (rank == 0) {
        MPI(MPI_Cartdim_get(grid, &found));
        CHECK_INT(found, 0);
        MPI(MPI_Cart_rank(grid, NULL, &found));
        CHECK_INT(found, 0);
        MPI(MPI_Cart_coords(grid, 0, 0, NULL));
        MPI(MPI_Comm_free(&grid));
    }
    /* with a side of zero: none */
    static const int empty[][3] = {{2, 0, 1}, {0, 2, 2}, {0, 0, 0}, {100000, 100000, 0}, {0, 100000, 100000}};
    for (int i = 0; i < 5; i++)
        for (int reorder = 0; reorder < 2; reorder++) {
            grid = MPI_COMM_WORLD;
            MPI(MPI_Cart_create(MPI_COMM_WORLD, 3, empty[i], periods, reorder, &grid));
            CHECK(grid == MPI_COMM_NULL);
            found = 0;
            MPI(MPI_Cart_map(MPI_COMM_WORLD, 3, empty[i], periods, &found));
            CHECK_INT(found, MPI_UNDEFINED);
        }
    MPI(MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &found));
    CHECK_INT(found, rank == 0 ? 0 : MPI_UNDEFINED);
    /* the ranks that MPI_Cart_map would give, each once */
    int *all = calloc((size_t) size, sizeof *all);
    MPI(MPI_Cart_map(MPI_COMM_WORLD, 1, &size, periods, &found));
    MPI(MPI_Allgather(&found, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0, sum = 0; r < size; r++) {
        sum += all[r];
        CHECK(all[r] >= 0 && all[r] < size);
        if (r == size - 1)
            CHECK_INT(sum, size * (size - 1) / 2);
    }
    free(all);
    if (size > 1) {
        int less = size - 1;
        MPI(MPI_Cart_map(MPI_COMM_WORLD, 1, &less, periods, &found));
        CHECK(found == MPI_UNDEFINED || (found >= 0 && found < less));
    }
    /* what other constructors make has none; what duplicates make has it */
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods + 1, 0, &grid));
    MPI(MPI_Comm_split(grid, 0, rank, &other));
    MPI(MPI_Topo_test(other, &kind));
    CHECK_INT(kind, MPI_UNDEFINED);
    MPI(MPI_Comm_free(&other));
    MPI(MPI_Comm_dup_with_info(grid, MPI_INFO_NULL, &other));
    MPI(MPI_Topo_test(other, &kind));
    CHECK_INT(kind, MPI_CART);
    MPI(MPI_Comm_free(&other));
    MPI_Request request;
    MPI(MPI_Comm_idup(grid, &other, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Topo_test(other, &kind));
    CHECK_INT(kind, MPI_CART);
    MPI(MPI_Comm_free(&grid));
    int from, to;
    MPI(MPI_Cart_shift(other, 0, 1, &from, &to));
    CHECK_INT(to, (rank + 1) % size);
    CHECK_INT(from, (rank + size - 1) % size);
    MPI(MPI_Comm_free(&other));
    return finish();
}
