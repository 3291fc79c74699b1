/* Prints size, extent and name of the predefined types, for the comparison with the reference. */
#include "check.h"

int main(int argc, char **argv)
{
    static const MPI_Datatype types[] = {MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_PACKED, MPI_WCHAR, MPI_SHORT,
        MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT,
        MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
        MPI_UINT64_T, MPI_C_BOOL, MPI_C_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT,
        MPI_CXX_BOOL, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_FLOAT_INT, MPI_DOUBLE_INT,
        MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2INT, MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL,
        MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_INTEGER1,
        MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_COMPLEX8, MPI_COMPLEX16};
    start(&argc, &argv);
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int length, bytes;
        MPI_Aint lower, extent, true_lower, true_extent;
        MPI(MPI_Type_get_name(types[i], name, &length));
        MPI(MPI_Type_size(types[i], &bytes));
        MPI(MPI_Type_get_extent(types[i], &lower, &extent));
        MPI(MPI_Type_get_true_extent(types[i], &true_lower, &true_extent));
        printf("%08x %s: size %d, from %ld, extent %ld, true from %ld, true extent %ld\n", (unsigned) (intptr_t) types[i], name, bytes, (long) lower,
               (long) extent, (long) true_lower, (long) true_extent);
    }
    return finish();
}
