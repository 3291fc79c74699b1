/* "external32": every predefined type, byte by byte; views scaled to the file's sizes; all forms of access; counts at the end of a file. */
#include "files.h"

static char name[NAME_BYTES];

struct known {
    MPI_Datatype type;
    const char *name;
    /* In the file; numbers of `scalar` bytes each, of `memory` bytes in memory. */
    int bytes, scalar, memory;
};

static MPI_File view(MPI_Comm comm, MPI_Datatype etype, MPI_Datatype filetype, MPI_Offset disp, const char *datarep)
{
    MPI_File file = file_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_File_set_view(file, disp, etype, filetype, datarep, MPI_INFO_NULL));
    return file;
}

static void empty(void)
{
    barrier();
    if (rank == 0)
        file_write(name, "", 0);
    barrier();
}

/* Small positive numbers: the same value in any size, and what is written is the last byte of each number. */
static void every_type(void)
{
    struct known all[] = {
        {MPI_CHAR, "char", 1, 1, 1}, {MPI_SIGNED_CHAR, "signed char", 1, 1, 1}, {MPI_UNSIGNED_CHAR, "unsigned char", 1, 1, 1},
        {MPI_SHORT, "short", 2, 2, 2}, {MPI_UNSIGNED_SHORT, "unsigned short", 2, 2, 2}, {MPI_INT, "int", 4, 4, 4},
        {MPI_UNSIGNED, "unsigned", 4, 4, 4}, {MPI_LONG, "long", 4, 4, 8}, {MPI_UNSIGNED_LONG, "unsigned long", 4, 4, 8},
        {MPI_LONG_LONG, "long long", 8, 8, 8}, {MPI_UNSIGNED_LONG_LONG, "unsigned long long", 8, 8, 8},
        {MPI_BYTE, "byte", 1, 1, 1}, {MPI_WCHAR, "wchar", 2, 2, 4}, {MPI_C_BOOL, "bool", 1, 1, 1}, {MPI_FLOAT, "float", 4, 4, 4},
        {MPI_DOUBLE, "double", 8, 8, 8}, {MPI_INT8_T, "int8", 1, 1, 1}, {MPI_INT16_T, "int16", 2, 2, 2}, {MPI_INT32_T, "int32", 4, 4, 4},
        {MPI_INT64_T, "int64", 8, 8, 8}, {MPI_UINT8_T, "uint8", 1, 1, 1}, {MPI_UINT16_T, "uint16", 2, 2, 2},
        {MPI_UINT32_T, "uint32", 4, 4, 4}, {MPI_UINT64_T, "uint64", 8, 8, 8}, {MPI_AINT, "aint", 8, 8, 8}, {MPI_COUNT, "count", 8, 8, 8},
        {MPI_OFFSET, "offset", 8, 8, 8}, {MPI_C_FLOAT_COMPLEX, "float complex", 8, 4, 4}, {MPI_C_DOUBLE_COMPLEX, "double complex", 16, 8, 8},
        {MPI_CXX_BOOL, "C++ bool", 1, 1, 1}, {MPI_CXX_FLOAT_COMPLEX, "C++ float complex", 8, 4, 4},
        {MPI_CXX_DOUBLE_COMPLEX, "C++ double complex", 16, 8, 8}, {MPI_2INT, "2int", 8, 4, 4},
        {MPI_CHARACTER, "CHARACTER", 1, 1, 1}, {MPI_LOGICAL, "LOGICAL", 4, 4, 4}, {MPI_INTEGER, "INTEGER", 4, 4, 4},
        {MPI_INTEGER1, "INTEGER*1", 1, 1, 1}, {MPI_INTEGER2, "INTEGER*2", 2, 2, 2}, {MPI_INTEGER4, "INTEGER*4", 4, 4, 4},
        {MPI_INTEGER8, "INTEGER*8", 8, 8, 8}, {MPI_REAL, "REAL", 4, 4, 4}, {MPI_REAL4, "REAL*4", 4, 4, 4}, {MPI_REAL8, "REAL*8", 8, 8, 8},
        {MPI_DOUBLE_PRECISION, "DOUBLE PRECISION", 8, 8, 8}, {MPI_COMPLEX, "COMPLEX", 8, 4, 4}, {MPI_COMPLEX8, "COMPLEX*8", 8, 4, 4},
        {MPI_COMPLEX16, "COMPLEX*16", 16, 8, 8}, {MPI_DOUBLE_COMPLEX, "DOUBLE COMPLEX", 16, 8, 8},
    };
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        struct known *of = &all[t];
        unsigned char memory[200], found[200], back[200];
        int numbers = 3 * of->bytes / of->scalar, count;
        MPI_Aint extent;
        MPI_Offset at;
        MPI_Status status;
        if (of->type == MPI_DATATYPE_NULL)
            continue;
        empty();
        MPI_File file = view(MPI_COMM_SELF, of->type, of->type, 5, "external32");
        MPI(MPI_File_get_type_extent(file, of->type, &extent));
        if (rank == 0) {
            CHECK_INT(extent, of->bytes);
            memset(memory, 0, sizeof memory);
            for (int i = 0; i < numbers * of->memory; i++)
                memory[i] = i % of->memory < of->scalar ? (unsigned char) (1 + i) : 0;
            for (int i = 0; i < numbers; i++) /* no sign */
                memory[i * of->memory + of->scalar - 1] &= 0x7f;
            MPI(MPI_File_write(file, memory, 3, of->type, &status));
            MPI(MPI_Get_count(&status, of->type, &count));
            CHECK_INT(count, 3);
            MPI(MPI_File_get_position(file, &at));
            CHECK_INT(at, 3);
            MPI(MPI_File_get_byte_offset(file, 7, &at));
            CHECK_INT(at, 5 + 7 * of->bytes);
            CHECK_INT(file_read(name, found, sizeof found, 5), 3 * of->bytes);
            for (int i = 0; i < 3 * of->bytes; i++) {
                int expected = memory[i / of->scalar * of->memory + of->scalar - 1 - i % of->scalar];
                if (found[i] != expected) {
                    check_failed(__FILE__, __LINE__, "%s: byte %d is %d, expected %d", of->name, i, found[i], expected);
                    break;
                }
            }
            memset(back, 0xaa, sizeof back);
            MPI(MPI_File_read_at(file, 0, back, 5, of->type, &status));
            MPI(MPI_Get_count(&status, of->type, &count));
            CHECK_INT(count, 3);
            if (memcmp(back, memory, (size_t) (numbers * of->memory)))
                check_failed(__FILE__, __LINE__, "%s is read back as something else", of->name);
            CHECK_INT(back[numbers * of->memory], 0xaa);
        }
        MPI(MPI_File_close(&file));
    }
}

/* Pairs have their members without padding; a long double is an IEEE quadruple. */
static void others(void)
{
    struct { double value; int index; } pair = {1.5, 7}, pair_back = {0, 0};
    struct { short value; int index; } small = {-2, 7};
    long double two[2] = {1.0L, -3.0L}, back[2] = {0, 0};
    const unsigned char quadruples[32] = {0x3f, 0xff, [16] = 0xc0, 0x00, 0x80};
    unsigned char found[40];
    long negative[2] = {-2, 1L << 40};
    MPI_Aint extent;
    empty();
    MPI_File file = view(MPI_COMM_SELF, MPI_BYTE, MPI_BYTE, 0, "external32");
    if (rank == 0) {
        MPI(MPI_File_get_type_extent(file, MPI_DOUBLE_INT, &extent));
        CHECK_INT(extent, 12);
        MPI(MPI_File_write_at(file, 0, &pair, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE));
        CHECK_INT(file_read(name, found, sizeof found, 0), 12);
        CHECK(!memcmp(found, "\x3f\xf8\0\0\0\0\0\0\0\0\0\7", 12));
        MPI(MPI_File_read_at(file, 0, &pair_back, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE));
        CHECK(pair_back.value == 1.5 && pair_back.index == 7);
        MPI(MPI_File_write_at(file, 0, &small, 1, MPI_SHORT_INT, MPI_STATUS_IGNORE));
        file_read(name, found, sizeof found, 0);
        CHECK(!memcmp(found, "\xff\xfe\0\0\0\7\0\0\0\0\0\7", 12));
        MPI(MPI_File_write_at(file, 0, negative, 2, MPI_LONG, MPI_STATUS_IGNORE));
        file_read(name, found, sizeof found, 0);
        CHECK(!memcmp(found, "\xff\xff\xff\xfe\0\0\0\0", 8)); /* the least significant bytes */
        MPI(MPI_File_read_at(file, 0, negative, 1, MPI_LONG, MPI_STATUS_IGNORE));
        CHECK_INT(negative[0], -2);
        MPI(MPI_File_write_at(file, 0, two, 2, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
        CHECK_INT(file_read(name, found, sizeof found, 0), 32);
        CHECK(!memcmp(found, quadruples, 32));
        MPI(MPI_File_read_at(file, 0, back, 2, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
        CHECK(back[0] == 1 && back[1] == -3);
        MPI(MPI_File_write_at(file, 0, two, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_STATUS_IGNORE));
        CHECK_INT(file_read(name, found, sizeof found, 0), 32);
        CHECK(!memcmp(found, quadruples, 32));
    }
    MPI(MPI_File_close(&file));
}

static unsigned byte_swapped(unsigned value)
{
    return value << 24 | (value << 8 & 0xff0000) | (value >> 8 & 0xff00) | value >> 24;
}

/* Elements are scaled, bytes are not. */
static void scaled_views(void)
{
    long values[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    unsigned found[20];
    MPI_Datatype vector, bytes, type, structure;
    MPI_Offset at;
    MPI_Aint extent;
    MPI_Status status;
    MPI(MPI_Type_vector(3, 1, 2, MPI_LONG, &vector));
    MPI(MPI_Type_create_hvector(3, 1, 16, MPI_LONG, &bytes));
    MPI(MPI_Type_create_resized(vector, 0, 6 * 4, &type)); /* in bytes of the file */
    MPI(MPI_Type_create_struct(2, (int[]) {1, 1}, (MPI_Aint[]) {0, 8}, (MPI_Datatype[]) {MPI_INT, MPI_LONG}, &structure));
    MPI(MPI_Type_commit(&bytes));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_commit(&structure));
    empty();
    MPI_File file = view(MPI_COMM_SELF, MPI_LONG, type, 8, "external32");
    if (rank == 0) {
        MPI(MPI_File_get_type_extent(file, vector, &extent));
        CHECK_INT(extent, 5 * 4);
        MPI(MPI_File_get_type_extent(file, bytes, &extent));
        CHECK_INT(extent, 2 * 16 + 4);
        MPI(MPI_File_get_type_extent(file, structure, &extent));
        CHECK_INT(extent, 12);
        MPI(MPI_File_write_at(file, 0, values, 6, MPI_LONG, &status));
        CHECK_MOVED(status, 48);
        CHECK_INT(file_read(name, found, sizeof found, 8), 11 * 4);
        for (unsigned i = 0; i < 11; i++)
            CHECK_INT(byte_swapped(found[i]), i % 2 ? 0 : i / 2 + 1);
        MPI(MPI_File_get_byte_offset(file, 4, &at));
        CHECK_INT(at, 8 + 24 + 8);
        MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, 6);
        MPI(MPI_File_read_at(file, 2, back, 3, MPI_LONG, &status));
        CHECK_MOVED(status, 24);
        CHECK_INT(back[0], 3);
        CHECK_INT(back[2], 5);
        /* The end of the file is in the middle of an element. */
        MPI(MPI_File_set_size(file, 8 + 4 * 8 + 3));
        MPI(MPI_File_read_at(file, 2, back, 6, MPI_LONG, &status));
        CHECK_MOVED(status, 16);
        CHECK_INT(back[1], 4);
        MPI(MPI_File_read_at(file, 100, back, 6, MPI_LONG, &status));
        CHECK_MOVED(status, 0);
        MPI(MPI_File_set_view(file, 0, MPI_LONG, bytes, "external32", MPI_INFO_NULL));
        MPI(MPI_File_get_byte_offset(file, 4, &at));
        CHECK_INT(at, 36 + 16);
        /* An etype of two types, memory with holes. */
        struct { int number; long value; } pairs[3] = {{1, 2}, {3, 4}, {5, 6}}, copy[3];
        MPI(MPI_File_set_view(file, 4, structure, structure, "external32", MPI_INFO_NULL));
        MPI(MPI_File_write_at(file, 1, pairs, 3, structure, &status));
        CHECK_MOVED(status, 3 * 12);
        file_read(name, found, sizeof found, 4 + 12);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_INT(byte_swapped(found[3 * i]), 2 * i + 1);
            CHECK_INT(byte_swapped(found[3 * i + 2]), 2 * i + 2);
        }
        memset(copy, 0x77, sizeof copy);
        MPI(MPI_File_read_at(file, 1, copy, 3, structure, &status));
        CHECK_INT(copy[2].number, 5);
        CHECK_INT(copy[2].value, 6);
        CHECK_INT(((unsigned char *) copy)[5], 0x77);
        if (!reference) /* half an etype */
            CHECK_CLASS(MPI_File_write_at(file, 1, values, 3, MPI_INT, &status), MPI_ERR_TYPE);
    }
    MPI(MPI_File_close(&file));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Type_free(&bytes));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Type_free(&structure));
}

enum { FORMS = 9, MANY = 150000 };

static void write_by(int form, MPI_File file, const void *own, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    switch (form) {
    case 0: MPI(MPI_File_write_at(file, 0, own, count, type, status)); break;
    case 1: MPI(MPI_File_write(file, own, count, type, status)); break;
    case 2: MPI(MPI_File_write_all(file, own, count, type, status)); break;
    case 3: MPI(MPI_File_write_at_all_c(file, 0, own, count, type, status)); break;
    case 4:
        MPI(MPI_File_write_all_begin(file, own, count, type));
        MPI(MPI_File_write_all_end(file, own, status));
        break;
    case 5:
        MPI(MPI_File_iwrite_at(file, 0, own, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    case 6:
        MPI(MPI_File_iwrite_all(file, own, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    case 7:
        MPI(MPI_File_write_at_all_begin(file, 0, own, count, type));
        MPI(MPI_File_write_at_all_end(file, own, status));
        break;
    default:
        MPI(MPI_File_iwrite(file, own, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    }
}

static void read_by(int form, MPI_File file, void *own, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
    switch (form) {
    case 0: MPI(MPI_File_read_at(file, 0, own, count, type, status)); break;
    case 1: MPI(MPI_File_read(file, own, count, type, status)); break;
    case 2: MPI(MPI_File_read_all(file, own, count, type, status)); break;
    case 3: MPI(MPI_File_read_at_all_c(file, 0, own, count, type, status)); break;
    case 4:
        MPI(MPI_File_read_all_begin(file, own, count, type));
        MPI(MPI_File_read_all_end(file, own, status));
        break;
    case 5:
        MPI(MPI_File_iread_at(file, 0, own, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    case 6:
        MPI(MPI_File_iread_all(file, own, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    case 7:
        MPI(MPI_File_read_at_all_begin(file, 0, own, count, type));
        MPI(MPI_File_read_at_all_end(file, own, status));
        break;
    default:
        MPI(MPI_File_iread(file, own, count, type, &request));
        MPI(MPI_Wait(&request, status));
        break;
    }
}

/* The ranks' elements alternate, in memory with holes or without, few or many pieces of scratch memory, also in atomic mode. */
static void interleaved(int form, int count, int spread, int atomic)
{
    MPI_Datatype filetype, memtype;
    MPI_Status status;
    long *own = malloc((size_t) (count * spread) * sizeof *own), *back = malloc((size_t) (count * spread) * sizeof *back);
    unsigned *whole = malloc((size_t) (count * size) * sizeof *whole);
    for (int i = 0; i < count * spread; i++) {
        own[i] = i % spread ? -1 : i / spread * size + rank;
        back[i] = -1;
    }
    empty();
    MPI(MPI_Type_create_resized(MPI_LONG, 0, 4 * size, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_Type_vector(count, 1, spread, MPI_LONG, &memtype));
    MPI(MPI_Type_commit(&memtype));
    MPI_File file = view(MPI_COMM_WORLD, MPI_LONG, filetype, 4 * rank, "external32");
    MPI(MPI_File_set_atomicity(file, atomic));
    write_by(form, file, own, 1, memtype, &status);
    CHECK_MOVED(status, 8 * count);
    barrier();
    CHECK_INT(file_read(name, whole, (size_t) (4 * size * count), 0), 4 * size * count);
    for (int i = 0; i < size * count; i++)
        if (byte_swapped(whole[i]) != (unsigned) i) {
            check_failed(__FILE__, __LINE__, "form %d: number %d is %u", form, i, byte_swapped(whole[i]));
            break;
        }
    barrier();
    read_by(form, file, back, 1, memtype, &status);
    CHECK_MOVED(status, 8 * count);
    CHECK(!memcmp(own, back, (size_t) (count * spread) * sizeof *own));
    MPI(MPI_Type_free(&filetype));
    MPI(MPI_Type_free(&memtype));
    MPI(MPI_File_close(&file));
    free(own);
    free(back);
    free(whole);
}

/* The shared pointer counts etypes of the file. */
static void shared(void)
{
    long value = rank, back = -1;
    unsigned found[64];
    MPI_Offset at;
    MPI_Status status;
    MPI_Request request;
    empty();
    MPI_File file = view(MPI_COMM_WORLD, MPI_LONG, MPI_LONG, 0, "external32");
    MPI(MPI_File_write_ordered(file, &value, 1, MPI_LONG, &status));
    CHECK_MOVED(status, 8);
    barrier();
    CHECK_INT(file_read(name, found, sizeof found, 0), 4 * size);
    for (int i = 0; i < size; i++)
        CHECK_INT(byte_swapped(found[i]), i);
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, size);
    barrier();
    value = 100;
    MPI(MPI_File_write_shared(file, &value, 1, MPI_LONG, &status));
    MPI(MPI_File_iwrite_shared(file, &value, 1, MPI_LONG, &request));
    MPI(MPI_Wait(&request, &status));
    barrier();
    CHECK_INT(file_size(name), 12 * size);
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    MPI(MPI_File_read_ordered(file, &back, 1, MPI_LONG, &status));
    CHECK_INT(back, rank);
    MPI(MPI_File_read_ordered_begin(file, &back, 1, MPI_LONG));
    MPI(MPI_File_read_ordered_end(file, &back, &status));
    CHECK_INT(back, 100);
    MPI(MPI_File_close(&file));
}

/* "internal" is "native" here; both beside a file that is converted. */
static void native(void)
{
    long value = 0x0102030405060708, back = 0;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype, filetype;
    MPI_Offset at;
    MPI_Aint extent;
    empty();
    MPI_File one = view(MPI_COMM_WORLD, MPI_LONG, MPI_LONG, 0, "external32"), two = view(MPI_COMM_WORLD, MPI_LONG, MPI_LONG, 0, "internal");
    MPI(MPI_File_get_view(one, &at, &etype, &filetype, datarep));
    CHECK_STRING(datarep, "external32");
    MPI(MPI_File_get_type_extent(two, MPI_LONG, &extent));
    CHECK_INT(extent, 8);
    MPI(MPI_File_write_at(two, 1 + rank, &value, 1, MPI_LONG, MPI_STATUS_IGNORE));
    MPI(MPI_File_read_at(one, 2 + 2 * rank, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_INT(back, 0x08070605);
    MPI(MPI_File_read_at(two, 1 + rank, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_INT(back, value);
    MPI(MPI_File_close(&one));
    MPI(MPI_File_close(&two));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "external32");
    every_type();
    others();
    scaled_views();
    for (int form = 0; form < FORMS; form++) {
        interleaved(form, 10, 1, form % 2);
        interleaved(form, 1000, 3, 0);
    }
    for (int form = 0; form < FORMS; form += 3)
        interleaved(form, slow() ? 2000 : MANY, 2, 0);
    shared();
    native();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
