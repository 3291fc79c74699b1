/* What the ranks give and what they must get: every number follows from the step, the giver and the position. */
#ifndef KILLED_DATA_H
#define KILLED_DATA_H

#include "plan.h"

/* Numbers of an element, and where they are in it; bytes from one element to the next. */
static const int numbers_of[] = {0, 1, 6, 2}, extent_of[] = {1, 4, 40, 8};
static MPI_Datatype datatype_of[4];
static MPI_Op operation_of[REDUCTIONS];
/* Calls of user-defined operations in this process, and at which of them it dies: 0 for never. */
static int function_calls, deadly_call;

static void count_call(void)
{
    if (++function_calls == deadly_call)
        die();
}

static void own_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *from = in;
    uint32_t *to = inout;
    (void) type;
    count_call();
    for (int i = 0; i < *count; i++)
        to[i] += from[i];
}

/* (a, b) is the function x -> a x + b; the left one is done first. */
static void compose(const uint32_t *left, const uint32_t *right, uint32_t *result)
{
    uint32_t factor = left[0] * right[0], rest = right[0] * left[1] + right[1];
    result[0] = factor;
    result[1] = rest;
}

static void composition(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *from = in;
    uint32_t *to = inout;
    (void) type;
    count_call();
    for (int i = 0; i < *count; i++)
        compose(from + 2 * i, to + 2 * i, to + 2 * i);
}

static void make_types(void)
{
    MPI_Datatype holes;
    datatype_of[BYTES] = MPI_BYTE;
    datatype_of[NUMBERS] = MPI_UINT32_T;
    MPI(MPI_Type_vector(2, 3, 5, MPI_UINT32_T, &holes));
    MPI(MPI_Type_create_resized(holes, 0, extent_of[HOLES], &datatype_of[HOLES]));
    MPI(MPI_Type_commit(&datatype_of[HOLES]));
    MPI(MPI_Type_free(&holes));
    MPI(MPI_Type_contiguous(2, MPI_UINT32_T, &datatype_of[PAIRS]));
    MPI(MPI_Type_commit(&datatype_of[PAIRS]));
    operation_of[SUM] = MPI_SUM;
    operation_of[MAXIMUM] = MPI_MAX;
    operation_of[BXOR] = MPI_BXOR;
    MPI(MPI_Op_create(own_sum, 1, &operation_of[OWN_SUM]));
    MPI(MPI_Op_create(composition, 0, &operation_of[COMPOSITION]));
}

static uint32_t number_at(uint64_t seed, size_t position)
{
    return (uint32_t) (((seed + position) * 0x9E3779B97F4A7C15ull) >> 32);
}

/* Seed of what one gives to another, or as its part `to`. */
static uint64_t seed_of(const struct step *step, int from, int to)
{
    uint64_t seed = step->seed ^ ((uint64_t) (from + 1) << 40) ^ ((uint64_t) (to + 1) << 48);
    return next_random(&seed);
}

/* Number `n` of the elements of this type. */
static uint32_t *place_of(void *buffer, enum type type, size_t n)
{
    uint32_t *words = buffer;
    if (type != HOLES)
        return words + n;
    return words + n / 6 * 10 + n % 6 / 3 * 5 + n % 3;
}

static void *element(void *buffer, enum type type, int at)
{
    return (char *) buffer + (size_t) at * (size_t) extent_of[type];
}

static void write_block(void *block, enum type type, int count, uint64_t seed)
{
    if (type == BYTES)
        for (int i = 0; i < count; i++)
            ((unsigned char *) block)[i] = (unsigned char) number_at(seed, (size_t) i);
    else
        for (size_t n = 0; n < (size_t) count * (size_t) numbers_of[type]; n++)
            *place_of(block, type, n) = number_at(seed, n);
}

/* Position of the first wrong number (or byte), or -1. */
static long wrong_in_block(void *block, enum type type, int count, uint64_t seed)
{
    if (type == BYTES) {
        for (int i = 0; i < count; i++)
            if (((unsigned char *) block)[i] != (unsigned char) number_at(seed, (size_t) i))
                return i;
        return -1;
    }
    for (size_t n = 0; n < (size_t) count * (size_t) numbers_of[type]; n++)
        if (*place_of(block, type, n) != number_at(seed, n))
            return (long) n;
    return -1;
}

/* What ranks from 0 to `last` have at these numbers, reduced; of a composition two numbers. */
static void reduced(const struct step *step, const uint64_t *seeds, int last, size_t n, uint32_t *result)
{
    for (int from = 0; from <= last; from++) {
        uint32_t next[2] = {number_at(seeds[from], n), number_at(seeds[from], n + 1)};
        if (from == 0)
            memcpy(result, next, sizeof next);
        else if (step->reduction == COMPOSITION)
            compose(result, next, result);
        else if (step->reduction == MAXIMUM)
            result[0] = result[0] > next[0] ? result[0] : next[0];
        else if (step->reduction == BXOR)
            result[0] ^= next[0];
        else
            result[0] += next[0];
    }
}

/* As wrong_in_block, of a result that begins at an element of the whole. */
static long wrong_in_reduced(void *block, const struct step *step, int last, int first, int count)
{
    int width = numbers_of[step->type];
    const uint32_t *found = block;
    uint64_t seeds[MOST_RANKS];
    for (int from = 0; from <= last; from++)
        seeds[from] = seed_of(step, from, 0);
    for (int i = 0; i < count; i++) {
        uint32_t expected[2] = {0, 0};
        reduced(step, seeds, last, (size_t) (first + i) * (size_t) width, expected);
        if (memcmp(found + (size_t) i * (size_t) width, expected, (size_t) width * 4))
            return i;
    }
    return -1;
}

#endif
