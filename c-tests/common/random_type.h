/* Random trees of datatypes with their type maps, and a type rebuilt from what MPI_Type_get_contents says of another. */
#ifndef OXMPI_RANDOM_TYPE_H
#define OXMPI_RANDOM_TYPE_H

#include "typemap.h"

static CHECK_UNUSED int below(uint64_t *state, int limit)
{
    return (int) (next_random(state) % (uint64_t) limit);
}

/* Zero now and then, but not on MPICH, which counts the places of blocks without elements. */
static CHECK_UNUSED int length_below(uint64_t *state, int limit)
{
    int length = below(state, limit);
    return length || !reference ? length : 1;
}

static CHECK_UNUSED struct typed random_type(uint64_t *state, int depth);

static CHECK_UNUSED struct typed random_child(uint64_t *state, int depth)
{
    const MPI_Datatype basics[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_FLOAT, MPI_LONG_LONG, MPI_C_DOUBLE_COMPLEX};
    if (depth <= 0 || below(state, 8) == 0)
        return typed_basic(basics[below(state, 8)]);
    return random_type(state, depth - 1);
}

static CHECK_UNUSED struct typed random_type(uint64_t *state, int depth)
{
    struct typed old = random_child(state, depth), made;
    int lengths[5], places[5], sizes[3], part[3], starts[3], how = below(state, 12), count = length_below(state, 5);
    MPI_Aint at[5], span = 3 * (typed_extent(&old) < 0 ? -typed_extent(&old) : typed_extent(&old)) + 40;
    if (old.number > 200)
        how = 11;
    for (int i = 0; i < 5; i++) {
        lengths[i] = length_below(state, 4);
        places[i] = below(state, 30) - 10;
        at[i] = below(state, 1 << 20) % (2 * span) - span / 2 + i * span;
    }
    for (int i = 0; i < 3; i++) {
        sizes[i] = 1 + below(state, 4);
        part[i] = 1 + below(state, sizes[i]);
        starts[i] = below(state, sizes[i] - part[i] + 1);
    }
    switch (how) {
    case 0: made = typed_contiguous(count, &old); break;
    case 1: made = typed_vector(count, lengths[0], places[0], &old); break;
    case 2: made = typed_hvector(count, lengths[0], at[0], &old); break;
    case 3: made = typed_indexed(count, lengths, places, &old); break;
    case 4: made = typed_hindexed(count, lengths, at, &old); break;
    case 5: made = typed_indexed_block(count, lengths[0], places, &old); break;
    case 6: made = typed_hindexed_block(count, lengths[0], at, &old); break;
    case 7: case 8: {
        struct typed olds[3] = {old, random_child(state, depth - 1), random_child(state, 0)};
        made = typed_struct(1 + below(state, 3), lengths, at, olds);
        typed_free(&olds[1]);
        typed_free(&olds[2]);
        break;
    }
    case 9: made = typed_subarray(1 + below(state, 3), sizes, part, starts, below(state, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, &old); break;
    case 10: made = typed_darray(2 * sizes[1], below(state, 2 * sizes[1]), 2, (int[]) {sizes[0] + (reference ? 4 : 0), 7},
                                 (int[]) {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, (int[]) {part[0], MPI_DISTRIBUTE_DFLT_DARG},
                                 (int[]) {2, sizes[1]}, below(state, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, &old); break;
    default: made = typed_resized(at[0], at[1] - at[0] + (at[1] == at[0]), &old); break;
    }
    made.loose |= old.loose;
    typed_free(&old);
    return made;
}

/* A new type, made like the given one from new ones; predefined types as they are. */
static CHECK_UNUSED MPI_Datatype rebuilt(MPI_Datatype of)
{
    MPI_Count numbers, addresses, counts, types;
    int combiner, small[3] = {-1, -1, -1}, small_combiner;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI(MPI_Type_get_envelope_c(of, &numbers, &addresses, &counts, &types, &combiner));
    if (!counts) {
        MPI(MPI_Type_get_envelope(of, &small[0], &small[1], &small[2], &small_combiner));
        CHECK_INT(small[0], numbers);
        CHECK_INT(small[1], addresses);
        CHECK_INT(small[2], types);
        CHECK_INT(small_combiner, combiner);
    }
    if (combiner == MPI_COMBINER_NAMED)
        return of;
    int *i = calloc((size_t) numbers + 1, sizeof *i);
    MPI_Aint *a = calloc((size_t) addresses + 1, sizeof *a);
    MPI_Count *c = calloc((size_t) counts + 1, sizeof *c);
    MPI_Datatype *old = calloc((size_t) types + 1, sizeof *old), *new = calloc((size_t) types + 1, sizeof *new);
    if (counts)
        MPI(MPI_Type_get_contents_c(of, numbers, addresses, counts, types, i, a, c, old));
    else
        MPI(MPI_Type_get_contents(of, (int) numbers, (int) addresses, (int) types, i, a, old));
    for (int t = 0; t < types; t++)
        new[t] = rebuilt(old[t]);
    switch (combiner) {
    case MPI_COMBINER_DUP: MPI(MPI_Type_dup(new[0], &made)); break;
    case MPI_COMBINER_CONTIGUOUS:
        MPI(counts ? MPI_Type_contiguous_c(c[0], new[0], &made) : MPI_Type_contiguous(i[0], new[0], &made));
        break;
    case MPI_COMBINER_VECTOR:
        MPI(counts ? MPI_Type_vector_c(c[0], c[1], c[2], new[0], &made) : MPI_Type_vector(i[0], i[1], i[2], new[0], &made));
        break;
    case MPI_COMBINER_HVECTOR:
        MPI(counts ? MPI_Type_create_hvector_c(c[0], c[1], c[2], new[0], &made)
                   : MPI_Type_create_hvector(i[0], i[1], a[0], new[0], &made));
        break;
    case MPI_COMBINER_INDEXED:
        MPI(counts ? MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], new[0], &made)
                   : MPI_Type_indexed(i[0], i + 1, i + 1 + i[0], new[0], &made));
        break;
    case MPI_COMBINER_HINDEXED:
        MPI(counts ? MPI_Type_create_hindexed_c(c[0], c + 1, c + 1 + c[0], new[0], &made)
                   : MPI_Type_create_hindexed(i[0], i + 1, a, new[0], &made));
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI(counts ? MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, new[0], &made)
                   : MPI_Type_create_indexed_block(i[0], i[1], i + 2, new[0], &made));
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI(counts ? MPI_Type_create_hindexed_block_c(c[0], c[1], c + 2, new[0], &made)
                   : MPI_Type_create_hindexed_block(i[0], i[1], a, new[0], &made));
        break;
    case MPI_COMBINER_STRUCT:
        MPI(counts ? MPI_Type_create_struct_c(c[0], c + 1, c + 1 + c[0], new, &made)
                   : MPI_Type_create_struct(i[0], i + 1, a, new, &made));
        break;
    case MPI_COMBINER_SUBARRAY: {
        int n = i[0];
        MPI(counts ? MPI_Type_create_subarray_c(n, c, c + n, c + 2 * n, i[1], new[0], &made)
                   : MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], new[0], &made));
        break;
    }
    case MPI_COMBINER_DARRAY: {
        int n = i[2];
        MPI(counts ? MPI_Type_create_darray_c(i[0], i[1], n, c, i + 3, i + 3 + n, i + 3 + 2 * n, i[3 + 3 * n], new[0], &made)
                   : MPI_Type_create_darray(i[0], i[1], n, i + 3, i + 3 + n, i + 3 + 2 * n, i + 3 + 3 * n, i[3 + 4 * n], new[0], &made));
        break;
    }
    case MPI_COMBINER_RESIZED:
        MPI(counts ? MPI_Type_create_resized_c(new[0], c[0], c[1], &made) : MPI_Type_create_resized(new[0], a[0], a[1], &made));
        break;
    default: check_failed(__FILE__, __LINE__, "combiner %d", combiner);
    }
    for (int t = 0; t < types; t++) {
        int named;
        MPI(MPI_Type_get_envelope_c(old[t], &numbers, &addresses, &counts, &numbers, &named));
        if (named != MPI_COMBINER_NAMED) {
            MPI(MPI_Type_free(&old[t]));
            MPI(MPI_Type_free(&new[t]));
        }
    }
    free(i);
    free(a);
    free(c);
    free(old);
    free(new);
    return made;
}

#endif
