/* MPI_Type_get_envelope and MPI_Type_get_contents: the numbers of each constructor, in both forms, and who owns the types. */
#include "check.h"

static int integers[16];
static MPI_Aint addresses[16];
static MPI_Count counts[16];
static MPI_Datatype types[4];

static void check_envelope(int line, MPI_Datatype type, int combiner, int n, int a, int c, int t)
{
    MPI_Count found[4] = {-1, -1, -1, -1};
    int how = -1;
    MPI(MPI_Type_get_envelope_c(type, &found[0], &found[1], &found[2], &found[3], &how));
    if (found[0] != n || found[1] != a || found[2] != c || found[3] != t || how != combiner)
        check_failed(__FILE__, line, "combiner %d of %d integers, %d addresses, %d counts, %d types; expected %d of %d, %d, %d, %d", how,
                     (int) found[0], (int) found[1], (int) found[2], (int) found[3], combiner, n, a, c, t);
    memset(integers, 0x55, sizeof integers);
    memset(addresses, 0x55, sizeof addresses);
    memset(counts, 0x55, sizeof counts);
    if (combiner == MPI_COMBINER_NAMED)
        return;
    MPI(MPI_Type_get_contents_c(type, n, a, c, t, integers, addresses, counts, types));
    CHECK_INT(integers[n], 0x55555555);
    CHECK_INT(counts[c], 0x5555555555555555);
}
#define ENVELOPE(type, combiner, n, a, c, t) check_envelope(__LINE__, type, MPI_COMBINER_##combiner, n, a, c, t)

#define LIST(array, ...) do { \
        long long expected[] = {__VA_ARGS__}; \
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) \
            if (array[k] != expected[k]) \
                check_failed(__FILE__, __LINE__, "number %zu is %lld, expected %lld", k, (long long) array[k], expected[k]); } while (0)

static MPI_Datatype made;

static void done(int line)
{
    if (types[0] != MPI_INT)
        check_failed(__FILE__, line, "the type that it was made from is another one");
    MPI(MPI_Type_free(&made));
}
#define DONE() done(__LINE__)

static void small_forms(void)
{
    int lengths[2] = {3, 1}, where[2] = {7, -2};
    MPI_Aint at[2] = {70, -20};
    int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 3}, grid[2] = {2, 1};
    MPI(MPI_Type_contiguous(5, MPI_INT, &made));
    ENVELOPE(made, CONTIGUOUS, 1, 0, 0, 1);
    LIST(integers, 5);
    DONE();
    MPI(MPI_Type_vector(5, 2, -3, MPI_INT, &made));
    ENVELOPE(made, VECTOR, 3, 0, 0, 1);
    LIST(integers, 5, 2, -3);
    DONE();
    MPI(MPI_Type_create_hvector(5, 2, -30, MPI_INT, &made));
    ENVELOPE(made, HVECTOR, 2, 1, 0, 1);
    LIST(integers, 5, 2);
    LIST(addresses, -30);
    DONE();
    MPI(MPI_Type_indexed(2, lengths, where, MPI_INT, &made));
    ENVELOPE(made, INDEXED, 5, 0, 0, 1);
    LIST(integers, 2, 3, 1, 7, -2);
    DONE();
    MPI(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &made));
    ENVELOPE(made, HINDEXED, 3, 2, 0, 1);
    LIST(integers, 2, 3, 1);
    LIST(addresses, 70, -20);
    DONE();
    MPI(MPI_Type_create_indexed_block(2, 4, where, MPI_INT, &made));
    ENVELOPE(made, INDEXED_BLOCK, 4, 0, 0, 1);
    LIST(integers, 2, 4, 7, -2);
    DONE();
    MPI(MPI_Type_create_hindexed_block(2, 4, at, MPI_INT, &made));
    ENVELOPE(made, HINDEXED_BLOCK, 2, 2, 0, 1);
    LIST(integers, 2, 4);
    LIST(addresses, 70, -20);
    DONE();
    MPI(MPI_Type_create_struct(2, lengths, at, (MPI_Datatype[]) {MPI_INT, MPI_CHAR}, &made));
    ENVELOPE(made, STRUCT, 3, 2, 0, 2);
    LIST(integers, 2, 3, 1);
    LIST(addresses, 70, -20);
    CHECK(types[1] == MPI_CHAR);
    DONE();
    MPI(MPI_Type_create_resized(MPI_INT, -8, 40, &made));
    ENVELOPE(made, RESIZED, 0, 2, 0, 1);
    LIST(addresses, -8, 40);
    DONE();
    MPI(MPI_Type_dup(MPI_INT, &made));
    ENVELOPE(made, DUP, 0, 0, 0, 1);
    DONE();
    MPI(MPI_Type_create_subarray(2, (int[]) {8, 9}, (int[]) {2, 3}, (int[]) {1, 4}, MPI_ORDER_FORTRAN, MPI_INT, &made));
    ENVELOPE(made, SUBARRAY, 8, 0, 0, 1);
    LIST(integers, 2, 8, 9, 2, 3, 1, 4, MPI_ORDER_FORTRAN);
    DONE();
    MPI(MPI_Type_create_darray(2, 1, 2, (int[]) {8, 9}, how, arguments, grid, MPI_ORDER_C, MPI_INT, &made));
    ENVELOPE(made, DARRAY, 12, 0, 0, 1);
    LIST(integers, 2, 1, 2, 8, 9, how[0], how[1], arguments[0], 3, 2, 1, MPI_ORDER_C);
    DONE();
}

static void large_forms(void)
{
    MPI_Count lengths[2] = {3, 1}, at[2] = {70, -20}, sizes[2] = {8, 9}, part[2] = {2, 3}, starts[2] = {1, 4};
    int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 3}, grid[2] = {2, 1};
    MPI(MPI_Type_contiguous_c((MPI_Count) 1 << 33, MPI_INT, &made));
    ENVELOPE(made, CONTIGUOUS, 0, 0, 1, 1);
    LIST(counts, 1LL << 33);
    DONE();
    MPI(MPI_Type_vector_c(5, 2, -3, MPI_INT, &made));
    ENVELOPE(made, VECTOR, 0, 0, 3, 1);
    LIST(counts, 5, 2, -3);
    DONE();
    MPI(MPI_Type_create_hvector_c(5, 2, -30, MPI_INT, &made));
    ENVELOPE(made, HVECTOR, 0, 0, 3, 1);
    LIST(counts, 5, 2, -30);
    DONE();
    MPI(MPI_Type_indexed_c(2, lengths, at, MPI_INT, &made));
    ENVELOPE(made, INDEXED, 0, 0, 5, 1);
    LIST(counts, 2, 3, 1, 70, -20);
    DONE();
    MPI(MPI_Type_create_hindexed_c(2, lengths, at, MPI_INT, &made));
    ENVELOPE(made, HINDEXED, 0, 0, 5, 1);
    LIST(counts, 2, 3, 1, 70, -20);
    DONE();
    MPI(MPI_Type_create_indexed_block_c(2, 4, at, MPI_INT, &made));
    ENVELOPE(made, INDEXED_BLOCK, 0, 0, 4, 1);
    LIST(counts, 2, 4, 70, -20);
    DONE();
    MPI(MPI_Type_create_hindexed_block_c(2, 4, at, MPI_INT, &made));
    ENVELOPE(made, HINDEXED_BLOCK, 0, 0, 4, 1);
    LIST(counts, 2, 4, 70, -20);
    DONE();
    MPI(MPI_Type_create_struct_c(2, lengths, at, (MPI_Datatype[]) {MPI_INT, MPI_CHAR}, &made));
    ENVELOPE(made, STRUCT, 0, 0, 5, 2);
    LIST(counts, 2, 3, 1, 70, -20);
    DONE();
    MPI(MPI_Type_create_resized_c(MPI_INT, -8, 40, &made));
    ENVELOPE(made, RESIZED, 0, 0, 2, 1);
    LIST(counts, -8, 40);
    DONE();
    MPI(MPI_Type_create_subarray_c(2, sizes, part, starts, MPI_ORDER_FORTRAN, MPI_INT, &made));
    ENVELOPE(made, SUBARRAY, 2, 0, 6, 1);
    LIST(integers, 2, MPI_ORDER_FORTRAN);
    LIST(counts, 8, 9, 2, 3, 1, 4);
    DONE();
    MPI(MPI_Type_create_darray_c(2, 1, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_INT, &made));
    ENVELOPE(made, DARRAY, 10, 0, 2, 1);
    LIST(integers, 2, 1, 2, how[0], how[1], arguments[0], 3, 2, 1, MPI_ORDER_C);
    LIST(counts, 8, 9);
    DONE();
}

int main(int argc, char **argv)
{
    MPI_Datatype inner, outer, copy, back;
    MPI_Aint lower, extent;
    int position = 0, data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, packed[4] = {0};
    start(&argc, &argv);
    ENVELOPE(MPI_INT, NAMED, 0, 0, 0, 0);
    ENVELOPE(MPI_DOUBLE_INT, NAMED, 0, 0, 0, 0);
    ENVELOPE(MPI_2INT, NAMED, 0, 0, 0, 0);
    small_forms();
    large_forms();

    /* a derived type comes back as a new reference: it works when all others are gone, and has to be freed */
    MPI(MPI_Type_vector(2, 1, 3, MPI_INT, &inner));
    MPI(MPI_Type_contiguous(2, inner, &outer));
    MPI(MPI_Type_free(&inner));
    MPI(MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &back));
    MPI(MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &copy));
    MPI(MPI_Type_free(&outer));
    ENVELOPE(back, VECTOR, 3, 0, 0, 1);
    LIST(integers, 2, 1, 3);
    CHECK(types[0] == MPI_INT);
    MPI(MPI_Type_free(&copy));
    MPI(MPI_Type_get_extent(back, &lower, &extent));
    CHECK_INT(extent, 16);
    MPI(MPI_Type_commit(&back));
    MPI(MPI_Pack(data, 1, back, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK_INT(packed[0], 1);
    CHECK_INT(packed[1], 4);
    MPI(MPI_Type_free(&back));
    return finish();
}
