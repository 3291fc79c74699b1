/* MPI_Type_create_darray: every rank of many grids against its type map, and together the ranks own each element once. */
#include "typemap.h"

static void grid(int ndims, const int *sizes, const int *distributions, const int *arguments, const int *processes, int order)
{
    struct typed number = typed_basic(MPI_INT);
    int ranks = 1, all = 1, owned = 0;
    for (int d = 0; d < ndims; d++) {
        ranks *= processes[d];
        all *= sizes[d];
    }
    int *owner = calloc((size_t) all, sizeof *owner);
    for (int r = 0; r < ranks; r++) {
        struct typed part = typed_darray(ranks, r, ndims, sizes, distributions, arguments, processes, order, &number);
        TYPED_CHECK(&part, 1);
        TYPED_CHECK(&part, 2);
        for (size_t i = 0; i < part.number; i++, owned++)
            owner[part.pieces[i].at / (MPI_Aint) sizeof(int)]++;
        typed_free(&part);
    }
    CHECK_INT(owned, all);
    for (int i = 0; i < all; i++)
        CHECK_INT(owner[i], 1);
    free(owner);
    typed_free(&number);
}

int main(int argc, char **argv)
{
    enum { B = MPI_DISTRIBUTE_BLOCK, C = MPI_DISTRIBUTE_CYCLIC, N = MPI_DISTRIBUTE_NONE, D = MPI_DISTRIBUTE_DFLT_DARG };
    start(&argc, &argv);
    for (int o = 0; o < 2; o++) {
        int order = o ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        grid(1, (int[]) {10}, (int[]) {B}, (int[]) {D}, (int[]) {3}, order);
        grid(1, (int[]) {10}, (int[]) {B}, (int[]) {7}, (int[]) {3}, order);
        grid(1, (int[]) {2}, (int[]) {B}, (int[]) {D}, (int[]) {4}, order);
        grid(1, (int[]) {11}, (int[]) {C}, (int[]) {D}, (int[]) {3}, order);
        grid(1, (int[]) {11}, (int[]) {C}, (int[]) {2}, (int[]) {3}, order);
        grid(1, (int[]) {12}, (int[]) {C}, (int[]) {2}, (int[]) {3}, order);
        grid(1, (int[]) {13}, (int[]) {C}, (int[]) {20}, (int[]) {2}, order);
        grid(1, (int[]) {5}, (int[]) {N}, (int[]) {D}, (int[]) {1}, order);
        grid(2, (int[]) {5, 7}, (int[]) {B, C}, (int[]) {D, 2}, (int[]) {2, 3}, order);
        grid(2, (int[]) {6, 4}, (int[]) {C, B}, (int[]) {D, 3}, (int[]) {4, 2}, order);
        grid(3, (int[]) {4, 5, 6}, (int[]) {N, C, B}, (int[]) {D, 2, D}, (int[]) {1, 2, 3}, order);
        grid(3, (int[]) {3, 4, 5}, (int[]) {C, C, C}, (int[]) {1, D, 3}, (int[]) {2, 2, 2}, order);
        grid(4, (int[]) {3, 2, 4, 3}, (int[]) {B, N, C, B}, (int[]) {D, D, 2, D}, (int[]) {2, 1, 2, 3}, order);
    }
    return finish();
}
