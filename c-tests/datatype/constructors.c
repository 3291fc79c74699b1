/* Each constructor against its type map: plain cases, zero and negative numbers, holes, bounds that the program set. */
#include "typemap.h"

static void both(struct typed made)
{
    for (int count = 1; count <= 3; count++)
        TYPED_CHECK(&made, count);
    typed_free(&made);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype basics[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX};
    for (size_t b = 0; b < sizeof basics / sizeof *basics; b++) {
        if (reference && basics[b] == MPI_LONG_DOUBLE)
            continue; /* MPICH copies the ten bytes that are the number, not the padding */
        struct typed basic = typed_basic(basics[b]), wide = typed_resized(-8, 48, &basic);
        MPI_Aint bytes = typed_extent(&basic);
        struct typed *olds[2] = {&basic, &wide};
        both(basic);
        basic = typed_basic(basics[b]);
        for (int o = 0; o < 2; o++) {
            struct typed *old = olds[o];
            both(typed_dup(old));
            both(typed_contiguous(5, old));
            both(typed_contiguous(1, old));
            both(typed_vector(3, 2, 4, old));
            both(typed_vector(4, 1, -3, old));
            both(typed_vector(1, 7, 100, old));
            both(typed_vector(5, 3, 3, old));
            both(typed_hvector(3, 2, 5 * bytes + 100, old));
            both(typed_hvector(3, 1, -200, old));
            both(typed_indexed(4, (int[]) {1, 3, 0, 2}, (int[]) {9, 0, 77, -6}, old));
            both(typed_hindexed(3, (int[]) {1, 2, 1}, (MPI_Aint[]) {-300, 3, 401}, old));
            both(typed_indexed_block(3, 2, (int[]) {8, 0, -5}, old));
            both(typed_hindexed_block(3, 2, (MPI_Aint[]) {1000, 0, -500}, old));
            both(typed_resized(-16, 100, old));
            both(typed_resized(16, 8 * bytes, old));
            both(typed_resized(3, -120, old));
            both(typed_subarray(1, (int[]) {6}, (int[]) {2}, (int[]) {3}, MPI_ORDER_C, old));
            both(typed_subarray(3, (int[]) {4, 5, 6}, (int[]) {2, 3, 4}, (int[]) {1, 0, 2}, MPI_ORDER_C, old));
            both(typed_subarray(3, (int[]) {4, 5, 6}, (int[]) {2, 3, 4}, (int[]) {1, 0, 2}, MPI_ORDER_FORTRAN, old));
            both(typed_subarray(2, (int[]) {4, 5}, (int[]) {4, 5}, (int[]) {0, 0}, MPI_ORDER_FORTRAN, old));
        }
        struct typed other = typed_basic(MPI_CHAR), third = typed_vector(2, 1, 3, &basic);
        both(typed_struct(3, (int[]) {1, 1, 3}, (MPI_Aint[]) {0, bytes, bytes + 1}, (struct typed[]) {basic, other, other}));
        both(typed_struct(2, (int[]) {2, 1}, (MPI_Aint[]) {-100, 0}, (struct typed[]) {third, other}));
        both(typed_struct(3, (int[]) {2, 0, 1}, (MPI_Aint[]) {400, 1000, 8}, (struct typed[]) {wide, basic, third}));
        both(typed_struct(1, (int[]) {1}, (MPI_Aint[]) {13}, (struct typed[]) {other}));
        typed_free(&other);
        typed_free(&third);
        typed_free(&wide);
        typed_free(&basic);
    }
    struct typed number = typed_basic(MPI_INT), empty = typed_contiguous(0, &number);
    both(typed_vector(0, 3, 5, &number));
    both(typed_hvector(0, 0, 0, &number));
    both(typed_indexed(0, NULL, NULL, &number));
    both(typed_hindexed(2, (int[]) {0, 0}, (MPI_Aint[]) {50, 60}, &number));
    both(typed_indexed_block(0, 4, NULL, &number));
    if (!reference) { /* where MPICH counts the places of blocks without elements */
        both(typed_vector(3, 0, 5, &number));
        both(typed_hindexed_block(3, 0, (MPI_Aint[]) {1, 2, 3}, &number));
    }
    both(typed_struct(0, NULL, NULL, NULL));
    both(typed_contiguous(4, &empty));
    both(typed_resized(0, 16, &empty));
    typed_free(&empty);
    typed_free(&number);
    return finish();
}
