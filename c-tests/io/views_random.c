/* Random views and random memory against a model of the file, byte by byte: written, read back, with ends of files inside of the view.
 * Each rank has a file of its own. args: [rounds] [seed] */
#include "files.h"
#include "random_type.h"

enum { MODEL = 1 << 17 };
static unsigned char model[MODEL], found[MODEL];

/* Whether a type can be a filetype that is written: displacements from zero on, ascending, no byte twice, also from one to the next. */
static int suits(const struct typed *of)
{
    MPI_Aint end = 0;
    for (size_t i = 0; i < of->number; i++) {
        if (of->pieces[i].at < end)
            return 0;
        end = of->pieces[i].at + of->pieces[i].size;
    }
    return of->number > 0 && of->number < 100 && end - of->pieces[0].at <= typed_extent(of) && typed_extent(of) < 2000;
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
static struct typed find(uint64_t *state, int (*wanted)(const struct typed *))
{
    for (;;) {
        struct typed made = random_type(state, 2);
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
    static unsigned char used[40000];
    int apart = of->number > 0 && of->number < 100 && typed_extent(of) < 2000 && typed_extent(of) > -2000;
    memset(used, 0, sizeof used);
    for (int element = 0; element < 3 && apart; element++)
        for (size_t i = 0; i < of->number && apart; i++)
            for (int b = 0; b < of->pieces[i].size && apart; b++) {
                MPI_Aint at = 20000 + element * typed_extent(of) + of->pieces[i].at + b;
                apart = at >= 0 && at < (MPI_Aint) sizeof used && !used[at]++;
            }
    return apart;
}

static void round_of(uint64_t *state, MPI_File file, const char *name)
{
    struct typed filetype = find(state, suits), memtype = find(state, lies_apart);
    size_t one = typed_size(&memtype), bytes, tile = typed_size(&filetype);
    int count = 1 + below(state, 3), part = (int) one * count, disp = below(state, 300);
    size_t first = (size_t) below(state, (int) (3 * tile));
    unsigned char *memory = malloc(40000), *packed = malloc((size_t) part + 1);
    MPI_Status status;
    MPI_Offset at = -1, offset;
    char *mid = (char *) memory + 20000;
    bytes = (size_t) part;
    long last = disp + place(&filetype, first + bytes - 1);
    /* The view begins anywhere; the etype is a byte. Filetypes of other basic types are bytes for it. */
    MPI(MPI_File_set_view(file, disp, MPI_BYTE, filetype.type, "native", MPI_INFO_NULL));
    if (last >= MODEL - 1000)
        goto out;
    MPI(MPI_File_get_byte_offset(file, (MPI_Offset) first, &offset));
    CHECK_INT(offset, disp + place(&filetype, first));
    fill(memory, 40000, next_random(state));
    size_t k = 0;
    for (int element = 0; element < count; element++)
        for (size_t i = 0; i < memtype.number; i++)
            for (int b = 0; b < memtype.pieces[i].size; b++)
                packed[k++] = (unsigned char) mid[element * typed_extent(&memtype) + memtype.pieces[i].at + b];
    for (size_t byte = 0; byte < bytes; byte++)
        model[disp + place(&filetype, first + byte)] = packed[byte];
    MPI_Request request;
    switch (below(state, 4)) {
    case 0: MPI(MPI_File_write_at(file, (MPI_Offset) first, mid, count, memtype.type, &status)); break;
    case 1:
        MPI(MPI_File_seek(file, (MPI_Offset) first, MPI_SEEK_SET));
        MPI(MPI_File_write(file, mid, count, memtype.type, &status));
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, first + bytes);
        break;
    case 2:
        MPI(MPI_File_iwrite_at(file, (MPI_Offset) first, mid, count, memtype.type, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    default: MPI(MPI_File_write_at_all(file, (MPI_Offset) first, mid, count, memtype.type, &status)); break;
    }
    CHECK_MOVED(status, bytes);
    /* All of the file is as the model has it. */
    long length = file_read(name, found, MODEL, 0);
    CHECK(length > last);
    for (long byte = 0; byte < length; byte++)
        if (found[byte] != model[byte]) {
            check_failed(__FILE__, __LINE__, "byte %ld of the file is %d, expected %d", byte, found[byte], model[byte]);
            break;
        }
    /* The end of the file somewhere in what is read. */
    MPI_Offset end = below(state, 3) ? length : disp + place(&filetype, first + (size_t) below(state, part));
    MPI(MPI_File_set_size(file, end));
    memset(model + end, 0, (size_t) (MODEL - end));
    size_t there = 0;
    while (there < bytes && disp + place(&filetype, first + there) < end)
        there++;
    MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
    MPI(MPI_File_get_position(file, &at));
    if (!reference && at > 0) { /* MPICH counts a filetype's bytes otherwise where it begins with a hole */
        CHECK(disp + place(&filetype, (size_t) at) >= end);
        CHECK(disp + place(&filetype, (size_t) at - 1) < end);
    }
    unsigned char *copy = malloc(40000);
    fill(memory, 40000, 99);
    memcpy(copy, memory, 40000);
    spoil(&status);
    if (below(state, 2))
        MPI(MPI_File_read_at(file, (MPI_Offset) first, mid, count, memtype.type, &status));
    else {
        MPI(MPI_File_seek(file, (MPI_Offset) first, MPI_SEEK_SET));
        MPI(MPI_File_iread(file, mid, count, memtype.type, &request));
        MPI(MPI_Wait(&request, &status));
    }
    if (!reference) /* MPICH counts zeros behind the end in views with holes */
        CHECK_MOVED(status, there);
    k = 0;
    for (int element = 0; element < count; element++)
        for (size_t i = 0; i < memtype.number; i++)
            for (int b = 0; b < memtype.pieces[i].size; b++, k++)
                if (k < there || !reference) {
                    unsigned char *target = copy + 20000 + element * typed_extent(&memtype) + memtype.pieces[i].at + b;
                    if (k < there)
                        *target = packed[k];
                }
    if (!reference || there == bytes)
        CHECK(!memcmp(copy, memory, 40000));
    free(copy);
out:
    typed_free(&filetype);
    typed_free(&memtype);
    free(memory);
    free(packed);
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES], own[NAME_BYTES + 10];
    MPI_File file;
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    uint64_t seed = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) + 1000 * (uint64_t) rank;
    if (slow())
        rounds /= 10;
    file_name(name, "random");
    snprintf(own, sizeof own, "%s-%d", name, rank);
    file = file_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < rounds && !check_failures; i++) {
        uint64_t state = seed + (uint64_t) i * 7919;
        round_of(&state, file, own);
        if (check_failures)
            fprintf(stderr, "round %d of seed %llu\n", i, (unsigned long long) seed);
    }
    MPI(MPI_File_close(&file));
    return finish();
}
