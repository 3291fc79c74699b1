/* MPI_MINLOC and MPI_MAXLOC on all pair types: of equal values the lowest index, padding untouched, duplicates of the types. */
#include "check.h"
#include <stddef.h>

enum { N = 29 };

#define TRY(value_type, index_type, type) do { \
        struct pair { value_type value; index_type index; } a[N], b[N], c[N]; \
        memset(b, 0x55, sizeof b); \
        for (int i = 0; i < N; i++) { \
            a[i].value = (value_type) (i % 5 - 2), a[i].index = (index_type) (i % 3); \
            b[i].value = (value_type) (i % 4 - 1), b[i].index = (index_type) (i % 2 + 1); \
        } \
        memcpy(c, b, sizeof b); \
        MPI_Datatype copy; \
        MPI(MPI_Type_dup(type, &copy)); \
        MPI(MPI_Reduce_local(a, b, N, type, MPI_MAXLOC)); \
        MPI(MPI_Reduce_local(a, c, N, reference ? type : copy, MPI_MINLOC)); \
        MPI(MPI_Type_free(&copy)); \
        for (int i = 0; i < N; i++) { \
            int x = i % 5 - 2, y = i % 4 - 1, k = i % 3, l = i % 2 + 1; \
            int most = x > y ? k : y > x ? l : k < l ? k : l, least = x < y ? k : y < x ? l : k < l ? k : l; \
            CHECK(b[i].value == (value_type) (x > y ? x : y) && b[i].index == (index_type) most); \
            CHECK(c[i].value == (value_type) (x < y ? x : y) && c[i].index == (index_type) least); \
        } \
        size_t end = offsetof(struct pair, index) + sizeof(index_type); \
        for (size_t i = end; i < sizeof(struct pair) && !reference; i++) \
            CHECK_INT(((char *) &b[N / 2])[i], 0x55); \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    TRY(float, int, MPI_FLOAT_INT);
    TRY(double, int, MPI_DOUBLE_INT);
    TRY(long, int, MPI_LONG_INT);
    TRY(int, int, MPI_2INT);
    TRY(short, int, MPI_SHORT_INT);
    TRY(long double, int, MPI_LONG_DOUBLE_INT);
    TRY(float, float, MPI_2REAL);
    TRY(double, double, MPI_2DOUBLE_PRECISION);
    TRY(MPI_Fint, MPI_Fint, MPI_2INTEGER);
    return finish();
}
