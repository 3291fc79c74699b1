/* The functions and markers of MPI-1, which were deprecated and then removed, and which old programs still call. */
#include "typemap.h"

/* Not in the header of an MPI without them. */
#define LOWER ((MPI_Datatype) 0x4c000010)
#define UPPER ((MPI_Datatype) 0x4c000011)
int MPI_Address(void *location, MPI_Aint *address);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_hindexed(int count, int *lengths, MPI_Aint *at, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_struct(int count, int *lengths, MPI_Aint *at, MPI_Datatype *types, MPI_Datatype *newtype);

static void check_bounds(int line, MPI_Datatype type, MPI_Aint lower, MPI_Aint upper)
{
    MPI_Aint lb, ub, extent, new_lb, new_extent;
    MPI(MPI_Type_lb(type, &lb));
    MPI(MPI_Type_ub(type, &ub));
    MPI(MPI_Type_extent(type, &extent));
    MPI(MPI_Type_get_extent(type, &new_lb, &new_extent));
    if (lb != lower || ub != upper || extent != upper - lower || new_lb != lb || new_extent != extent)
        check_failed(__FILE__, line, "lb %ld, ub %ld, extent %ld, expected %ld and %ld", (long) lb, (long) ub, (long) extent,
                     (long) lower, (long) upper);
}
#define BOUNDS(type, lower, upper) check_bounds(__LINE__, type, lower, upper)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct record { int number; double values[2]; char letter; } record[2];
    MPI_Aint here, there;
    MPI(MPI_Address(&record[0], &here));
    MPI(MPI_Address(&record[1], &there));
    CHECK_INT(there - here, sizeof record[0]);
    CHECK_INT(here, (intptr_t) record);

    struct typed number = typed_basic(MPI_INT), made = typed_hvector(3, 2, 20, &number);
    MPI(MPI_Type_free(&made.type));
    MPI(MPI_Type_hvector(3, 2, 20, MPI_INT, &made.type));
    TYPED_CHECK(&made, 2);
    BOUNDS(made.type, 0, 48);
    typed_free(&made);
    int lengths[3] = {1, 2, 1};
    MPI_Aint at[3] = {-20, 0, 40};
    made = typed_hindexed(3, lengths, at, &number);
    MPI(MPI_Type_free(&made.type));
    MPI(MPI_Type_hindexed(3, lengths, at, MPI_INT, &made.type));
    TYPED_CHECK(&made, 2);
    BOUNDS(made.type, -20, 44);
    typed_free(&made);
    struct typed real = typed_basic(MPI_DOUBLE), letter = typed_basic(MPI_CHAR);
    int ones[3] = {1, 2, 1};
    MPI_Aint places[3] = {0, 8, 24};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    made = typed_struct(3, ones, places, (struct typed[]) {number, real, letter});
    MPI(MPI_Type_free(&made.type));
    MPI(MPI_Type_struct(3, ones, places, types, &made.type));
    TYPED_CHECK(&made, 2);
    BOUNDS(made.type, 0, sizeof(struct record));
    typed_free(&made);

    MPI_Datatype marked, twice, both;
    int each[3] = {1, 1, 1};
    MPI(MPI_Type_struct(3, each, (MPI_Aint[]) {-8, 0, 32}, (MPI_Datatype[]) {LOWER, MPI_INT, UPPER}, &marked));
    BOUNDS(marked, -8, 32);
    MPI(MPI_Type_contiguous(2, marked, &twice));
    BOUNDS(twice, -8, 72);
    MPI(MPI_Type_free(&twice));
    MPI(MPI_Type_struct(2, each, (MPI_Aint[]) {0, 10}, (MPI_Datatype[]) {MPI_DOUBLE, UPPER}, &twice));
    BOUNDS(twice, 0, 10);
    MPI(MPI_Type_free(&twice));
    MPI(MPI_Type_struct(2, each, (MPI_Aint[]) {8, 3}, (MPI_Datatype[]) {MPI_CHAR, LOWER}, &twice));
    BOUNDS(twice, 3, 9);
    MPI(MPI_Type_free(&twice));
    if (!reference) { /* where markers of inner types are forgotten: those of the standard stay */
        MPI(MPI_Type_struct(2, each, (MPI_Aint[]) {0, 100}, (MPI_Datatype[]) {marked, MPI_DOUBLE}, &both));
        BOUNDS(both, -8, 32);
        MPI(MPI_Type_free(&both));
        MPI(MPI_Type_struct(3, each, (MPI_Aint[]) {0, -50, 200}, (MPI_Datatype[]) {marked, LOWER, UPPER}, &both));
        BOUNDS(both, -50, 200);
        MPI(MPI_Type_free(&both));
    }
    MPI(MPI_Type_free(&marked));
    typed_free(&letter);
    typed_free(&real);
    typed_free(&number);
    return finish();
}
