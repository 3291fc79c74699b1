/* Wrong arguments of the constructors, of commit, free and dup. */
#include "wrong.h"

static void uses_of(MPI_Datatype wrong)
{
    MPI_Datatype made, both[2] = {MPI_INT, wrong};
    int one[2] = {1, 1}, none[2] = {0, 0}, where[2] = {0, 3};
    MPI_Aint at[2] = {0, 8};
    ERROR(MPI_Type_contiguous(1, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_contiguous(0, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_vector(1, 1, 1, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_create_hvector(1, 1, 1, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_indexed(2, one, where, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_create_hindexed(2, one, at, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_create_indexed_block(2, 1, where, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_create_hindexed_block(2, 1, at, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    if (!reference || wrong == MPI_DATATYPE_NULL) {
        ERROR(MPI_Type_create_struct(2, one, at, both, &made), MPI_ERR_TYPE, "array_of_types[1]", NULL);
        ERROR(MPI_Type_create_struct(2, none, at, both, &made), MPI_ERR_TYPE, "array_of_types[1]", NULL);
    }
    ERROR(MPI_Type_create_resized(wrong, 0, 4, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_dup(wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_create_subarray(1, one, one, none, MPI_ORDER_C, wrong, &made), MPI_ERR_TYPE, "oldtype", NULL);
    if (!reference) /* which crashes */
        ERROR(MPI_Type_create_darray(1, 0, 1, one, (int[]) {MPI_DISTRIBUTE_NONE}, one, one, MPI_ORDER_C, wrong, &made), MPI_ERR_TYPE,
              "oldtype", NULL);
    made = wrong;
    ERROR(MPI_Type_commit(&made), MPI_ERR_TYPE, "datatype", NULL);
    made = wrong;
    ERROR(MPI_Type_free(&made), MPI_ERR_TYPE, "datatype", NULL);
}

int main(int argc, char **argv)
{
    MPI_Datatype made, freed;
    int lengths[3] = {1, 2, -3}, one[3] = {1, 1, 1}, where[3] = {0, 3, 6};
    MPI_Aint at[3] = {0, 8, 16};
    MPI_Count large_lengths[2] = {1, -7}, large_at[2] = {0, 8};
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    start(&argc, &argv);
    return_errors();
    uses_of(MPI_DATATYPE_NULL);
    MPI(MPI_Type_contiguous(2, MPI_INT, &made));
    freed = made;
    MPI(MPI_Type_free(&made));
    CHECK(made == MPI_DATATYPE_NULL);
    if (!reference)
        uses_of(freed);
    uses_of((MPI_Datatype) MPI_COMM_WORLD);
    uses_of((MPI_Datatype) 0);

    ERROR(MPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_contiguous_c(-1, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_vector(-2, 1, 1, MPI_INT, &made), MPI_ERR_COUNT, "count", "-2");
    ERROR(MPI_Type_vector(1, -3, 1, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-3");
    ERROR(MPI_Type_vector_c(1, -3, 1, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-3");
    ERROR(MPI_Type_create_hvector(-2, 1, 1, MPI_INT, &made), MPI_ERR_COUNT, "count", "-2");
    ERROR(MPI_Type_create_hvector(1, -3, 1, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-3");
    ERROR(MPI_Type_create_hvector_c(1, -3, 1, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-3");
    ERROR(MPI_Type_indexed(-1, one, where, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_indexed(3, lengths, where, MPI_INT, &made), MPI_ERR_COUNT, "array_of_blocklengths[2]", "-3");
    ERROR(MPI_Type_indexed_c(2, large_lengths, large_at, MPI_INT, &made), MPI_ERR_COUNT, "array_of_blocklengths[1]", "-7");
    ERROR(MPI_Type_create_hindexed(-1, one, at, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_create_hindexed(3, lengths, at, MPI_INT, &made), MPI_ERR_COUNT, "array_of_blocklengths[2]", "-3");
    ERROR(MPI_Type_create_hindexed_c(2, large_lengths, large_at, MPI_INT, &made), MPI_ERR_COUNT, "array_of_blocklengths[1]", "-7");
    ERROR(MPI_Type_create_indexed_block(-1, 1, where, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_create_indexed_block(2, -1, where, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-1");
    ERROR(MPI_Type_create_hindexed_block(-1, 1, at, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_create_hindexed_block(2, -1, at, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-1");
    ERROR(MPI_Type_create_struct(-1, one, at, types, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_create_struct(3, lengths, at, types, &made), MPI_ERR_COUNT, "array_of_blocklengths[2]", "-3");
    ERROR(MPI_Type_create_struct_c(2, large_lengths, large_at, types, &made), MPI_ERR_COUNT, "array_of_blocklengths[1]", "-7");

    ERROR(MPI_Type_indexed(3, NULL, where, MPI_INT, &made), MPI_ERR_ARG, "array_of_blocklengths", NULL);
    ERROR(MPI_Type_indexed(3, one, NULL, MPI_INT, &made), MPI_ERR_ARG, "array_of_displacements", NULL);
    ERROR(MPI_Type_create_hindexed(3, NULL, at, MPI_INT, &made), MPI_ERR_ARG, "array_of_blocklengths", NULL);
    ERROR(MPI_Type_create_hindexed(3, one, NULL, MPI_INT, &made), MPI_ERR_ARG, "array_of_displacements", NULL);
    ERROR(MPI_Type_create_indexed_block(3, 1, NULL, MPI_INT, &made), MPI_ERR_ARG, "array_of_displacements", NULL);
    ERROR(MPI_Type_create_hindexed_block(3, 1, NULL, MPI_INT, &made), MPI_ERR_ARG, "array_of_displacements", NULL);
    ERROR(MPI_Type_create_struct(3, NULL, at, types, &made), MPI_ERR_ARG, "array_of_blocklengths", NULL);
    ERROR(MPI_Type_create_struct(3, one, NULL, types, &made), MPI_ERR_ARG, "array_of_displacements", NULL);
    ERROR(MPI_Type_create_struct(3, one, at, NULL, &made), MPI_ERR_ARG, "array_of_types", NULL);
    ERROR(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_vector(1, 1, 1, MPI_INT, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_create_struct(3, one, at, types, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_create_resized(MPI_INT, 0, 8, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_dup(MPI_INT, NULL), MPI_ERR_ARG, "newtype", NULL);
    if (!reference) { /* which crashes */
        ERROR(MPI_Type_commit(NULL), MPI_ERR_ARG, "datatype", NULL);
        ERROR(MPI_Type_free(NULL), MPI_ERR_ARG, "datatype", NULL);
    }

    MPI_Datatype fixed[] = {MPI_INT, MPI_PACKED, MPI_FLOAT_INT, MPI_2INT, MPI_DOUBLE_COMPLEX};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        made = fixed[i];
        ERROR(MPI_Type_free(&made), MPI_ERR_TYPE, "datatype", NULL);
        CHECK(made == fixed[i]);
    }
    if (!reference) { /* which wraps */
        MPI_Datatype all;
        ERROR(MPI_Type_create_hvector(3, 1, INTPTR_MAX / 2, MPI_INT, &made), MPI_ERR_ARG, "bounds", NULL);
        ERROR(MPI_Type_create_hvector(3, 1, -(INTPTR_MAX / 2), MPI_INT, &made), MPI_ERR_ARG, "bounds", NULL);
        ERROR(MPI_Type_create_hindexed(2, one, (MPI_Aint[]) {-INTPTR_MAX, INTPTR_MAX}, MPI_INT, &made), MPI_ERR_ARG, "bounds", NULL);
        ERROR(MPI_Type_create_resized(MPI_INT, INTPTR_MAX, INTPTR_MAX, &made), MPI_ERR_ARG, "bounds", NULL);
        ERROR(MPI_Type_contiguous_c((MPI_Count) INTPTR_MAX / 2, MPI_DOUBLE, &made), MPI_ERR_ARG, "2^63", NULL);
        MPI(MPI_Type_contiguous_c((MPI_Count) 1 << 40, MPI_DOUBLE, &all));
        ERROR(MPI_Type_vector_c((MPI_Count) 1 << 30, 1, 2, all, &made), MPI_ERR_ARG, "2^63", NULL);
        MPI(MPI_Type_free(&all));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
