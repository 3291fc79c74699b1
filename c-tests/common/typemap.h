/* Datatypes beside their type maps, which are worked out by the definitions of the standard (MPI 5.0, 5.1), and the comparison of
 * both: sizes, bounds, packing and unpacking byte by byte.
 */
#ifndef OXMPI_TYPEMAP_H
#define OXMPI_TYPEMAP_H

#include "check.h"

struct piece {
    MPI_Aint at;
    int size;
};

/* A datatype, its type map, its bounds, and whether the program set them. */
struct typed {
    MPI_Datatype type;
    int owned; /* not predefined: to be freed */
    size_t number;
    struct piece *pieces;
    MPI_Aint lb, ub;
    int set, any, alignment;
    int loose; /* MPICH's true bounds are wider than the data where a process has a rest of blocks */
};

static CHECK_UNUSED MPI_Aint typed_extent(const struct typed *of)
{
    return of->ub - of->lb;
}

static CHECK_UNUSED size_t typed_size(const struct typed *of)
{
    size_t bytes = 0;
    for (size_t i = 0; i < of->number; i++)
        bytes += (size_t) of->pieces[i].size;
    return bytes;
}

/* Bounds as in a file, where nothing is padded. */
static CHECK_UNUSED int typed_without_padding;

static CHECK_UNUSED struct typed typed_basic(MPI_Datatype type)
{
    struct typed made = {type, 0, 1, NULL, 0, 0, 0, 1, 1, 0};
    int bytes;
    MPI(MPI_Type_size(type, &bytes));
    made.pieces = malloc(sizeof *made.pieces);
    made.pieces[0] = (struct piece) {0, bytes};
    made.ub = bytes;
    made.alignment = typed_without_padding ? 1 : type == MPI_C_DOUBLE_COMPLEX ? bytes / 2 : bytes;
    return made;
}

static CHECK_UNUSED void typed_free(struct typed *of)
{
    if (of->owned)
        MPI(MPI_Type_free(&of->type));
    free(of->pieces);
    of->pieces = NULL;
}

/* Adds a block to a growing map. MPICH does not keep bounds that the program set apart from the others. */
static CHECK_UNUSED void map_add(struct typed *to, MPI_Aint at, MPI_Count length, const struct typed *old)
{
    MPI_Aint extent = typed_extent(old);
    if (length <= 0)
        return;
    to->pieces = realloc(to->pieces, (to->number + (size_t) length * old->number + 1) * sizeof *to->pieces);
    for (MPI_Count i = 0; i < length; i++) {
        MPI_Aint lower = at + i * extent + old->lb, upper = at + i * extent + old->ub;
        int set = old->set && !reference;
        for (size_t j = 0; j < old->number; j++)
            to->pieces[to->number++] = (struct piece) {at + i * extent + old->pieces[j].at, old->pieces[j].size};
        if (!old->any)
            continue;
        if (!to->any || set > to->set) {
            to->lb = lower;
            to->ub = upper;
            to->set = set;
        } else if (set == to->set) {
            to->lb = lower < to->lb ? lower : to->lb;
            to->ub = upper > to->ub ? upper : to->ub;
        }
        to->any = 1;
    }
    if (old->alignment > to->alignment)
        to->alignment = old->alignment;
}

static CHECK_UNUSED struct typed map_new(void)
{
    struct typed made = {MPI_DATATYPE_NULL, 1, 0, NULL, 0, 0, 0, 0, 1, 0};
    made.pieces = malloc(sizeof *made.pieces);
    return made;
}

static CHECK_UNUSED struct typed typed_contiguous(int count, const struct typed *old)
{
    struct typed made = map_new();
    map_add(&made, 0, count, old);
    MPI(MPI_Type_contiguous(count, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_hvector(int count, int length, MPI_Aint stride, const struct typed *old)
{
    struct typed made = map_new();
    for (int i = 0; i < count; i++)
        map_add(&made, i * stride, length, old);
    MPI(MPI_Type_create_hvector(count, length, stride, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_vector(int count, int length, int stride, const struct typed *old)
{
    struct typed made = typed_hvector(count, length, stride * typed_extent(old), old);
    MPI(MPI_Type_free(&made.type));
    MPI(MPI_Type_vector(count, length, stride, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_hindexed(int count, const int *lengths, const MPI_Aint *at, const struct typed *old)
{
    struct typed made = map_new();
    for (int i = 0; i < count; i++)
        map_add(&made, at[i], lengths[i], old);
    MPI(MPI_Type_create_hindexed(count, lengths, at, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_indexed(int count, const int *lengths, const int *at, const struct typed *old)
{
    struct typed made = map_new();
    for (int i = 0; i < count; i++)
        map_add(&made, at[i] * typed_extent(old), lengths[i], old);
    MPI(MPI_Type_indexed(count, lengths, at, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_indexed_block(int count, int length, const int *at, const struct typed *old)
{
    struct typed made = map_new();
    for (int i = 0; i < count; i++)
        map_add(&made, at[i] * typed_extent(old), length, old);
    MPI(MPI_Type_create_indexed_block(count, length, at, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_hindexed_block(int count, int length, const MPI_Aint *at, const struct typed *old)
{
    struct typed made = map_new();
    for (int i = 0; i < count; i++)
        map_add(&made, at[i], length, old);
    MPI(MPI_Type_create_hindexed_block(count, length, at, old->type, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_struct(int count, const int *lengths, const MPI_Aint *at, const struct typed *olds)
{
    struct typed made = map_new();
    MPI_Datatype types[16];
    for (int i = 0; i < count; i++) {
        map_add(&made, at[i], lengths[i], &olds[i]);
        types[i] = olds[i].type;
    }
    if (made.any && !made.set) { /* as a C compiler pads a struct */
        MPI_Aint extent = typed_extent(&made), over = (extent % made.alignment + made.alignment) % made.alignment;
        made.ub += over ? made.alignment - over : 0;
    }
    MPI(MPI_Type_create_struct(count, lengths, at, types, &made.type));
    for (int i = 0; i < count; i++)
        if (reference && olds[i].owned) { /* MPICH has a padding of its own there */
            MPI_Aint extent;
            MPI(MPI_Type_get_extent(made.type, &made.lb, &extent));
            made.ub = made.lb + extent;
        }
    return made;
}

static CHECK_UNUSED struct typed typed_resized(MPI_Aint lb, MPI_Aint extent, const struct typed *old)
{
    struct typed made = map_new();
    map_add(&made, 0, 1, old);
    made.lb = lb;
    made.ub = lb + extent;
    made.any = made.set = 1;
    MPI(MPI_Type_create_resized(old->type, lb, extent, &made.type));
    return made;
}

static CHECK_UNUSED struct typed typed_dup(const struct typed *old)
{
    struct typed made = map_new();
    map_add(&made, 0, 1, old);
    made.lb = old->lb, made.ub = old->ub, made.set = old->set, made.any = old->any;
    MPI(MPI_Type_dup(old->type, &made.type));
    return made;
}

/* The elements of an array that a function of the coordinates chooses, in the order of memory. */
static CHECK_UNUSED struct typed map_array(int ndims, const int *sizes, int order, const struct typed *old,
                                           int (*mine)(const void *how, int dimension, int at), const void *how)
{
    struct typed made = map_new();
    MPI_Aint extent = typed_extent(old);
    long number = 1;
    for (int d = 0; d < ndims; d++)
        number *= sizes[d];
    for (long i = 0; i < number; i++) {
        long rest = i;
        int take = 1;
        for (int k = 0; k < ndims; k++) {
            int d = order == MPI_ORDER_C ? ndims - 1 - k : k;
            take = take && mine(how, d, (int) (rest % sizes[d]));
            rest /= sizes[d];
        }
        if (take)
            map_add(&made, i * extent, 1, old);
    }
    made.lb = 0;
    made.ub = number * extent;
    made.any = made.set = 1;
    return made;
}

struct map_part {
    const int *subsizes, *starts;
};

static CHECK_UNUSED int map_in_part(const void *how, int d, int at)
{
    const struct map_part *part = how;
    return at >= part->starts[d] && at < part->starts[d] + part->subsizes[d];
}

static CHECK_UNUSED struct typed typed_subarray(int ndims, const int *sizes, const int *subsizes, const int *starts, int order,
                                                const struct typed *old)
{
    struct map_part part = {subsizes, starts};
    struct typed made = map_array(ndims, sizes, order, old, map_in_part, &part);
    MPI(MPI_Type_create_subarray(ndims, sizes, subsizes, starts, order, old->type, &made.type));
    return made;
}

struct map_grid {
    const int *sizes, *distributions, *arguments, *processes;
    int coordinates[8];
};

static CHECK_UNUSED int map_on_grid(const void *how, int d, int at)
{
    const struct map_grid *grid = how;
    int argument = grid->arguments[d], processes = grid->processes[d];
    if (grid->distributions[d] == MPI_DISTRIBUTE_NONE)
        return 1;
    if (grid->distributions[d] == MPI_DISTRIBUTE_BLOCK) {
        int length = argument == MPI_DISTRIBUTE_DFLT_DARG ? (grid->sizes[d] + processes - 1) / processes : argument;
        return at / length == grid->coordinates[d];
    }
    return at / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % processes == grid->coordinates[d];
}

static CHECK_UNUSED struct typed typed_darray(int ranks, int of_rank, int ndims, const int *sizes, const int *distributions,
                                              const int *arguments, const int *processes, int order, const struct typed *old)
{
    struct map_grid grid = {sizes, distributions, arguments, processes, {0}};
    int rest = of_rank;
    for (int d = ndims - 1; d >= 0; d--) {
        grid.coordinates[d] = rest % processes[d];
        rest /= processes[d];
    }
    struct typed made = map_array(ndims, sizes, order, old, map_on_grid, &grid);
    made.loose = reference;
    MPI(MPI_Type_create_darray(ranks, of_rank, ndims, sizes, distributions, arguments, processes, order, old->type, &made.type));
    return made;
}

static CHECK_UNUSED void typed_true_bounds(const struct typed *of, MPI_Aint *from, MPI_Aint *to)
{
    *from = *to = 0;
    for (size_t i = 0; i < of->number; i++) {
        MPI_Aint start = of->pieces[i].at, end = start + of->pieces[i].size;
        if (start == end)
            continue;
        if (!*from && !*to)
            *from = start, *to = end;
        *from = start < *from ? start : *from;
        *to = end > *to ? end : *to;
    }
}

/* Memory around `count` elements: `origin` is where the buffer argument points. */
struct room {
    unsigned char *memory, *origin;
    size_t bytes;
};

static CHECK_UNUSED struct room room_for(const struct typed *of, int count)
{
    MPI_Aint from, to, extent = typed_extent(of), far = (count - 1) * extent;
    typed_true_bounds(of, &from, &to);
    if (far > 0)
        to += far;
    else
        from += far;
    from = (from < 0 ? from : 0) - 64;
    to = (to > 0 ? to : 0) + 64;
    from -= (16 + from % 16) % 16;
    struct room room;
    room.bytes = (size_t) (to - from);
    room.memory = malloc(room.bytes);
    room.origin = room.memory - from;
    return room;
}

/* The bytes of `count` elements in the order of the type map; with `to`, their addresses are marked there. */
static CHECK_UNUSED void map_pack(const struct typed *of, int count, const unsigned char *origin, unsigned char *packed)
{
    for (int c = 0; c < count; c++)
        for (size_t i = 0; i < of->number; i++) {
            memcpy(packed, origin + c * typed_extent(of) + of->pieces[i].at, (size_t) of->pieces[i].size);
            packed += of->pieces[i].size;
        }
}

/* Writes packed bytes to their places; whether any place was written twice. */
static CHECK_UNUSED int map_unpack(const struct typed *of, int count, struct room *room, const unsigned char *packed)
{
    unsigned char *seen = calloc(room->bytes, 1);
    int twice = 0;
    for (int c = 0; c < count; c++)
        for (size_t i = 0; i < of->number; i++) {
            unsigned char *at = room->origin + c * typed_extent(of) + of->pieces[i].at;
            for (int b = 0; b < of->pieces[i].size; b++, packed++) {
                twice |= seen[at + b - room->memory]++;
                at[b] = *packed;
            }
        }
    free(seen);
    return twice;
}

static CHECK_UNUSED void typed_check_bounds(const char *file, int line, const struct typed *of)
{
    MPI_Aint lb, extent, true_lb, true_extent, from, to;
    MPI_Count large[2], true_large[2], bytes;
    int size_;
    MPI(MPI_Type_size(of->type, &size_));
    MPI(MPI_Type_size_x(of->type, &bytes));
    MPI(MPI_Type_get_extent(of->type, &lb, &extent));
    MPI(MPI_Type_get_extent_x(of->type, &large[0], &large[1]));
    MPI(MPI_Type_get_true_extent(of->type, &true_lb, &true_extent));
    MPI(MPI_Type_get_true_extent_x(of->type, &true_large[0], &true_large[1]));
    typed_true_bounds(of, &from, &to);
    if ((size_t) size_ != typed_size(of) || bytes != size_)
        check_failed(file, line, "size %d, as a large count %lld, expected %zu", size_, (long long) bytes, typed_size(of));
    if (lb != of->lb || extent != typed_extent(of))
        check_failed(file, line, "lb %ld and extent %ld, expected %ld and %ld", (long) lb, (long) extent, (long) of->lb, (long) typed_extent(of));
    if (size_ && !of->loose && (true_lb != from || true_extent != to - from))
        check_failed(file, line, "true lb %ld and extent %ld, expected %ld and %ld", (long) true_lb, (long) true_extent, (long) from, (long) (to - from));
    if (large[0] != lb || large[1] != extent || true_large[0] != true_lb || true_large[1] != true_extent)
        check_failed(file, line, "the functions with and without _x differ");
}

/* Sizes and bounds, packing and unpacking, and a message to oneself, of a type that this commits. */
#define TYPED_CHECK(of, count) do { CHECK_HERE; typed_check(__FILE__, __LINE__, of, count); } while (0)

static CHECK_UNUSED void typed_check(const char *file, int line, struct typed *of, int count)
{
    size_t bytes = typed_size(of) * (size_t) count;
    struct room from = room_for(of, count), to = room_for(of, count), expected = room_for(of, count);
    unsigned char *packed = malloc(bytes + 64), *right = malloc(bytes + 1);
    int position = 0, most = -1, number = -1;
    MPI_Status status;
    typed_check_bounds(file, line, of);
    if (of->owned)
        MPI(MPI_Type_commit(&of->type));
    fill(from.memory, from.bytes, bytes + (size_t) count);
    map_pack(of, count, from.origin, right);
    MPI(MPI_Pack_size(count, of->type, MPI_COMM_SELF, &most));
    if (most < (int) bytes)
        check_failed(file, line, "MPI_Pack_size gives %d for %zu bytes", most, bytes);
    packed = realloc(packed, (size_t) most + 64);
    MPI(MPI_Pack(from.origin, count, of->type, packed, most, &position, MPI_COMM_SELF));
    if (position != (int) bytes || memcmp(packed, right, bytes))
        check_failed(file, line, "packed %d bytes, expected %zu, or other ones", position, bytes);
    memset(to.memory, 0xee, to.bytes);
    memset(expected.memory, 0xee, expected.bytes);
    int twice = map_unpack(of, count, &expected, right);
    if (!twice) { /* else a receive would be wrong */
        position = 0;
        MPI(MPI_Unpack(right, (int) bytes, &position, to.origin, count, of->type, MPI_COMM_SELF));
        if (position != (int) bytes || memcmp(to.memory, expected.memory, to.bytes))
            check_failed(file, line, "unpacked %d bytes, expected %zu, or to other places", position, bytes);
        memset(to.memory, 0xee, to.bytes);
        MPI(MPI_Sendrecv(from.origin, count, of->type, 0, 7, to.origin, count, of->type, 0, 7, MPI_COMM_SELF, &status));
        if (memcmp(to.memory, expected.memory, to.bytes))
            check_failed(file, line, "a message to oneself arrived wrong");
        MPI(MPI_Get_count(&status, of->type, &number));
        if (bytes && number != count)
            check_failed(file, line, "MPI_Get_count gives %d for %d", number, count);
    }
    memset(packed, 0, bytes);
    MPI(MPI_Sendrecv(from.origin, count, of->type, 0, 8, packed, (int) bytes, MPI_PACKED, 0, 8, MPI_COMM_SELF, &status));
    if (memcmp(packed, right, bytes))
        check_failed(file, line, "a message received as MPI_PACKED arrived wrong");
    free(from.memory);
    free(to.memory);
    free(expected.memory);
    free(packed);
    free(right);
}

#endif
