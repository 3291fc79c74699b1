/* Every predefined operation on the predefined types of C and Fortran: small numbers, at several lengths and odd addresses.
 * Logical operations on numbers with fractions are MPICH's. */
#include "check.h"
#include "integers.h"
#include <complex.h>
#include <stdbool.h>

enum { MOST = 67 };

/* Small whole numbers, which all types but the logical ones can hold. */
static int left(int i) { return i % 5 + 1; }
static int right(int i) { return i * 3 % 7; }

static int plain(MPI_Op op, int a, int b)
{
    return op == MPI_SUM ? a + b : op == MPI_PROD ? a * b : op == MPI_MAX ? (a > b ? a : b) : op == MPI_MIN ? (a < b ? a : b) :
           op == MPI_LAND ? a && b : op == MPI_LOR ? a || b : op == MPI_LXOR ? !a != !b : op == MPI_BAND ? (a & b) :
           op == MPI_BOR ? (a | b) : a ^ b;
}

static const MPI_Op arithmetic[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN}, logical[] = {MPI_LAND, MPI_LOR, MPI_LXOR},
                    bitwise[] = {MPI_BAND, MPI_BOR, MPI_BXOR};

#define TRY(c_type, type, ops, number, misplaced) do { \
        static char from_[(MOST + 1) * sizeof(c_type)], into_[(MOST + 1) * sizeof(c_type)]; \
        if (type != MPI_DATATYPE_NULL) \
            for (int o = 0; o < (int) (number); o++) \
                for (int n = 0; n <= MOST; n += 1 + n / 3) { \
                    char *from = from_ + (misplaced), *into = into_ + (misplaced) / 2; \
                    c_type v; \
                    for (int i = 0; i < n; i++) { \
                        v = (c_type) left(i), memcpy(from + (size_t) i * sizeof v, &v, sizeof v); \
                        v = (c_type) right(i), memcpy(into + (size_t) i * sizeof v, &v, sizeof v); \
                    } \
                    MPI(MPI_Reduce_local(from, into, n, type, (ops)[o])); \
                    for (int i = 0; i < n; i++) { \
                        c_type wanted = (c_type) plain((ops)[o], (int) (c_type) left(i), (int) (c_type) right(i)); \
                        memcpy(&v, into + (size_t) i * sizeof v, sizeof v); \
                        if (v != wanted) \
                            check_failed(__FILE__, __LINE__, "%s, operation %d, element %d of %d", #type, o, i, n); \
                    } \
                } \
    } while (0)
#define INTEGER(c_type, type) do { \
        TRY(c_type, type, arithmetic, 4, 0); \
        TRY(c_type, type, bitwise, 3, 0); \
    } while (0)
#define C_INTEGER(c_type, type) do { \
        INTEGER(c_type, type); \
        TRY(c_type, type, logical, 3, 0); \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    C_INTEGERS(C_INTEGER);
    FORTRAN_INTEGERS(INTEGER);
    TRY(unsigned char, MPI_BYTE, bitwise, 3, 3);
    TRY(bool, MPI_C_BOOL, logical, 3, 1);
    TRY(bool, MPI_CXX_BOOL, logical, 3, 0);
    TRY(MPI_Fint, MPI_LOGICAL, logical, 3, 0);
    TRY(float, MPI_FLOAT, arithmetic, 4, 4);
    TRY(float, MPI_FLOAT, logical, 3, 4);
    TRY(double, MPI_DOUBLE, arithmetic, 4, 8);
    TRY(double, MPI_DOUBLE, logical, 3, 8);
    TRY(long double, MPI_LONG_DOUBLE, arithmetic, 4, 0);
    TRY(long double, MPI_LONG_DOUBLE, logical, 3, 0);
    TRY(float, MPI_REAL, arithmetic, 4, 0);
    TRY(float, MPI_REAL, logical, 3, 0);
    TRY(double, MPI_DOUBLE_PRECISION, arithmetic, 4, 0);
    TRY(double, MPI_DOUBLE_PRECISION, logical, 3, 0);
    TRY(float, MPI_REAL4, arithmetic, 4, 0);
    TRY(double, MPI_REAL8, arithmetic, 4, 0);
    TRY(double, MPI_REAL8, logical, 3, 0);
    TRY(float complex, MPI_C_FLOAT_COMPLEX, arithmetic, 2, 0);
    TRY(double complex, MPI_C_DOUBLE_COMPLEX, arithmetic, 2, 0);
    TRY(long double complex, MPI_C_LONG_DOUBLE_COMPLEX, arithmetic, 2, 0);
    TRY(float complex, MPI_COMPLEX, arithmetic, 2, 0);
    TRY(double complex, MPI_DOUBLE_COMPLEX, arithmetic, 2, 0);
    TRY(float complex, MPI_COMPLEX8, arithmetic, 2, 0);
    TRY(double complex, MPI_COMPLEX16, arithmetic, 2, 0);
    TRY(float complex, MPI_CXX_FLOAT_COMPLEX, arithmetic, 2, 0);
    TRY(double complex, MPI_CXX_DOUBLE_COMPLEX, arithmetic, 2, 0);
    TRY(long double complex, MPI_CXX_LONG_DOUBLE_COMPLEX, arithmetic, 2, 0);
    if (!reference) {
        /* Debian's MPICH was built without these. */
#ifdef __SIZEOF_INT128__
        INTEGER(__int128, MPI_INTEGER16);
#endif
#if defined(__GNUC__) && !defined(__clang__)
        TRY(__float128, MPI_REAL16, arithmetic, 4, 0);
        TRY(__float128, MPI_REAL16, logical, 3, 0);
#endif
    }

    /* complex products whose parts mix; a whole number stays one */
    double complex a[3] = {1 + 2 * I, 3 - 1 * I, -2 * I}, b[3] = {3 - 1 * I, 2, 4 + 1 * I};
    MPI(MPI_Reduce_local(a, b, 3, MPI_C_DOUBLE_COMPLEX, MPI_PROD));
    CHECK(b[0] == 5 + 5 * I && b[1] == 6 - 2 * I && b[2] == 2 - 8 * I);

    /* unsigned numbers with the highest bit, signed ones that wrap around */
    unsigned u[2] = {0x80000000u, 5}, w[2] = {7, 0xfffffff0u};
    MPI(MPI_Reduce_local(u, w, 2, MPI_UNSIGNED, MPI_MAX));
    if (!reference) /* MPICH 4.0.2 takes them for negative */
        CHECK(w[0] == 0x80000000u && w[1] == 0xfffffff0u);
    long double precise = 1, tiny = 1;
    for (int i = 0; i < 63; i++)
        tiny /= 2;
    MPI(MPI_Reduce_local(&tiny, &precise, 1, MPI_LONG_DOUBLE, MPI_SUM));
    CHECK(precise > 1 && precise - 1 == tiny);

    int flag;
    MPI_Op all[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    for (int o = 0; o < 12; o++) {
        MPI(MPI_Op_commutative(all[o], &flag));
        CHECK_INT(flag, 1);
    }
    MPI(MPI_Op_commutative(MPI_REPLACE, &flag));
    CHECK_INT(flag, 0);
    return finish();
}
