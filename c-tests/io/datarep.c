/* Representations of the program's own: extents, conversion in pieces, absent functions, errors, what is passed to the functions. */
#include "files.h"

static char name[NAME_BYTES];

/* In the file each item has its bytes backwards and then a mark, 'm'. */
struct state {
    int extents, calls, fails_at, wrong_extent;
    MPI_Offset next;
    MPI_Datatype expected;
};

/* Where the items of a type lie. */
struct map {
    MPI_Datatype type;
    int items, at[4], bytes[4];
    MPI_Aint extent;
};

static struct map maps[5];

static const struct map *map_of(MPI_Datatype type)
{
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (maps[i].items && maps[i].type == type)
            return &maps[i];
    check_failed(__FILE__, __LINE__, "a function gets datatype %#x", (unsigned) (MPI_Aint) type);
    return &maps[0];
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra_state)
{
    struct state *state = extra_state;
    int bytes, integers, addresses, types, combiner;
    MPI(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    CHECK_INT(combiner, MPI_COMBINER_NAMED);
    MPI(MPI_Type_size(type, &bytes));
    state->extents++;
    *extent = bytes + 1;
    if (state->wrong_extent == 1)
        return MPI_ERR_OTHER;
    if (state->wrong_extent == 2)
        *extent = -3;
    return MPI_SUCCESS;
}

static int convert(int reading, unsigned char *user, MPI_Datatype type, MPI_Count count, unsigned char *file, MPI_Offset position,
                   struct state *state)
{
    const struct map *map = map_of(type);
    CHECK(type == state->expected);
    CHECK_INT(position, state->next);
    CHECK(count > 0);
    if (state->fails_at == ++state->calls)
        return MPI_ERR_OTHER;
    for (MPI_Offset item = position; item < position + count; item++) {
        int in = (int) (item % map->items), bytes = map->bytes[in];
        unsigned char *memory = user + item / map->items * map->extent + map->at[in];
        for (int b = 0; b < bytes; b++)
            if (reading)
                memory[b] = file[bytes - 1 - b];
            else
                file[bytes - 1 - b] = memory[b];
        if (reading)
            CHECK_INT(file[bytes], 'm');
        else
            file[bytes] = 'm';
        file += bytes + 1;
    }
    state->next = position + count;
    return MPI_SUCCESS;
}

static int read_small(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    return convert(1, user, type, count, file, position, state);
}

static int write_small(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    return convert(0, user, type, count, file, position, state);
}

#if MPI_VERSION >= 4
static int read_large(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *state)
{
    return convert(1, user, type, count, file, position, state);
}

static int write_large(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *state)
{
    return convert(0, user, type, count, file, position, state);
}
#endif

static int native_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint lb;
    (void) state;
    return MPI_Type_get_extent(type, &lb, extent);
}

static struct state small_state, large_state, broken_state, one_way_state;

static void expect(struct state *state, MPI_Datatype type)
{
    state->calls = 0;
    state->next = 0;
    state->expected = type;
}

static MPI_File view(MPI_Datatype etype, MPI_Datatype filetype, MPI_Offset disp, const char *datarep)
{
    barrier();
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_File_set_view(file, disp, etype, filetype, datarep, MPI_INFO_NULL));
    return file;
}

/* Elements of a type of two items, one behind the other in the file, ranks in turn. */
static void both_ways(struct state *state, const char *datarep, int count)
{
    struct { double value; int number; } *own = calloc((size_t) count, sizeof *own), *back = calloc((size_t) count, sizeof *back);
    int bytes = 9 + 5;
    unsigned char *found = malloc((size_t) (bytes * count * size));
    MPI_Datatype type, filetype;
    MPI_Offset at;
    MPI_Aint extent;
    MPI_Status status;
    /* In the file the members are where bytes say: behind the first one's 9 bytes. */
    MPI(MPI_Type_create_struct(2, (int[]) {1, 1}, (MPI_Aint[]) {0, 8}, (MPI_Datatype[]) {MPI_DOUBLE, MPI_INT}, &type));
    MPI(MPI_Type_commit(&type));
    MPI_Datatype etype, once;
    MPI(MPI_Type_create_struct(2, (int[]) {1, 1}, (MPI_Aint[]) {0, 9}, (MPI_Datatype[]) {MPI_DOUBLE, MPI_INT}, &etype));
    MPI(MPI_Type_commit(&etype));
    MPI(MPI_Type_create_resized(etype, 0, bytes * size, &once));
    MPI(MPI_Type_dup(once, &filetype));
    MPI(MPI_Type_free(&once));
    MPI(MPI_Type_commit(&filetype));
    maps[2] = (struct map) {type, 2, {0, 8}, {8, 4}, 16};
    state->extents = 0;
    if (rank == 0)
        unlink(name);
    MPI_File file = view(etype, filetype, bytes * rank, datarep);
    CHECK(state->extents > 0);
    MPI(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK_INT(extent, 5);
    MPI(MPI_File_get_type_extent(file, etype, &extent));
    CHECK_INT(extent, bytes);
    for (int i = 0; i < count; i++) {
        own[i].value = i + 0.25;
        own[i].number = i * size + rank;
    }
    expect(state, type);
    MPI(MPI_File_write_all(file, own, count, type, &status));
    CHECK_MOVED(status, 12 * count);
    CHECK_INT(state->next, 2 * count);
    if (count * bytes > 300000)
        CHECK(state->calls > 1);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, count);
    MPI(MPI_File_get_byte_offset(file, 3, &at));
    CHECK_INT(at, bytes * rank + 3 * bytes * size);
    barrier();
    CHECK_INT(file_read(name, found, (size_t) (bytes * count * size), 0), bytes * count * size);
    for (int i = 0; i < count * size; i++) {
        unsigned char *one = found + i * bytes, expected[4] = {(unsigned char) (i >> 24), (unsigned char) (i >> 16), (unsigned char) (i >> 8),
                                                              (unsigned char) i};
        if (one[8] != 'm' || memcmp(one + 9, expected, 4) || one[13] != 'm') {
            check_failed(__FILE__, __LINE__, "element %d of the file is wrong", i);
            break;
        }
    }
    barrier();
    expect(state, type);
    MPI(MPI_File_read_at_all(file, 0, back, count, type, &status));
    CHECK_MOVED(status, 12 * count);
    for (int i = 0; i < count; i++)
        if (own[i].value != back[i].value || own[i].number != back[i].number) {
            check_failed(__FILE__, __LINE__, "element %d is read as something else", i);
            break;
        }
    barrier();
    /* The last element of the last rank is cut within its second item. */
    MPI(MPI_File_set_size(file, bytes * count * size - 2));
    expect(state, type);
    MPI(MPI_File_read_at(file, 0, back, count, type, &status));
    CHECK_MOVED(status, 12 * count - (rank == size - 1 ? 4 : 0));
    CHECK_INT(state->next, 2 * count - (rank == size - 1));
    MPI(MPI_File_close(&file));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Type_free(&etype));
    MPI(MPI_Type_free(&filetype));
    free(own);
    free(back);
    free(found);
}

/* The functions get the datatype of the call, also where the data has no holes. */
static void types_of_buffers(void)
{
    int values[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    MPI_Datatype three;
    MPI_Request request;
    MPI_Status status;
    MPI(MPI_Type_contiguous(3, MPI_INT, &three));
    MPI(MPI_Type_commit(&three));
    maps[3] = (struct map) {three, 3, {0, 4, 8}, {4, 4, 4}, 12};
    MPI_File file = view(MPI_INT, MPI_INT, 0, "small");
    MPI_Offset from = 6 * rank;
    MPI(MPI_File_set_size(file, 0));
    expect(&small_state, MPI_INT);
    MPI(MPI_File_write_at(file, from, values, 6, MPI_INT, &status));
    CHECK_MOVED(status, 24);
    expect(&small_state, three);
    MPI(MPI_File_iwrite_at(file, from, values, 2, three, &request));
    MPI(MPI_Wait(&request, &status));
    CHECK_MOVED(status, 24);
    expect(&small_state, three);
    MPI(MPI_File_iread_at(file, from, back, 2, three, &request));
    MPI(MPI_Wait(&request, &status));
    CHECK(!memcmp(values, back, sizeof back));
    memset(back, 0, sizeof back);
    expect(&small_state, MPI_INT);
    MPI(MPI_File_read_at_all_begin(file, from + 1, back, 4, MPI_INT));
    MPI(MPI_File_read_at_all_end(file, back, &status));
    CHECK_INT(back[3], 5);
    CHECK_INT(back[4], 0);
    expect(&small_state, MPI_INT);
    MPI(MPI_File_seek_shared(file, 6 * size, MPI_SEEK_SET));
    MPI(MPI_File_write_ordered(file, values, 1, MPI_INT, &status));
    barrier();
    CHECK_INT(file_size(name), 5 * 7 * size);
    barrier();
    MPI(MPI_File_close(&file));
    MPI(MPI_Type_free(&three));
}

/* An error of a function is one of the access; on one rank of a collective call it is one on all. */
static void failures(void)
{
    int *values = calloc(100000, sizeof *values), last = rank == size - 1;
    MPI_Status status;
    MPI_File file = view(MPI_INT, MPI_INT, 0, "broken");
    maps[1] = (struct map) {MPI_INT, 1, {0}, {4}, 4};
    expect(&broken_state, MPI_INT);
    broken_state.fails_at = 2;
    CHECK_CLASS(MPI_File_write_at(file, 0, values, 100000, MPI_INT, &status), MPI_ERR_CONVERSION);
    expect(&broken_state, MPI_INT);
    broken_state.fails_at = last ? 1 : 0;
    CHECK_CLASS(MPI_File_write_at_all(file, 0, values, 10, MPI_INT, &status), MPI_ERR_CONVERSION);
    expect(&broken_state, MPI_INT);
    broken_state.fails_at = 0;
    MPI(MPI_File_write_at_all(file, 0, values, 10, MPI_INT, &status));
    expect(&broken_state, MPI_INT);
    broken_state.fails_at = 1;
    CHECK_CLASS(MPI_File_read_at(file, 0, values, 10, MPI_INT, &status), MPI_ERR_CONVERSION);
    broken_state.fails_at = 0;
    for (int wrong = 1; wrong <= 2; wrong++) {
        broken_state.wrong_extent = last ? wrong : 0;
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "broken", MPI_INFO_NULL), MPI_ERR_CONVERSION);
    }
    broken_state.wrong_extent = 0;
    /* The view from before is there yet. */
    expect(&broken_state, MPI_INT);
    MPI(MPI_File_read_at_all(file, 0, values, 10, MPI_INT, &status));
    CHECK_MOVED(status, 40);
    MPI(MPI_File_close(&file));
    free(values);
}

/* Without a function the bytes are those of memory. */
static void one_way(void)
{
    int values[4] = {1, 2, 3, 4}, back[4] = {0};
    MPI_Status status;
    if (rank == 0)
        unlink(name);
    MPI_File file = view(MPI_INT, MPI_INT, 16 * rank, "bytes");
    MPI(MPI_File_write_at_all(file, 0, values, 4, MPI_INT, &status));
    CHECK_MOVED(status, 16);
    CHECK_INT(file_read(name, back, 16, 16 * rank), 16);
    CHECK(!memcmp(values, back, 16));
    MPI(MPI_File_read_at_all(file, 0, back, 4, MPI_INT, &status));
    CHECK_MOVED(status, 16);
    CHECK(!memcmp(values, back, 16));
    MPI(MPI_File_close(&file));
    /* But not if the sizes differ. */
    file = view(MPI_INT, MPI_INT, 0, "read only");
    CHECK_CLASS(MPI_File_write_at(file, 0, values, 4, MPI_INT, &status), MPI_ERR_CONVERSION);
    CHECK_MOVED(status, 0);
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "datarep");
    maps[1] = (struct map) {MPI_INT, 1, {0}, {4}, 4};
    MPI(MPI_Register_datarep("small", read_small, write_small, extent_of, &small_state));
    MPI(MPI_Register_datarep("broken", read_small, write_small, extent_of, &broken_state));
    MPI(MPI_Register_datarep("bytes", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, native_extent, NULL));
    MPI(MPI_Register_datarep("read only", read_small, NULL, extent_of, &one_way_state));
    both_ways(&small_state, "small", 100);
    both_ways(&small_state, "small", slow() ? 1000 : 60000);
#if MPI_VERSION >= 4
    MPI(MPI_Register_datarep_c("large", read_large, write_large, extent_of, &large_state));
    both_ways(&large_state, "large", 1000);
#endif
    types_of_buffers();
    failures();
    one_way();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
