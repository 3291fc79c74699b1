/* Datatypes with holes, and areas of memory that know what each of their bytes has to be.
 * A layout is an MPI datatype with its type map written out: `place` puts a stream of elements where the type says, byte by byte,
 * without MPI. An area is filled with guard bytes, and `differs_from` names the first byte that is not as expected, hole or data.
 */
#ifndef RANDOM_LAYOUT_H
#define RANDOM_LAYOUT_H

#include "lane.h"

enum { BASES = 6, GUARD = 64 };

static const MPI_Datatype *bases(void)
{
    static MPI_Datatype types[BASES];
    types[0] = MPI_BYTE;
    types[1] = MPI_INT;
    types[2] = MPI_DOUBLE;
    types[3] = MPI_SHORT;
    types[4] = MPI_LONG_LONG;
    types[5] = MPI_CHAR;
    return types;
}
static const size_t base_bytes[BASES] = {1, 4, 8, 2, 8, 1};

struct layout {
    MPI_Datatype type;
    int derived, base, blocks;
    size_t element, elements; /* bytes of an element; elements of an item */
    ptrdiff_t extent, low, high;
    ptrdiff_t *at;            /* of each block of an item, bytes */
    size_t *length;           /* in elements */
};

static void layout_block(struct layout *made, ptrdiff_t at, size_t length)
{
    if (made->blocks % 64 == 0) {
        made->at = realloc(made->at, ((size_t) made->blocks + 64) * sizeof *made->at);
        made->length = realloc(made->length, ((size_t) made->blocks + 64) * sizeof *made->length);
    }
    made->at[made->blocks] = at;
    made->length[made->blocks++] = length;
    made->elements += length;
    ptrdiff_t end = at + (ptrdiff_t) (length * made->element);
    made->low = at < made->low ? at : made->low;
    made->high = end > made->high ? end : made->high;
}

static void layout_free(struct layout *made)
{
    if (made->derived)
        MPI(MPI_Type_free(&made->type));
    free(made->at);
    free(made->length);
    memset(made, 0, sizeof *made);
}

/* A random type for messages of about so many elements. */
static struct layout layout_make(uint64_t *state, int base, size_t wanted)
{
    struct layout made = {.type = bases()[base], .base = base, .element = base_bytes[base]};
    MPI_Datatype old = made.type, between;
    MPI_Datatype *type = &made.type;
    ptrdiff_t e = (ptrdiff_t) made.element;
    int kind = pick(state, 14), n = 1 + pick(state, 6), lengths[80], places[80], order[80];
    MPI_Aint at[80];
    made.derived = 1;
    switch (kind) {
    default: /* as it is */
        made.derived = 0;
        layout_block(&made, 0, 1);
        made.extent = e;
        return made;
    case 3:
        MPI(MPI_Type_contiguous(n, old, type));
        layout_block(&made, 0, (size_t) n);
        made.extent = n * e;
        break;
    case 4: case 5: { /* with holes, nested now and then */
        int length = 1 + pick(state, 5), stride = length + pick(state, 4);
        if (kind == 4)
            MPI(MPI_Type_vector(n, length, stride, old, type));
        else
            MPI(MPI_Type_create_hvector(n, length, stride * e, old, type));
        made.extent = ((n - 1) * stride + length) * e;
        int outer = 1 + pick(state, 3);
        for (int j = 0; j < outer; j++)
            for (int i = 0; i < n; i++)
                layout_block(&made, j * made.extent + i * stride * e, (size_t) length);
        if (outer > 1) {
            between = *type;
            MPI(MPI_Type_contiguous(outer, between, type));
            MPI(MPI_Type_free(&between));
            made.extent *= outer;
        }
        break;
    }
    case 6: case 7: case 8: { /* blocks in any order, before the buffer's address too */
        ptrdiff_t next = kind == 6 ? 0 : -pick(state, 20);
        for (int i = 0; i < n; i++) {
            lengths[i] = 1 + pick(state, 6);
            places[i] = (int) (next += pick(state, 3));
            next += lengths[i];
            order[i] = i;
        }
        shuffle(state, order, n);
        int sorted_lengths[80], sorted_places[80];
        MPI_Datatype olds[80];
        for (int i = 0; i < n; i++) {
            sorted_lengths[i] = lengths[order[i]];
            sorted_places[i] = places[order[i]];
            at[i] = sorted_places[i] * e;
            olds[i] = old;
            layout_block(&made, at[i], (size_t) sorted_lengths[i]);
        }
        if (kind == 6)
            MPI(MPI_Type_indexed(n, sorted_lengths, sorted_places, old, type));
        else if (kind == 7)
            MPI(MPI_Type_create_hindexed(n, sorted_lengths, at, old, type));
        else
            MPI(MPI_Type_create_struct(n, sorted_lengths, at, olds, type));
        made.extent = (next - places[0]) * e;
        break;
    }
    case 9: {
        int length = 1 + pick(state, 4), next = 0;
        for (int i = 0; i < n; i++, next += length) {
            places[i] = next += pick(state, 4);
            layout_block(&made, places[i] * e, (size_t) length);
        }
        MPI(MPI_Type_create_indexed_block(n, length, places, old, type));
        made.extent = (next - places[0]) * e;
        break;
    }
    case 10: {
        int sizes[2] = {1 + pick(state, 6), 1 + pick(state, 9)}, part[2], starts[2];
        for (int i = 0; i < 2; i++) {
            part[i] = 1 + pick(state, sizes[i]);
            starts[i] = pick(state, sizes[i] - part[i] + 1);
        }
        MPI(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, old, type));
        for (int i = 0; i < part[0]; i++)
            layout_block(&made, ((starts[0] + i) * sizes[1] + starts[1]) * e, (size_t) part[1]);
        made.extent = sizes[0] * sizes[1] * e;
        break;
    }
    case 11: { /* a larger extent, with a lower bound below zero */
        ptrdiff_t below = pick(state, 3) * e, above = pick(state, 3) * e;
        MPI(MPI_Type_contiguous(n, old, &between));
        MPI(MPI_Type_create_resized(between, -below, below + n * e + above, type));
        MPI(MPI_Type_free(&between));
        layout_block(&made, 0, (size_t) n);
        made.extent = below + n * e + above;
        break;
    }
    case 12: case 13: { /* all of the message in one item, the last block shorter */
        size_t block = 1 + (size_t) pick(state, 200), rest;
        while (wanted / block > 2000)
            block *= 4;
        ptrdiff_t stride = ((ptrdiff_t) block + pick(state, 8)) * e;
        int blocks = (int) (wanted / block);
        rest = wanted % block;
        if (wanted == 0 || blocks == 0) {
            blocks = 1;
            block = wanted ? wanted : 1;
            rest = 0;
        }
        MPI(MPI_Type_create_hvector(blocks, (int) block, stride, old, &between));
        int two[2] = {1, (int) rest};
        MPI_Aint starts[2] = {0, blocks * stride};
        MPI_Datatype olds[2] = {between, old};
        MPI(MPI_Type_create_struct(rest ? 2 : 1, two, starts, olds, type));
        MPI(MPI_Type_free(&between));
        for (int i = 0; i < blocks; i++)
            layout_block(&made, i * stride, block);
        if (rest)
            layout_block(&made, blocks * stride, rest);
        made.extent = made.high;
        break;
    }
    }
    if (once_in(state, 6)) {
        between = *type;
        MPI(MPI_Type_dup(between, type));
        MPI(MPI_Type_free(&between));
    }
    MPI_Aint bound, extent;
    MPI(MPI_Type_get_extent(*type, &bound, &extent));
    if (extent != made.extent) {
        /* A struct is padded to its alignment: then the library's own answer is taken, if it can be. */
        if (extent < made.extent || extent > made.extent + 16)
            fprintf(stderr, "[rank %d] extent %ld, expected %ld\n", rank, (long) extent, (long) made.extent);
        made.extent = extent;
    }
    MPI(MPI_Type_commit(type));
    return made;
}

static size_t items_for(const struct layout *of, size_t elements)
{
    return (elements + of->elements - 1) / of->elements;
}

/* Memory with guard bytes before and behind it. */
struct area {
    unsigned char *memory, *address, guard;
    size_t bytes;
    int mapped;
};

static struct area area_make(uint64_t *state, ptrdiff_t low, ptrdiff_t high, size_t align)
{
    struct area made = {.guard = (unsigned char) (1 + pick(state, 255))};
    size_t before = (size_t) -(low < 0 ? low : 0);
    before = GUARD + (before + 15) / 16 * 16 + align * (size_t) pick(state, (int) (64 / align));
    made.bytes = before + (size_t) (high > 0 ? high : 0) + GUARD;
    made.mapped = once_in(state, 8);
    if (made.mapped) {
        /* Its end is the end of a page now and then: reading beyond it is seen. */
        void *mapped = mmap(NULL, made.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) {
            perror("mmap");
            abort();
        }
        made.memory = mapped;
    } else {
        made.memory = malloc(made.bytes);
    }
    made.address = made.memory + before;
    memset(made.memory, made.guard, made.bytes);
    return made;
}

static struct area area_for(uint64_t *state, const struct layout *layout, size_t items)
{
    ptrdiff_t further = items ? (ptrdiff_t) (items - 1) * layout->extent : 0;
    return area_make(state, layout->low, items ? layout->high + further : 0, layout->element < 8 ? layout->element : 8);
}

static void area_free(struct area *made)
{
    if (made->mapped)
        munmap(made->memory, made->bytes);
    else
        free(made->memory);
    made->memory = NULL;
}

/* A second area of this one's shape, full of guard bytes: what is expected is written into it. */
static struct area area_twin(const struct area *of)
{
    struct area made = *of;
    made.mapped = 0;
    made.memory = malloc(of->bytes);
    made.address = made.memory + (of->address - of->memory);
    memset(made.memory, made.guard, made.bytes);
    return made;
}

/* The stream of a message. */
static void stream(unsigned char *to, size_t bytes, uint64_t seed)
{
    uint64_t x = seed | 1;
    for (; bytes >= 8; bytes -= 8, to += 8) {
        x = x * 0xD1B54A32D192ED03ull + 0x9E3779B97F4A7C15ull;
        uint64_t word = x ^ (x >> 31);
        memcpy(to, &word, 8);
    }
    x = x * 0xD1B54A32D192ED03ull + 0x9E3779B97F4A7C15ull;
    uint64_t word = x ^ (x >> 31);
    memcpy(to, &word, bytes);
}

/* Elements of the stream where items of the layout from `address` on have them. */
static void place(unsigned char *address, const struct layout *layout, size_t elements, uint64_t seed)
{
    size_t bytes = elements * layout->element;
    unsigned char *from = malloc(bytes + 8), *next = from;
    stream(from, bytes, seed);
    if (layout->blocks == 1 && layout->extent == (ptrdiff_t) (layout->elements * layout->element)) {
        memcpy(address + layout->at[0], from, bytes);
        bytes = 0;
    }
    for (ptrdiff_t item = 0; bytes; item++)
        for (int i = 0; i < layout->blocks && bytes; i++) {
            size_t length = layout->length[i] * layout->element;
            length = length < bytes ? length : bytes;
            memcpy(address + item * layout->extent + layout->at[i], next, length);
            next += length;
            bytes -= length;
        }
    free(from);
}

static uint64_t area_hash(const struct area *of)
{
    uint64_t hash = of->bytes, word = 0;
    for (size_t i = 0; i < of->bytes; i += 8) {
        size_t left = of->bytes - i;
        memcpy(&word, of->memory + i, left < 8 ? left : 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Where the two differ first, relative to the buffer's address; 0 if they do not. */
static int differs_from(const struct area *actual, const struct area *expected, ptrdiff_t *where)
{
    if (!memcmp(actual->memory, expected->memory, actual->bytes))
        return 0;
    size_t i = 0;
    while (actual->memory[i] == expected->memory[i])
        i++;
    *where = (ptrdiff_t) i - (actual->address - actual->memory);
    return 1;
}

/* After the completion of a send its buffer is the program's again: overwritten, or gone. */
static void area_reuse(uint64_t *state, struct area *made)
{
    memset(made->memory, 0xEE, made->bytes);
    if (made->mapped && once_in(state, 2))
        area_free(made);
}

#endif
