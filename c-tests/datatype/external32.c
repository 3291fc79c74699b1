/* MPI_Pack_external and its kin: sizes and bytes of the basic types in "external32", several types in one buffer, derived types. */
#include "typemap.h"
#include <stddef.h>

static void check_bytes(int line, MPI_Datatype type, const void *value, const char *expected)
{
    unsigned char packed[64], back[64] = {0};
    char text[130] = "";
    MPI_Aint bytes = -1, position = 0;
    int size_;
    MPI(MPI_Pack_external_size("external32", 1, type, &bytes));
    if (bytes != (MPI_Aint) strlen(expected) / 2)
        check_failed(__FILE__, line, "takes %ld bytes, expected %s", (long) bytes, expected);
    MPI(MPI_Pack_external("external32", value, 1, type, packed, sizeof packed, &position));
    for (MPI_Aint i = 0; i < position; i++)
        snprintf(text + 2 * i, 3, "%02x", packed[i]);
    if (strcmp(text, expected))
        check_failed(__FILE__, line, "is %s, expected %s", text, expected);
    position = 0;
    MPI(MPI_Unpack_external("external32", packed, bytes, &position, back, 1, type));
    CHECK_INT(position, bytes);
    MPI(MPI_Type_size(type, &size_));
    if (type == MPI_LONG_DOUBLE)
        size_ = 10;
    if (memcmp(back, value, (size_t) size_))
        check_failed(__FILE__, line, "comes back as another value");
}
#define BYTES(type, ctype, value, expected) check_bytes(__LINE__, type, &(ctype) {value}, expected)

static void records(void)
{
    struct record { int number; double values[3]; char letter; } out[3], in[3];
    unsigned char packed[200];
    MPI_Aint position = 0, most;
    MPI_Datatype type;
    int extra = 77;
    MPI(MPI_Type_create_struct(3, (int[]) {1, 3, 1}, (MPI_Aint[]) {0, offsetof(struct record, values), offsetof(struct record, letter)},
                               (MPI_Datatype[]) {MPI_INT, MPI_DOUBLE, MPI_CHAR}, &type));
    MPI(MPI_Type_commit(&type));
    for (int i = 0; i < 3; i++)
        out[i] = (struct record) {i + 1, {i, -i, i + 0.5}, (char) ('a' + i)};
    memset(in, 0x7e, sizeof in);
    MPI(MPI_Pack_external_size("external32", 3, type, &most));
    CHECK_INT(most, 3 * 29);
    MPI(MPI_Pack_external("external32", out, 3, type, packed, sizeof packed, &position));
    CHECK_INT(position, 3 * 29);
    CHECK_INT(packed[3], 1);
    CHECK_INT(packed[29 + 3], 2);
    CHECK_INT(packed[28], 'a');
    MPI(MPI_Pack_external("external32", &extra, 1, MPI_INT, packed, sizeof packed, &position));
    CHECK_INT(position, 3 * 29 + 4);
    position = 0;
    MPI(MPI_Unpack_external("external32", packed, sizeof packed, &position, in, 3, type));
    for (int i = 0; i < 3; i++) {
        CHECK(in[i].number == out[i].number && !memcmp(in[i].values, out[i].values, sizeof in[i].values) && in[i].letter == out[i].letter);
        CHECK_INT(((unsigned char *) &in[i])[sizeof in[i] - 1], 0x7e);
    }
    extra = 0;
    MPI(MPI_Unpack_external("external32", packed, sizeof packed, &position, &extra, 1, MPI_INT));
    CHECK_INT(extra, 77);
    MPI(MPI_Type_free(&type));
}

static void columns(void)
{
    unsigned char packed[64];
    MPI_Aint position = 0;
    MPI_Datatype column;
    int matrix[4][4], turned[4] = {0};
    for (int i = 0; i < 16; i++)
        matrix[i / 4][i % 4] = i;
    MPI(MPI_Type_vector(4, 1, 4, MPI_INT, &column));
    MPI(MPI_Type_commit(&column));
    MPI(MPI_Pack_external("external32", &matrix[0][1], 1, column, packed, sizeof packed, &position));
    CHECK_INT(position, 16);
    position = 0;
    MPI(MPI_Unpack_external("external32", packed, 16, &position, turned, 4, MPI_INT));
    for (int i = 0; i < 4; i++)
        CHECK_INT(turned[i], 4 * i + 1);
    MPI(MPI_Type_free(&column));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    BYTES(MPI_CHAR, char, 'x', "78");
    BYTES(MPI_BYTE, char, 'x', "78");
    BYTES(MPI_PACKED, char, 'x', "78");
    BYTES(MPI_SIGNED_CHAR, signed char, -2, "fe");
    BYTES(MPI_UNSIGNED_CHAR, unsigned char, 200, "c8");
    BYTES(MPI_SHORT, short, -2, "fffe");
    BYTES(MPI_UNSIGNED_SHORT, unsigned short, 0x1234, "1234");
    BYTES(MPI_INT, int, 0x01020304, "01020304");
    BYTES(MPI_UNSIGNED, unsigned, 0xfedcba98, "fedcba98");
    BYTES(MPI_LONG_LONG, long long, 0x0102030405060708, "0102030405060708");
    BYTES(MPI_UNSIGNED_LONG_LONG, unsigned long long, 5, "0000000000000005");
    BYTES(MPI_INT8_T, int8_t, 1, "01");
    BYTES(MPI_INT16_T, int16_t, 1, "0001");
    BYTES(MPI_INT32_T, int32_t, 1, "00000001");
    BYTES(MPI_INT64_T, int64_t, 1, "0000000000000001");
    BYTES(MPI_UINT64_T, uint64_t, 1, "0000000000000001");
    BYTES(MPI_FLOAT, float, 1.0f, "3f800000");
    BYTES(MPI_DOUBLE, double, -1.5, "bff8000000000000");
    BYTES(MPI_INTEGER, int, 7, "00000007");
    BYTES(MPI_REAL, float, 1.0f, "3f800000");
    BYTES(MPI_DOUBLE_PRECISION, double, 1.0, "3ff0000000000000");
    BYTES(MPI_CHARACTER, char, 'x', "78");
    BYTES(MPI_INTEGER8, int64_t, 1, "0000000000000001");
    BYTES(MPI_C_BOOL, _Bool, 1, "01");
    if (!reference) { /* whose long has eight bytes, and which swaps a complex number as one */
        BYTES(MPI_LONG, long, -2, "fffffffe");
        BYTES(MPI_UNSIGNED_LONG, unsigned long, 0x12345678, "12345678");
        BYTES(MPI_AINT, MPI_Aint, 3, "0000000000000003");
        BYTES(MPI_OFFSET, MPI_Offset, 3, "0000000000000003");
        BYTES(MPI_COUNT, MPI_Count, 3, "0000000000000003");
        check_bytes(__LINE__, MPI_C_FLOAT_COMPLEX, (float[]) {1, -1}, "3f800000bf800000");
        check_bytes(__LINE__, MPI_C_DOUBLE_COMPLEX, (double[]) {1, -1}, "3ff0000000000000bff0000000000000");
        check_bytes(__LINE__, MPI_2INT, (int[]) {1, 2}, "0000000100000002");
        BYTES(MPI_LONG_DOUBLE, long double, 1.0L, "3fff0000000000000000000000000000");
        if (!slow()) /* valgrind loads a long double as a double */
            BYTES(MPI_LONG_DOUBLE, long double, -0.1L, "bffb999999999999999a000000000000");
    }
    columns();
    if (!reference) /* which crashes */
        records();
    return finish();
}
