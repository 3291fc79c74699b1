/* Wrong arguments of operations and MPI_Reduce_local. */
#include "wrong.h"

static void nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in, (void) inout, (void) count, (void) type;
}

int main(int argc, char **argv)
{
    MPI_Op op, freed;
    int a[4] = {1, 2, 3, 4}, b[4] = {0}, flag;
    char text[MPI_MAX_ERROR_STRING];
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG, "user_fn", NULL);
    ERROR(MPI_Op_create(nothing, 1, NULL), MPI_ERR_ARG, "op", NULL);
    MPI(MPI_Op_create(nothing, 1, &op));
    freed = op;
    MPI(MPI_Op_free(&op));
    ERROR(MPI_Op_free(&freed), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Op_commutative(freed, &flag), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Reduce_local(a, b, 4, MPI_INT, freed), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Op_create_c(NULL, 1, &op), MPI_ERR_ARG, "user_fn", NULL);
    ERROR(MPIX_Op_create_x(NULL, NULL, 1, NULL, &op), MPI_ERR_ARG, "user_fn", NULL);
    ERROR(MPI_Reduce_local(a, b, 4, MPI_INT, MPIX_EQUAL), MPI_ERR_OP, "op", "MPIX_EQUAL");
    op = MPI_OP_NULL;
    ERROR(MPI_Op_free(&op), MPI_ERR_OP, "op", NULL);
    op = MPI_SUM;
    ERROR(MPI_Op_free(&op), MPI_ERR_OP, "op", "MPI_SUM");
    ERROR(MPI_Op_free(NULL), MPI_ERR_ARG, "op", NULL);
    ERROR(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Op_commutative((MPI_Op) MPI_INT, &flag), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG, "commute", NULL);

    ERROR(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Reduce_local_c(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Reduce_local(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Reduce_local(NULL, b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "inbuf", NULL);
    ERROR(MPI_Reduce_local(a, NULL, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "inoutbuf", NULL);
    ERROR(MPI_Reduce_local(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "inbuf", NULL);
    ERROR(MPI_Reduce_local(a, a, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "inbuf", NULL);
    ERROR(MPI_Reduce_local(a, a + 1, 3, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "inbuf", NULL);

    /* what the standard does not define, and both names in the text */
    static const struct { MPI_Op op; const char *name; } arithmetic[] = {{MPI_SUM, "MPI_SUM"}, {MPI_MAX, "MPI_MAX"}},
        logical[] = {{MPI_LAND, "MPI_LAND"}, {MPI_LXOR, "MPI_LXOR"}}, bitwise[] = {{MPI_BAND, "MPI_BAND"}, {MPI_BXOR, "MPI_BXOR"}},
        located[] = {{MPI_MAXLOC, "MPI_MAXLOC"}, {MPI_MINLOC, "MPI_MINLOC"}};
    static const struct { MPI_Datatype type; const char *name; int arithmetic, logical, bitwise, located; } types[] = {
        {MPI_DOUBLE, "MPI_DOUBLE", 2, 2, 0, 0}, {MPI_BYTE, "MPI_BYTE", 0, 0, 2, 0}, {MPI_C_BOOL, "MPI_C_BOOL", 0, 2, 0, 0},
        {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", 1, 0, 0, 0}, {MPI_2INT, "MPI_2INT", 0, 0, 0, 2},
        {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 0, 0, 0, 2}, {MPI_INT, "MPI_INT", 2, 2, 2, 0}, {MPI_PACKED, "MPI_PACKED", 0, 0, 0, 0},
        {MPI_WCHAR, "MPI_WCHAR", 0, 0, 0, 0}, {MPI_CHARACTER, "MPI_CHARACTER", 0, 0, 0, 0}, {MPI_LOGICAL, "MPI_LOGICAL", 0, 2, 0, 0},
    };
    static long double x[4], y[4];
#define KIND(kind) \
    for (int o = 0; o < 2; o++) { \
        int code = MPI_Reduce_local(x, y, 1, types[t].type, kind[o].op), length; \
        if (o < types[t].kind) \
            CHECK_INT(code, MPI_SUCCESS); \
        else { \
            CHECK_INT(check_class_of(code), MPI_ERR_OP); \
            MPI(MPI_Error_string(code, text, &length)); \
            CHECK(strstr(text, kind[o].name) && strstr(text, types[t].name)); \
        } \
    }
    for (int t = 0; t < (int) (sizeof types / sizeof *types); t++) {
        KIND(arithmetic)
        KIND(logical)
        KIND(bitwise)
        KIND(located)
    }
    ERROR(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP, "op", "MPI_REPLACE");
    ERROR(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP, "op", "MPI_NO_OP");
    ERROR(MPI_Reduce_local(a, b, 0, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP, "op", NULL);

    MPI_Datatype derived;
    MPI(MPI_Type_contiguous(2, MPI_INT, &derived));
    ERROR(MPI_Reduce_local(a, b, 1, derived, MPI_SUM), MPI_ERR_TYPE, "datatype", NULL);
    MPI(MPI_Type_commit(&derived));
    ERROR(MPI_Reduce_local(a, b, 1, derived, MPI_SUM), MPI_ERR_OP, "op", "MPI_SUM");
    MPI(MPI_Type_set_name(derived, "two ints"));
    ERROR(MPI_Reduce_local(a, b, 1, derived, MPI_SUM), MPI_ERR_OP, "op", "two ints");
    MPI(MPI_Type_free(&derived));
    return finish();
}
