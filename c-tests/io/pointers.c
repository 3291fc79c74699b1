/* Parts of etypes, pointers and offsets in views with holes, what the end of a file does to counts, types that are freed or have attributes,
 * sequential files. */
#include "files.h"

static char name[NAME_BYTES];

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI(MPI_Type_commit(&type));
    return type;
}

/* Two of three integers, after one that is left out: of four etypes. */
static MPI_Datatype with_holes(void)
{
    MPI_Datatype indexed, made;
    MPI(MPI_Type_indexed(2, (int[]) {1, 2}, (int[]) {1, 4}, MPI_INT, &indexed));
    MPI(MPI_Type_create_resized(indexed, 0, 32, &made));
    MPI(MPI_Type_free(&indexed));
    return committed(made);
}

/* Nothing of a part of an etype is moved, and the pointers stay. */
static void parts_of_etypes(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype three;
    MPI_Status status;
    MPI_Offset at;
    MPI_Request request;
    int values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, count;
    MPI(MPI_Type_contiguous(3, MPI_INT, &three));
    committed(three);
    MPI(MPI_File_set_size(file, 0));
    MPI(MPI_File_set_view(file, 0, three, three, "native", MPI_INFO_NULL));
    if (!reference) {
        CHECK_CLASS(MPI_File_write_at(file, 0, values, 4, MPI_INT, &status), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_write(file, values, 11, MPI_CHAR, &status), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_write_shared(file, values, 1, MPI_INT, &status), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_write_all(file, values, rank == 0 ? 2 : 3, MPI_INT, &status), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_write_ordered(file, values, rank == 0 ? 2 : 3, MPI_INT, &status), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_iwrite_at(file, 0, values, 2, MPI_INT, &request), MPI_ERR_TYPE);
        MPI(MPI_File_get_position_shared(file, &at));
        CHECK_INT(at, 0);
        MPI(MPI_File_seek(file, 0, MPI_SEEK_SET)); /* ranks whose part was right have moved theirs */
    }
    barrier();
    /* The end of the file is in an etype. */
    MPI(MPI_File_set_size(file, 0));
    MPI(MPI_File_write_at_all(file, 0, values, 6, MPI_INT, &status));
    MPI(MPI_Get_count(&status, three, &count));
    CHECK_INT(count, 2);
    MPI(MPI_File_set_size(file, 20));
    MPI(MPI_File_read(file, values, 3, three, &status));
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 5);
    MPI(MPI_Get_count(&status, three, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    MPI(MPI_Get_elements(&status, three, &count));
    CHECK_INT(count, 5);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, reference ? 1 : 3); /* by what was asked for */
    barrier();
    MPI(MPI_File_set_size(file, 18));
    MPI(MPI_File_read_at(file, 1, values, 1, three, &status));
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_MOVED(status, 6);
    MPI(MPI_Type_free(&three));
    MPI(MPI_File_close(&file));
}

/* Offsets in views; the end of the file in front of, within and behind a hole. */
static void offsets(const char *datarep)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype holes = with_holes();
    /* Of the bytes of one tile, the integers at 4, 16, 20. */
    const int places[] = {4, 16, 20};
    int value[3];
    MPI_Offset at;
    MPI_Status status;
    MPI(MPI_File_set_view(file, 100, MPI_INT, holes, datarep, MPI_INFO_NULL));
    for (int i = 0; i < 20; i++) {
        MPI(MPI_File_get_byte_offset(file, i, &at));
        CHECK_INT(at, 100 + i / 3 * 32 + places[i % 3]);
    }
    if (!reference) {
        MPI(MPI_File_get_byte_offset(file, 3 * ((MPI_Offset) 1 << 40) + 1, &at));
        CHECK_INT(at, 100 + 32 * ((MPI_Offset) 1 << 40) + 16);
        CHECK_CLASS(MPI_File_get_byte_offset(file, -1, &at), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_get_byte_offset(file, INT64_MAX / 8, &at), MPI_ERR_ARG);
    }
    /* How many etypes begin in front of the file's end. */
    const int sizes[][2] = {{0, 0}, {99, 0}, {100, 0}, {104, 0}, {105, 1}, {108, 1}, {116, 1}, {117, 2}, {120, 2}, {121, 3}, {124, 3}, {132, 3},
                            {136, 3}, {137, 4}, {164, 6}, {1000, 84}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !reference; i++) {
        barrier();
        MPI(MPI_File_set_size(file, sizes[i][0]));
        MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, sizes[i][1]);
        MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
        MPI(MPI_File_get_position_shared(file, &at));
        CHECK_INT(at, sizes[i][1]);
        /* Reading at the end and behind it: what is there, in the view's order. */
        for (int from = 0; from < 6; from++) {
            long long there = 0;
            for (int k = from; k < from + 3; k++) {
                long long left = sizes[i][0] - (100 + k / 3 * 32 + places[k % 3]);
                there += left < 0 ? 0 : left > 4 ? 4 : left;
            }
            if (!strcmp(datarep, "external32"))
                there -= there % 4;
            MPI(MPI_File_read_at(file, from, value, 3, MPI_INT, &status));
            CHECK_MOVED(status, there);
        }
    }
    /* Errors leave the pointer; behind the end is allowed. */
    MPI(MPI_File_seek(file, 7, MPI_SEEK_SET));
    CHECK(MPI_File_seek(file, -8, MPI_SEEK_CUR) != MPI_SUCCESS);
    CHECK(MPI_File_seek(file, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    CHECK(MPI_File_seek(file, -1000000, MPI_SEEK_END) != MPI_SUCCESS);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 7);
    MPI(MPI_File_seek(file, 1000000, MPI_SEEK_END));
    MPI(MPI_File_read(file, value, 3, MPI_INT, &status));
    CHECK_MOVED(status, 0);
    /* A part of a tile. */
    MPI(MPI_File_seek(file, 1, MPI_SEEK_SET));
    MPI(MPI_File_write(file, value, 1, MPI_INT, &status));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 2);
    MPI(MPI_Type_free(&holes));
    MPI(MPI_File_close(&file));
}

/* What moves when: set_view resets all pointers, append begins at the end, reading moves by what was asked for. */
static void moving(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    int values[4] = {1, 2, 3, 4};
    MPI_Offset at;
    MPI_Status status;
    MPI(MPI_File_set_size(file, 40));
    for (int round = 0; round < 20; round++) {
        MPI(MPI_File_seek(file, 5, MPI_SEEK_SET));
        if (round % 3 == 0)
            MPI(MPI_File_read_shared(file, values, 1, MPI_CHAR, &status));
        if (round % 3 == 1)
            MPI(MPI_File_seek_shared(file, 12, MPI_SEEK_SET));
        MPI(MPI_File_set_view(file, round, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI(MPI_File_get_position_shared(file, &at));
        CHECK_INT(at, 0);
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, 0);
        barrier();
    }
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI(MPI_File_seek(file, 8, MPI_SEEK_SET));
    spoil(&status);
    MPI(MPI_File_read(file, values, 4, MPI_INT, &status));
    CHECK_MOVED(status, 8);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, reference ? 10 : 12);
    MPI(MPI_File_read(file, values, 0, MPI_INT, &status));
    CHECK_MOVED(status, 0);
    MPI(MPI_File_read(file, NULL, 0, MPI_INT, MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&file));
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 40);
    if (!reference) {
        MPI(MPI_File_get_position_shared(file, &at));
        CHECK_INT(at, 40);
    }
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 0);
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 0);
    MPI(MPI_File_close(&file));
}

static int copies, deletes;

static int copy(MPI_Datatype old, int key, void *state, void *value, void *new_value, int *flag)
{
    (void) old, (void) key, (void) state;
    *(void **) new_value = value;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int deletion(MPI_Datatype old, int key, void *value, void *state)
{
    (void) old, (void) key, (void) value, (void) state;
    deletes++;
    return MPI_SUCCESS;
}

/* Types may be freed behind set_view; those of get_view are the program's. Attributes stay where they are. */
static void freed_types(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype etype, filetype, again[200][2], inner;
    MPI_Offset at;
    MPI_Info info;
    char datarep[MPI_MAX_DATAREP_STRING];
    int key, count;
    MPI(MPI_Type_create_keyval(copy, deletion, &key, NULL));
    for (int round = 0; round < 200; round++) {
        MPI(MPI_Type_contiguous(2, MPI_INT, &etype));
        MPI(MPI_Type_vector(2 + round % 5, 1, 3, etype, &inner));
        MPI(MPI_Type_create_resized(inner, 0, 500, &filetype));
        MPI(MPI_Type_free(&inner));
        MPI(MPI_Type_set_attr(filetype, key, &key));
        committed(etype);
        committed(filetype);
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "cb_buffer_size", "131072"));
        MPI(MPI_File_set_view(file, round, etype, filetype, round % 2 ? "native" : "external32", info));
        MPI(MPI_Info_free(&info));
        MPI(MPI_Type_free(&etype));
        if (!reference)
            CHECK_INT(deletes, round);
        MPI(MPI_Type_free(&filetype));
        if (!reference) {
            CHECK_INT(copies, 0);
            CHECK_INT(deletes, round + 1);
        }
        /* Others take the memory of what was freed, if it is not kept. */
        MPI(MPI_Type_vector(7, 3, 5, MPI_DOUBLE, &inner));
        MPI(MPI_File_get_byte_offset(file, 1 + round % 5, &at));
        CHECK_INT(at, round + 24 * (1 + round % 5));
        MPI(MPI_File_get_byte_offset(file, 2 + round % 5, &at));
        CHECK_INT(at, round + 500);
        MPI(MPI_File_get_view(file, &at, &again[round][0], &again[round][1], datarep));
        CHECK_INT(at, round);
        MPI(MPI_Type_free(&inner));
    }
    for (int round = 0; round < 200; round++) {
        MPI(MPI_Type_size(again[round][0], &count));
        CHECK_INT(count, 8);
        MPI(MPI_Type_size(again[round][1], &count));
        CHECK_INT(count, 8 * (2 + round % 5));
        MPI(MPI_Type_free(&again[round][0]));
        MPI(MPI_Type_free(&again[round][1]));
    }
    /* A predefined one is itself. */
    MPI(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    MPI(MPI_File_get_view(file, &at, &etype, &filetype, datarep));
    CHECK(etype == MPI_DOUBLE && filetype == MPI_DOUBLE);
    MPI(MPI_Type_free_keyval(&key));
    MPI(MPI_File_close(&file));
}

/* A file opened as sequential has the shared pointer and nothing else. */
static void sequential(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    int value = rank;
    MPI_Offset at;
    MPI_Status status;
    MPI_Request request;
    if (!reference) {
        const int refused = MPI_ERR_UNSUPPORTED_OPERATION;
        CHECK_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status), refused);
        CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_INT, &status), refused);
        CHECK_CLASS(MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, &status), refused);
        CHECK_CLASS(MPI_File_write_all(file, &value, 1, MPI_INT, &status), refused);
        CHECK_CLASS(MPI_File_iwrite(file, &value, 1, MPI_INT, &request), refused);
        CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), refused);
        CHECK_CLASS(MPI_File_get_position(file, &at), refused);
        CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), refused);
        CHECK_CLASS(MPI_File_get_position_shared(file, &at), refused);
        MPI(MPI_File_get_byte_offset(file, 5, &at));
        CHECK_INT(at, 5);
        CHECK_CLASS(MPI_File_set_size(file, 0), refused);
        CHECK_CLASS(MPI_File_preallocate(file, 100), refused);
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
        MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        MPI(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
        MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI(MPI_File_write_shared(file, &value, 1, MPI_CHAR, &status));
        /* What the last rank moves late is seen by those who wait for it in the call. */
        if (rank == size - 1) {
            usleep(20000);
            MPI(MPI_File_write_shared(file, "tail", 4, MPI_CHAR, &status));
        }
        MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI(MPI_File_get_byte_offset(file, 0, &at));
        CHECK_INT(at, 5 * size + 4);
    }
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "pointers");
    parts_of_etypes();
    offsets("native");
    if (!reference)
        offsets("external32");
    moving();
    if (!reference) /* it has no views of external32 */
        freed_types();
    sequential();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
