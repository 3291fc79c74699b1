/* MPI_Type_get_value_index: the predefined pair of a value and an index, MPI_DATATYPE_NULL where there is none, and wrong arguments.
 */
#include "wrong.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const struct {
        MPI_Datatype value, index, pair;
    } known[] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_REAL, MPI_REAL, MPI_2REAL},
        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        MPI_Datatype pair = MPI_BYTE;
        MPI(MPI_Type_get_value_index(known[i].value, known[i].index, &pair));
        CHECK(pair == known[i].pair);
    }
    MPI_Datatype pair, made;
    MPI(MPI_Type_contiguous(1, MPI_DOUBLE, &made));
    MPI(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
    MPI(MPI_Type_get_value_index(made, MPI_INT, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);

    /* the pair is one for MPI_MAXLOC */
    struct {
        double value;
        int index;
    } a = {2.5, 7}, b = {2.5, 3};
    MPI(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    MPI(MPI_Reduce_local(&a, &b, 1, pair, MPI_MAXLOC));
    CHECK_INT(b.index, 3);

    return_errors();
    ERROR(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE, "value_type", "MPI_DATATYPE_NULL");
    ERROR(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair), MPI_ERR_TYPE, "index_type", "MPI_DATATYPE_NULL");
    ERROR(MPI_Type_get_value_index((MPI_Datatype) MPI_COMM_WORLD, MPI_INT, &pair), MPI_ERR_TYPE, "value_type", NULL);
    ERROR(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG, "pair_type", NULL);
    MPI(MPI_Type_free(&made));
    return finish();
}
