/* Listed and random views and memory against a model of the file, byte by byte: written, read back, with ends of files inside of the view, in
 * the representations "native" and "external32". Each rank has a file of its own, and a part of one that all have, with collective calls.
 * args: [rounds] [seed] */
#include "files.h"
#include "random_type.h"

enum { MODEL = 1 << 15, MEMORY = 16000, MIDDLE = MEMORY / 2, MOST = 1000 };
static unsigned char models[2][MODEL], found[MODEL];
static int packed_file;

/* Whether a type can be a filetype that is written: displacements from zero on, ascending, no byte twice, also from one to the next. */
static int suits(const struct typed *of)
{
    MPI_Aint end = 0;
    for (size_t i = 0; i < of->number; i++) {
        if (of->pieces[i].at < end)
            return 0;
        end = of->pieces[i].at + of->pieces[i].size;
    }
    return of->number > 0 && of->number < 100 && end - of->pieces[0].at <= typed_extent(of) && typed_extent(of) < 2 * MOST;
}

/* Where byte `byte` of endless elements lies. */
static long place(const struct typed *of, size_t byte)
{
    size_t bytes = typed_size(of), rest = byte % bytes, i = 0;
    for (; rest >= (size_t) of->pieces[i].size; i++)
        rest -= (size_t) of->pieces[i].size;
    return (long) (byte / bytes) * (long) typed_extent(of) + (long) of->pieces[i].at + (long) rest;
}

/* A type that `wanted` accepts, committed. */
static struct typed find(uint64_t *state, int (*wanted)(const struct typed *), int without_padding)
{
    for (;;) {
        typed_without_padding = without_padding;
        struct typed made = random_type(state, 2);
        typed_without_padding = 0;
        if (!made.loose && wanted(&made)) {
            MPI(MPI_Type_commit(&made.type));
            return made;
        }
        typed_free(&made);
    }
}

/* Memory: what can be read into, of few bytes. */
static int lies_apart(const struct typed *of)
{
    static unsigned char used[MEMORY];
    if (of->number == 0 || of->number >= 100 || typed_extent(of) >= MOST || typed_extent(of) <= -MOST)
        return 0;
    memset(used, 0, sizeof used);
    for (int element = 0; element < 3; element++)
        for (size_t i = 0; i < of->number; i++)
            for (int b = 0; b < of->pieces[i].size; b++) {
                MPI_Aint at = MIDDLE + element * typed_extent(of) + of->pieces[i].at + b;
                if (at < 0 || at >= (MPI_Aint) sizeof used || used[at]++)
                    return 0;
            }
    return 1;
}

static void write_it(int form, MPI_File file, MPI_Offset first, const void *memory, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    if (form == 1 || form == 4 || form == 6)
        MPI(MPI_File_seek(file, first, MPI_SEEK_SET));
    switch (form) {
    case 0: MPI(MPI_File_write_at(file, first, memory, count, type, status)); break;
    case 1: MPI(MPI_File_write(file, memory, count, type, status)); break;
    case 2:
        MPI(MPI_File_iwrite_at(file, first, memory, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    case 3: MPI(MPI_File_write_at_all(file, first, memory, count, type, status)); break;
    case 4: MPI(MPI_File_write_all(file, memory, count, type, status)); break;
    case 5:
        MPI(MPI_File_iwrite_at_all(file, first, memory, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    default:
        MPI(MPI_File_write_all_begin(file, memory, count, type));
        MPI(MPI_File_write_all_end(file, memory, status));
        break;
    }
}

static void read_it(int form, MPI_File file, MPI_Offset first, void *memory, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    if (form == 1 || form == 2 || form == 4)
        MPI(MPI_File_seek(file, first, MPI_SEEK_SET));
    switch (form) {
    case 0: MPI(MPI_File_read_at(file, first, memory, count, type, status)); break;
    case 1: MPI(MPI_File_read(file, memory, count, type, status)); break;
    case 2:
        MPI(MPI_File_iread(file, memory, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    case 3: MPI(MPI_File_read_at_all(file, first, memory, count, type, status)); break;
    case 4: MPI(MPI_File_read_all(file, memory, count, type, status)); break;
    case 5:
        MPI(MPI_File_iread_at_all(file, first, memory, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    default:
        MPI(MPI_File_read_at_all_begin(file, first, memory, count, type));
        MPI(MPI_File_read_at_all_end(file, memory, status));
        break;
    }
}

/* What is in memory, byte by byte of the packed elements, and where of an element of the file each byte is. */
static unsigned char *in_memory(unsigned char *memory, const struct typed *of, size_t byte)
{
    return memory + MIDDLE + place(of, byte);
}

/* The byte of memory that a byte of the file is, in packed bytes: backwards within a number, if the file is packed. */
static size_t of_memory(const struct typed *of, size_t byte)
{
    size_t bytes = typed_size(of), rest = byte % bytes, i = 0;
    if (!packed_file)
        return byte;
    for (; rest >= (size_t) of->pieces[i].size; i++)
        rest -= (size_t) of->pieces[i].size;
    size_t number = of->pieces[i].size == 16 ? 8 : (size_t) of->pieces[i].size; /* two of a complex one */
    return byte - rest % number + number - 1 - rest % number;
}

/* Of the bytes of the file that are there, those that whole elements of memory are. */
static size_t whole(const struct typed *of, size_t there)
{
    size_t bytes = typed_size(of), done = there / bytes * bytes;
    if (!packed_file)
        return there;
    for (size_t i = 0; i < of->number && done + (size_t) of->pieces[i].size <= there; i++)
        done += (size_t) of->pieces[i].size;
    return done;
}

/* One access, written and read. */
struct access {
    MPI_File file;
    const char *name;
    int own; /* the file is this rank's alone */
    const struct typed *filetype, *memtype;
    int count, disp;
    size_t first;
    int form, reading;
    int cut; /* the byte of the access at which the file is to end, or -1 */
};

static void check_access(const struct access *of, uint64_t *state)
{
    static unsigned char memory[MEMORY], copy[MEMORY];
    unsigned char *model = models[of->own];
    const struct typed *filetype = of->filetype, *memtype = of->memtype;
    size_t bytes = typed_size(memtype) * (size_t) of->count, first = of->first;
    int count = of->count, disp = of->disp, form = of->form;
    MPI_Offset base = of->own ? 0 : (MPI_Offset) rank * MODEL, at = -1, offset;
    MPI_File file = of->file;
    MPI_Status status;
    unsigned char *mid = memory + MIDDLE;
    long last = disp + place(filetype, first + bytes - 1);
    /* The view begins anywhere; the etype is a byte. Filetypes of other basic types are bytes for it. */
    MPI(MPI_File_set_view(file, base + disp, MPI_BYTE, filetype->type, packed_file ? "external32" : "native", MPI_INFO_NULL));
    if (last >= MODEL - 1000) { /* nothing then */
        bytes = first = 0;
        count = 0;
        last = -1;
    }
    MPI(MPI_File_get_byte_offset(file, (MPI_Offset) first, &offset));
    CHECK_INT(offset, base + disp + place(filetype, first));
    for (int i = 0; i < MEMORY; i += 8)
        memcpy(memory + i, (uint64_t[]) {next_random(state)}, 8);
    for (size_t byte = 0; byte < bytes; byte++)
        model[disp + place(filetype, first + byte)] = *in_memory(memory, memtype, of_memory(memtype, byte));
    write_it(form, file, (MPI_Offset) first, mid, count, memtype->type, &status);
    CHECK_MOVED(status, bytes);
    if (form == 1 || form == 4 || form == 6) {
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, first + bytes);
    }
    /* All of the file is as the model has it. */
    long length = file_read(of->name, found, MODEL, base);
    CHECK(length > last);
    if (memcmp(found, model, (size_t) length))
        for (long byte = 0; byte < length; byte++)
            if (found[byte] != model[byte]) {
                check_failed(__FILE__, __LINE__, "byte %ld of the file is %d, expected %d", byte, found[byte], model[byte]);
                break;
            }
    size_t there = bytes;
    if (of->own && bytes) { /* the end of the file somewhere in what is read */
        MPI_Offset end = of->cut < 0 ? length : disp + place(filetype, first + (size_t) of->cut);
        MPI(MPI_File_set_size(file, end));
        memset(model + end, 0, (size_t) (MODEL - end));
        there = 0;
        while (there < bytes && disp + place(filetype, first + there) < end)
            there++;
        there = whole(memtype, there);
        MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
        MPI(MPI_File_get_position(file, &at));
        if (!reference && at > 0) { /* MPICH counts a filetype's bytes otherwise where it begins with a hole */
            CHECK(disp + place(filetype, (size_t) at) >= end);
            CHECK(disp + place(filetype, (size_t) at - 1) < end);
        }
    }
    memcpy(copy, memory, MEMORY);
    for (size_t byte = 0; byte < bytes; byte++)
        *in_memory(memory, memtype, byte) ^= 0xff;
    if (!reference)
        for (size_t byte = there; byte < bytes; byte++)
            *in_memory(copy, memtype, byte) ^= 0xff;
    spoil(&status);
    read_it(of->reading, file, (MPI_Offset) first, mid, count, memtype->type, &status);
    if (!reference) /* MPICH counts zeros behind the end in views with holes */
        CHECK_MOVED(status, there);
    if (!reference || there == bytes)
        CHECK(!memcmp(copy, memory, MEMORY));
}

/* `state` is this rank's, `common` that of all. */
static void round_of(uint64_t *state, uint64_t *common, MPI_File file, const char *name, int own)
{
    int form = own ? below(state, 4) : below(common, 7), reading = own ? below(state, 4) : below(common, 7);
    packed_file = below(common, 3) == 0;
    struct typed filetype = find(state, suits, packed_file), memtype = find(state, lies_apart, 0);
    size_t tile = typed_size(&filetype);
    int count = 1 + below(state, 3), bytes = count * (int) typed_size(&memtype), cut = below(state, 3) ? -1 : below(state, bytes);
    struct access of = {file, name, own, &filetype, &memtype, count, below(state, 300), (size_t) below(state, (int) (3 * tile)), form, reading, cut};
    check_access(&of, state);
    typed_free(&filetype);
    typed_free(&memtype);
}

enum { FILETYPES = 18, MEMTYPES = 24 };

/* Types that the standard's constructors make, for files and memory; the last ones go backwards or in front of their origin. */
static struct typed listed(int number, int without_padding)
{
    const MPI_Aint at[5] = {3, 20, 41, 64, 90};
    struct typed old[3], made, inner;
    typed_without_padding = without_padding;
    old[0] = typed_basic(MPI_INT), old[1] = typed_basic(MPI_CHAR), old[2] = typed_basic(MPI_DOUBLE);
    switch (number) {
    case 0: made = typed_dup(&old[0]); break;
    case 1: made = typed_contiguous(5, &old[2]); break;
    case 2: made = typed_vector(4, 2, 3, &old[0]); break;
    case 3: made = typed_hvector(3, 1, 11, &old[0]); break; /* an odd stride */
    case 4: made = typed_indexed(5, (int[]) {2, 0, 1, 0, 3}, (int[]) {1, 4, 5, 9, 10}, &old[0]); break; /* blocks of nothing */
    case 5: made = typed_hindexed(4, (int[]) {1, 2, 1, 3}, at, &old[0]); break;
    case 6: made = typed_struct(3, (int[]) {1, 3, 2}, (MPI_Aint[]) {1, 7, 16}, old); break;
    case 7: /* the lower bound is behind the origin, the extent longer than the data */
        inner = typed_vector(3, 1, 2, &old[0]);
        made = typed_resized(8, 64, &inner);
        typed_free(&inner);
        break;
    case 8:
        inner = typed_hindexed(3, (int[]) {1, 1, 1}, at, &old[2]);
        made = typed_resized(-4, 60, &inner);
        typed_free(&inner);
        break;
    case 9: made = typed_subarray(3, (int[]) {4, 3, 5}, (int[]) {2, 2, 3}, (int[]) {1, 0, 2}, MPI_ORDER_C, &old[0]); break;
    case 10: made = typed_subarray(3, (int[]) {4, 3, 5}, (int[]) {2, 2, 3}, (int[]) {1, 0, 2}, MPI_ORDER_FORTRAN, &old[1]); break;
    case 11: case 12:
        made = typed_darray(4, 2, 2, (int[]) {9, 7}, (int[]) {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, (int[]) {2, MPI_DISTRIBUTE_DFLT_DARG},
                            (int[]) {2, 2}, number == 11 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, &old[0]);
        break;
    case 13:
        inner = typed_indexed(3, (int[]) {1, 2, 1}, (int[]) {0, 2, 5}, &old[0]);
        made = typed_vector(3, 2, 3, &inner);
        typed_free(&inner);
        break;
    case 14: /* holes in front and behind */
        inner = typed_indexed_block(2, 2, (int[]) {3, 7}, &old[0]);
        made = typed_resized(0, 50, &inner);
        typed_free(&inner);
        break;
    case 15: made = typed_vector(90, 1, 2, &old[1]); break; /* longer than an access */
    case 16:
        inner = typed_hindexed_block(3, 2, at, &old[1]);
        made = typed_dup(&inner);
        typed_free(&inner);
        break;
    case 17:
        inner = typed_subarray(2, (int[]) {3, 4}, (int[]) {2, 2}, (int[]) {1, 1}, MPI_ORDER_C, &old[0]);
        made = typed_indexed(3, (int[]) {1, 1, 1}, (int[]) {0, 1, 3}, &inner);
        typed_free(&inner);
        break;
    case 18: made = typed_hvector(4, 1, -9, &old[2]); break;
    case 19: made = typed_indexed(3, (int[]) {2, 1, 1}, (int[]) {9, 5, -7}, &old[0]); break;
    case 20: made = typed_resized(-20, 40, &old[2]); break;
    case 21: made = typed_resized(0, -32, &old[0]); break;
    case 22: made = typed_struct(3, (int[]) {1, 1, 1}, (MPI_Aint[]) {-40, 3, -8}, old); break;
    default:
        inner = typed_vector(3, 1, -2, &old[0]);
        made = typed_hvector(2, 1, 100, &inner);
        typed_free(&inner);
        break;
    }
    for (int i = 0; i < 3; i++)
        typed_free(&old[i]);
    typed_without_padding = 0;
    MPI(MPI_Type_commit(&made.type));
    return made;
}

/* Each filetype with each memory type, from places at the beginning, inside of runs and elements, and in later tiles. */
static void every_pair(MPI_File file, const char *name)
{
    uint64_t state = 5;
    for (packed_file = 0; packed_file < 2; packed_file++)
        for (int t = 0; t < FILETYPES; t++) {
            struct typed filetype = listed(t, packed_file);
            CHECK(suits(&filetype));
            for (int m = 0; m < MEMTYPES; m++) {
                struct typed memtype = listed(m, 0);
                int tile = (int) typed_size(&filetype), bytes = 2 * (int) typed_size(&memtype);
                const int firsts[] = {0, 1, tile / 2, tile - 1, 2 * tile + 3};
                CHECK(lies_apart(&memtype));
                for (int i = 0; i < 5; i++) {
                    struct access of = {file, name, 1, &filetype, &memtype, 2, 13, (size_t) firsts[i], i % 4, (i + m) % 4, i % 2 ? bytes / 2 : -1};
                    int failures = check_failures;
                    check_access(&of, &state);
                    if (check_failures > failures)
                        fprintf(stderr, "filetype %d, memory %d, from %d, %s\n", t, m, firsts[i], packed_file ? "external32" : "native");
                }
                typed_free(&memtype);
            }
            typed_free(&filetype);
        }
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES], own[NAME_BYTES + 10];
    MPI_File alone, together;
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    if (slow())
        rounds /= 10;
    file_name(name, "random");
    snprintf(own, sizeof own, "%s-%d", name, rank);
    alone = file_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    together = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_File_set_size(together, (MPI_Offset) size * MODEL));
    if (argc <= 1)
        every_pair(alone, own);
    for (int i = 0; i < rounds; i++) {
        uint64_t common = seed + (uint64_t) i * 7919, state = common + 1000003 * (uint64_t) (rank + 1);
        int failures = check_failures;
        if (below(&common, 3))
            round_of(&state, &common, alone, own, 1);
        else
            round_of(&state, &common, together, name, 0);
        if (check_failures > failures) {
            fprintf(stderr, "round %d of seed %llu\n", i, (unsigned long long) seed);
            if (check_failures > 20)
                MPI_Abort(MPI_COMM_WORLD, 1); /* the others are in collective calls */
        }
    }
    MPI(MPI_File_close(&alone));
    MPI(MPI_File_close(&together));
    return finish();
}
