/* Operations of the program: what the function is given, order, derived types with holes, buffers that interleave, the large
 * form, a function by Fortran's conventions, an operation that is freed while it is known. */
#include "check.h"

struct point { int x; char tag; int y; };

static int calls;
static long long seen;
static void *seen_in, *seen_inout;
static MPI_Datatype seen_type;

/* inout = 10 * in + inout: does not commute */
static void digits(void *in, void *inout, int *count, MPI_Datatype *type)
{
    calls++;
    seen = *count;
    seen_in = in, seen_inout = inout, seen_type = *type;
    for (int i = 0; i < *count; i++)
        ((int *) inout)[i] += 10 * ((int *) in)[i];
}

static void points(void *in, void *inout, int *count, MPI_Datatype *type)
{
    seen_in = in, seen_type = *type;
    for (int i = 0; i < *count; i++) {
        ((struct point *) inout)[i].x += ((struct point *) in)[i].x;
        ((struct point *) inout)[i].y *= ((struct point *) in)[i].y;
    }
}

#if MPI_VERSION >= 4
static void large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    (void) type;
    seen = *count;
    for (MPI_Count i = 0; i < *count; i++)
        ((int *) inout)[i] -= ((int *) in)[i];
}
#endif

/* As a Fortran compiler makes it: all by address, handles are integers. */
static void fortran_(void *in, void *inout, MPI_Fint *length, MPI_Fint *type)
{
    CHECK(MPI_Type_f2c(*type) == MPI_INT);
    for (MPI_Fint i = 0; i < *length; i++)
        ((int *) inout)[i] = ((int *) in)[i] - ((int *) inout)[i];
}

/* Of each row, the second column is reduced by the first. */
static void column(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lower, extent;
    MPI(MPI_Type_get_extent(*type, &lower, &extent));
    for (int i = 0; i < *count; i++)
        *(int *) ((char *) inout + i * extent) += *(int *) ((char *) in + i * extent);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    int flag = -1, a[100], b[100];
    start(&argc, &argv);
    MPI(MPI_Op_create(digits, 0, &op));
    CHECK(op != MPI_OP_NULL);
    MPI(MPI_Op_commutative(op, &flag));
    CHECK_INT(flag, 0);
    for (int i = 0; i < 100; i++)
        a[i] = i % 7, b[i] = i % 3;
    MPI(MPI_Reduce_local(a, b, 100, MPI_INT, op));
    for (int i = 0; i < 100; i++)
        CHECK_INT(b[i], i % 7 * 10 + i % 3);
    CHECK_INT(calls, 1);
    CHECK_INT(seen, 100);
    CHECK(seen_in == a && seen_inout == b && seen_type == MPI_INT);
    MPI(MPI_Reduce_local(a, b, 0, MPI_INT, op));
    MPI(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);

    MPI(MPI_Op_create(points, 7, &op));
    MPI(MPI_Op_commutative(op, &flag));
    CHECK_INT(flag, 1);
    MPI_Datatype record, type;
    struct point p[9], q[9];
    MPI(MPI_Type_create_struct(2, (int[]) {1, 1}, (MPI_Aint[]) {0, 8}, (MPI_Datatype[]) {MPI_INT, MPI_INT}, &record));
    MPI(MPI_Type_create_resized(record, 0, sizeof(struct point), &type));
    MPI(MPI_Type_commit(&type));
    for (int i = 0; i < 9; i++)
        p[i] = (struct point) {i, 'p', 2}, q[i] = (struct point) {1, 'q', i};
    MPI(MPI_Reduce_local(p, q, 9, type, op));
    for (int i = 0; i < 9; i++)
        CHECK(q[i].x == i + 1 && q[i].tag == 'q' && q[i].y == 2 * i);
    CHECK(seen_in == p && seen_type == type);

    /* a type that counts from before its data, elements backwards */
    MPI_Datatype back, backwards;
    MPI(MPI_Type_create_hindexed(1, (int[]) {1}, (MPI_Aint[]) {-4}, MPI_INT, &back));
    MPI(MPI_Type_create_resized(back, 0, -8, &backwards));
    MPI(MPI_Type_commit(&backwards));
    MPI_Op take;
    MPI(MPI_Op_create(column, 1, &take));
    for (int i = 0; i < 20; i++)
        a[i] = i, b[i] = 100 * i;
    MPI(MPI_Type_free(&back));
    MPI(MPI_Reduce_local(a + 19, b + 19, 5, backwards, take));
    for (int i = 0; i < 20; i++)
        CHECK_INT(b[i], i >= 11 && i % 2 == 1 ? 101 * i : 100 * i);
    MPI(MPI_Type_free(&backwards));

    /* two columns of one matrix: the buffers interleave and do not overlap */
    MPI_Datatype strided;
    MPI(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &strided));
    MPI(MPI_Type_commit(&strided));
    for (int i = 0; i < 60; i++)
        a[i] = i;
    MPI(MPI_Reduce_local(a, a + 2, 20, strided, take));
    for (int i = 0; i < 60; i++)
        CHECK_INT(a[i], i % 3 == 2 ? 2 * i - 2 : i);
    MPI(MPI_Type_free(&strided));
    MPI(MPI_Op_free(&take));
    MPI(MPI_Op_free(&op));

#if MPI_VERSION >= 4
    MPI(MPI_Op_create_c(large, 1, &op));
    for (int i = 0; i < 100; i++)
        a[i] = 1, b[i] = i;
    MPI(MPI_Reduce_local(a, b, 100, MPI_INT, op));
    MPI(MPI_Reduce_local_c(a, b, 100, MPI_INT, op));
    CHECK_INT(seen, 100);
    CHECK_INT(b[99], 97);
    MPI(MPI_Op_free(&op));
#endif
    MPI(MPI_Op_create((MPI_User_function *) (void (*)(void)) fortran_, 1, &op));
    CHECK(MPI_Op_f2c(MPI_Op_c2f(op)) == op);
    a[0] = 40, b[0] = 2;
    MPI(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_Op_f2c(MPI_Op_c2f(op))));
    CHECK_INT(b[0], 38);
    MPI(MPI_Op_free(&op));

    /* handles are used again, and others stay what they are */
    MPI_Op many[300];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 300; i++)
            MPI(MPI_Op_create(i % 2 ? digits : column, i % 2, &many[i]));
        for (int i = 0; i < 300; i++) {
            MPI(MPI_Op_commutative(many[i], &flag));
            CHECK_INT(flag, i % 2);
        }
        for (int i = 0; i < 300; i++)
            MPI(MPI_Op_free(&many[i]));
    }
    MPI(MPI_Type_free(&record));
    MPI(MPI_Type_free(&type));
    return finish();
}
