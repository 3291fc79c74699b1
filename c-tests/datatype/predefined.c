/* Every predefined type goes around: as many bytes as its size, at its extent, counted right; names, sizes and extents of C. */
#include "check.h"
#include <complex.h>
#include <stddef.h>
#include <wchar.h>

struct type {
    MPI_Datatype type;
    const char *name;
    int size; /* 0: the compiler's, not ours to know */
};

#define TYPE(name, size) {name, #name, (int) (size)}
static const struct type types[] = {
    TYPE(MPI_CHAR, 1), TYPE(MPI_SIGNED_CHAR, 1), TYPE(MPI_UNSIGNED_CHAR, 1), TYPE(MPI_BYTE, 1), TYPE(MPI_PACKED, 1),
    TYPE(MPI_WCHAR, sizeof(wchar_t)), TYPE(MPI_SHORT, 2), TYPE(MPI_UNSIGNED_SHORT, 2), TYPE(MPI_INT, 4), TYPE(MPI_UNSIGNED, 4),
    TYPE(MPI_LONG, sizeof(long)), TYPE(MPI_UNSIGNED_LONG, sizeof(long)), TYPE(MPI_LONG_LONG_INT, 8), TYPE(MPI_LONG_LONG, 8),
    TYPE(MPI_UNSIGNED_LONG_LONG, 8), TYPE(MPI_FLOAT, 4), TYPE(MPI_DOUBLE, 8), TYPE(MPI_LONG_DOUBLE, sizeof(long double)),
    TYPE(MPI_INT8_T, 1), TYPE(MPI_INT16_T, 2), TYPE(MPI_INT32_T, 4), TYPE(MPI_INT64_T, 8),
    TYPE(MPI_UINT8_T, 1), TYPE(MPI_UINT16_T, 2), TYPE(MPI_UINT32_T, 4), TYPE(MPI_UINT64_T, 8),
    TYPE(MPI_C_BOOL, sizeof(_Bool)), TYPE(MPI_C_COMPLEX, 8), TYPE(MPI_C_FLOAT_COMPLEX, 8), TYPE(MPI_C_DOUBLE_COMPLEX, 16),
    TYPE(MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double _Complex)),
    TYPE(MPI_AINT, sizeof(MPI_Aint)), TYPE(MPI_OFFSET, sizeof(MPI_Offset)), TYPE(MPI_COUNT, sizeof(MPI_Count)),
    TYPE(MPI_CXX_BOOL, 1), TYPE(MPI_CXX_FLOAT_COMPLEX, 8), TYPE(MPI_CXX_DOUBLE_COMPLEX, 16), TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, 32),
    TYPE(MPI_CHARACTER, 1), TYPE(MPI_LOGICAL, 4), TYPE(MPI_INTEGER, 4), TYPE(MPI_REAL, 4), TYPE(MPI_DOUBLE_PRECISION, 8),
    TYPE(MPI_COMPLEX, 8), TYPE(MPI_DOUBLE_COMPLEX, 16), TYPE(MPI_INTEGER1, 1), TYPE(MPI_INTEGER2, 2), TYPE(MPI_INTEGER4, 4),
    TYPE(MPI_INTEGER8, 8), TYPE(MPI_REAL4, 4), TYPE(MPI_REAL8, 8), TYPE(MPI_COMPLEX8, 8), TYPE(MPI_COMPLEX16, 16),
    TYPE(MPI_2INTEGER, 8), TYPE(MPI_2REAL, 8), TYPE(MPI_2DOUBLE_PRECISION, 16), TYPE(MPI_2INT, 8)};

int main(int argc, char **argv)
{
    static unsigned char out[4096], in[4096];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        int bytes = -1, count = -1, length = -1;
        MPI_Aint lower = -1, extent = -1;
        MPI_Count large = -1;
        char name[MPI_MAX_OBJECT_NAME] = "";
        MPI_Status status;
        MPI(MPI_Type_size(types[t].type, &bytes));
        if (bytes != types[t].size)
            check_failed(__FILE__, __LINE__, "%s has size %d, expected %d", types[t].name, bytes, types[t].size);
        MPI(MPI_Type_size_x(types[t].type, &large));
        CHECK_INT(large, bytes);
        MPI(MPI_Type_size_c(types[t].type, &large));
        CHECK_INT(large, bytes);
        MPI(MPI_Type_get_extent(types[t].type, &lower, &extent));
        CHECK_INT(lower, 0);
        CHECK_INT(extent, bytes);
        MPI(MPI_Type_get_name(types[t].type, name, &length));
        CHECK_INT(length, strlen(name));
        if (strcmp(name, types[t].name) && !(types[t].type == MPI_LONG_LONG && !strncmp(name, "MPI_LONG_LONG", 13))
            && !(types[t].type == MPI_C_COMPLEX && strstr(name, "COMPLEX")))
            check_failed(__FILE__, __LINE__, "%s has the name %s", types[t].name, name);
        fill(out, 33 * bytes, t + rank);
        memset(in, 0xee, sizeof in);
        MPI(MPI_Sendrecv(out, 33, types[t].type, to, (int) t, in, 100, types[t].type, from, (int) t, MPI_COMM_WORLD, &status));
        MPI(MPI_Get_count(&status, types[t].type, &count));
        CHECK_INT(count, 33);
        CHECK_PATTERN(in, (size_t) 33 * bytes, t + from);
        CHECK_INT(in[33 * bytes], 0xee);
    }
    return finish();
}
