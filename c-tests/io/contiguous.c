/* The default view: explicit offsets, the individual pointer, ends of files, memory with holes, counts and statuses. */
#include "files.h"

static char name[NAME_BYTES];
enum { EACH = 3000 };

static void with_offsets(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    unsigned char own[EACH], all[EACH];
    MPI_Status status;
    fill(own, EACH, (uint64_t) rank + 1);
    spoil(&status);
    int error = status.MPI_ERROR;
    MPI(MPI_File_write_at(file, (MPI_Offset) rank * EACH, own, EACH, MPI_BYTE, &status));
    CHECK_MOVED(status, EACH);
    CHECK_INT(status.MPI_ERROR, error);
    MPI(MPI_File_sync(file));
    barrier();
    for (int other = 0; other < size; other++) {
        MPI(MPI_File_read_at(file, (MPI_Offset) other * EACH, all, EACH / 3, MPI_BYTE, MPI_STATUS_IGNORE));
        MPI(MPI_File_read_at_c(file, (MPI_Offset) other * EACH + EACH / 3, all + EACH / 3, EACH - EACH / 3, MPI_BYTE, &status));
        CHECK_MOVED(status, EACH - EACH / 3);
        CHECK_PATTERN(all, EACH, (uint64_t) other + 1);
    }
    /* The end of the file: less than was asked for, or nothing. */
    memset(all, 7, sizeof all);
    MPI(MPI_File_read_at(file, (MPI_Offset) size * EACH - 10, all, 100, MPI_BYTE, &status));
    CHECK_MOVED(status, 10);
    CHECK_INT(all[10], 7);
    MPI(MPI_File_read_at(file, (MPI_Offset) size * EACH - 6, all, 2, MPI_INT, &status));
    int count;
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_MOVED(status, 6);
    MPI(MPI_File_read_at(file, (MPI_Offset) size * EACH, all, 100, MPI_BYTE, &status));
    CHECK_MOVED(status, 0);
    MPI(MPI_File_read_at(file, (MPI_Offset) 1 << 40, all, 100, MPI_BYTE, &status));
    CHECK_MOVED(status, 0);
    spoil(&status);
    MPI(MPI_File_read_at(file, 0, NULL, 0, MPI_BYTE, &status));
    CHECK_MOVED(status, 0);
    spoil(&status);
    MPI(MPI_File_write_at(file, (MPI_Offset) 1 << 41, NULL, 0, MPI_INT, &status));
    CHECK_MOVED(status, 0);
    barrier();
    CHECK_INT(file_size(name), (long long) size * EACH);
    MPI(MPI_File_close(&file));
}

static void with_pointer(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    unsigned char own[EACH], part[100];
    MPI_Offset at = -1, end;
    MPI_Status status;
    MPI(MPI_File_get_size(file, &end));
    MPI(MPI_File_seek(file, (MPI_Offset) rank * EACH, MPI_SEEK_SET));
    fill(own, EACH, (uint64_t) rank + 100);
    for (int i = 0; i < EACH; i += 100) {
        MPI(MPI_File_write(file, own + i, 100, MPI_BYTE, &status));
        CHECK_MOVED(status, 100);
    }
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, (long long) (rank + 1) * EACH);
    MPI(MPI_File_seek(file, -100, MPI_SEEK_CUR));
    MPI(MPI_File_read(file, part, 100, MPI_BYTE, &status));
    CHECK(!memcmp(part, own + EACH - 100, 100));
    MPI(MPI_File_seek(file, -50, MPI_SEEK_END));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, end - 50);
    /* The pointer moves by what was asked for; MPICH's by what was there. */
    MPI_Offset past = reference ? 0 : 30;
    barrier();
    MPI(MPI_File_read(file, part, 80, MPI_BYTE, &status));
    CHECK_MOVED(status, 50);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, end + past);
    MPI(MPI_File_get_byte_offset(file, 77, &at));
    CHECK_INT(at, 77);
    CHECK(MPI_File_seek(file, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, end + past);
    MPI(MPI_File_seek(file, 1000, MPI_SEEK_END));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, end + 1000);
    MPI(MPI_File_close(&file));
}

/* Memory with holes, in small pieces and in large ones. */
static void with_types(int pieces, int length, int stride)
{
    MPI_File file = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    size_t bytes = (size_t) pieces * (size_t) stride, data = (size_t) pieces * (size_t) length;
    unsigned char *memory = malloc(bytes), *packed = malloc(data), *found = malloc(bytes);
    MPI_Datatype type;
    MPI_Status status;
    MPI_Offset offset = 12345 + (MPI_Offset) rank * (MPI_Offset) data;
    MPI(MPI_Type_vector(pieces, length, stride, MPI_BYTE, &type));
    MPI(MPI_Type_commit(&type));
    fill(memory, bytes, (uint64_t) rank + 7);
    for (int i = 0; i < pieces; i++)
        memcpy(packed + (size_t) i * (size_t) length, memory + (size_t) i * (size_t) stride, (size_t) length);
    MPI(MPI_File_write_at(file, offset, memory, 1, type, &status));
    CHECK_MOVED(status, data);
    memset(found, 0x5a, bytes);
    CHECK_INT(file_read(name, found, data, offset), data);
    CHECK(!memcmp(found, packed, data));
    memset(found, 0x5a, bytes);
    MPI(MPI_File_read_at(file, offset, found, 1, type, &status));
    CHECK_MOVED(status, data);
    for (int i = 0; i < pieces; i++) {
        CHECK(!memcmp(found + (size_t) i * (size_t) stride, memory + (size_t) i * (size_t) stride, (size_t) length));
        if (i + 1 < pieces)
            CHECK_INT(found[(size_t) i * (size_t) stride + (size_t) length], 0x5a);
    }
    MPI(MPI_Type_free(&type));
    MPI(MPI_File_close(&file));
    free(memory);
    free(packed);
    free(found);
    barrier();
}

/* Absolute addresses, and memory that can only be read. */
static void with_bottom(void)
{
    static const char constant[] = "constant";
    MPI_File file = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    int one = rank + 1, two = rank + 2, lengths[2] = {1, 1}, found[2] = {0, 0};
    MPI_Aint at[2];
    MPI_Datatype type;
    MPI(MPI_Get_address(&two, &at[0]));
    MPI(MPI_Get_address(&one, &at[1]));
    MPI(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_File_write_at(file, 100 * rank, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE));
    MPI(MPI_File_read_at(file, 100 * rank, found, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(found[0], rank + 2);
    CHECK_INT(found[1], rank + 1);
    MPI(MPI_File_write_at(file, 100 * rank + 50, constant, 8, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI(MPI_Type_free(&type));
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "contiguous");
    with_offsets();
    barrier();
    with_pointer();
    barrier();
    with_types(10, 1, 3);
    with_types(5000, 7, 9);
    with_types(slow() ? 10 : 100000, 4, 12);
    with_types(3, 5000, 6001);
    with_types(slow() ? 20 : 3000, 2048, 2100);
    with_bottom();
    barrier();
    if (rank == 0)
        MPI(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}
