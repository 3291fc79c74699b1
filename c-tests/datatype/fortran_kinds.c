/* MPI_Type_create_f90_integer, _real, _complex: sizes, one handle for the same arguments, what they are made of; MPI_Type_match_size. */
#include "check.h"

static void check_size(int line, MPI_Datatype type, int expected)
{
    int bytes;
    MPI(MPI_Type_size(type, &bytes));
    if (bytes != expected)
        check_failed(__FILE__, line, "size %d, expected %d", bytes, expected);
}
#define SIZE(type, expected) check_size(__LINE__, type, expected)

int main(int argc, char **argv)
{
    MPI_Datatype type, again, pair, found;
    int numbers, addresses, types, combiner, integers[2];
    start(&argc, &argv);
    const struct { int digits, bytes; } whole[] = {{0, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        MPI(MPI_Type_create_f90_integer(whole[i].digits, &type));
        SIZE(type, whole[i].bytes);
        MPI(MPI_Type_create_f90_integer(whole[i].digits, &again));
        CHECK(type == again);
        MPI(MPI_Type_get_envelope(type, &numbers, &addresses, &types, &combiner));
        CHECK_INT(numbers, 1);
        CHECK_INT(addresses + types, 0);
        CHECK_INT(combiner, MPI_COMBINER_F90_INTEGER);
        MPI(MPI_Type_get_contents(type, 1, 0, 0, integers, NULL, NULL));
        CHECK_INT(integers[0], whole[i].digits);
    }
    const struct { int p, r, bytes; } reals[] = {{6, 37, 4}, {1, MPI_UNDEFINED, 4}, {MPI_UNDEFINED, 30, 4}, {7, 20, 8}, {6, 38, 8},
                                                 {15, 307, 8}, {MPI_UNDEFINED, 300, 8}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        MPI(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &type));
        SIZE(type, reals[i].bytes);
        MPI(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &again));
        CHECK(type == again);
        MPI(MPI_Type_get_envelope(type, &numbers, &addresses, &types, &combiner));
        CHECK_INT(combiner, MPI_COMBINER_F90_REAL);
        CHECK_INT(numbers, 2);
        MPI(MPI_Type_get_contents(type, 2, 0, 0, integers, NULL, NULL));
        CHECK_INT(integers[0], reals[i].p);
        CHECK_INT(integers[1], reals[i].r);
        MPI(MPI_Type_create_f90_complex(reals[i].p, reals[i].r, &again));
        CHECK(type != again);
        SIZE(again, 2 * reals[i].bytes);
        MPI(MPI_Type_get_envelope(again, &numbers, &addresses, &types, &combiner));
        CHECK_INT(combiner, MPI_COMBINER_F90_COMPLEX);
    }
    if (!reference) { /* as its compiler is */
        MPI(MPI_Type_create_f90_integer(38, &type));
        SIZE(type, 16);
        MPI(MPI_Type_create_f90_real(33, 4931, &type));
        SIZE(type, 16);
    }

    /* they are committed, part of other types, and reduced */
    double out[2] = {1, 2}, in[2] = {0, 0};
    MPI(MPI_Type_create_f90_real(15, 307, &type));
    MPI(MPI_Sendrecv(out, 2, type, 0, 0, in, 2, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(in[1] == 2);
    MPI(MPI_Allreduce(MPI_IN_PLACE, in, 2, type, MPI_SUM, MPI_COMM_WORLD));
    CHECK(in[0] == size && in[1] == 2 * size);
    MPI(MPI_Type_contiguous(2, type, &pair));
    MPI(MPI_Type_get_contents(pair, 1, 0, 1, integers, NULL, &again));
    CHECK(again == type);
    MPI(MPI_Type_free(&pair));

    const struct { int class_, bytes; MPI_Datatype type; } matches[] = {
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4}, {MPI_TYPECLASS_REAL, 8, MPI_REAL8}, {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
        {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2}, {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}};
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        MPI(MPI_Type_match_size(matches[i].class_, matches[i].bytes, &found));
        SIZE(found, matches[i].bytes);
        if (!reference) /* which answers with MPI_REAL and so on */
            CHECK(found == matches[i].type);
    }
    return finish();
}
