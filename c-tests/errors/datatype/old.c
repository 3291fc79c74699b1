/* Wrong arguments of the forms of MPI-1, which the standard removed and programs still call. */
#include "wrong.h"

int MPI_Address(void *location, MPI_Aint *address);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_hindexed(int count, int *lengths, MPI_Aint *places, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_struct(int count, int *lengths, MPI_Aint *places, MPI_Datatype *types, MPI_Datatype *newtype);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    MPI_Datatype made, gone, none = MPI_DATATYPE_NULL, foreign = (MPI_Datatype) MPI_COMM_WORLD;
    MPI_Aint place, places[2] = {0, 16};
    int lengths[2] = {1, 1}, wrong[2] = {1, -2}, number;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, bad[2] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI(MPI_Type_contiguous(2, MPI_INT, &made));
    gone = made;
    MPI(MPI_Type_free(&made));

    ERROR(MPI_Type_hvector(-1, 1, 8, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_hvector(1, -3, 8, MPI_INT, &made), MPI_ERR_COUNT, "blocklength", "-3");
    ERROR(MPI_Type_hvector(1, 1, 8, none, &made), MPI_ERR_TYPE, "oldtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Type_hvector(1, 1, 8, foreign, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_hvector(1, 1, 8, gone, &made), MPI_ERR_TYPE, "oldtype", NULL);
    ERROR(MPI_Type_hvector(1, 1, 8, MPI_INT, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_hvector(3, 1, INTPTR_MAX / 2, MPI_INT, &made), MPI_ERR_ARG, "2^63", NULL);
    ERROR(MPI_Type_hindexed(-1, lengths, places, MPI_INT, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_hindexed(2, wrong, places, MPI_INT, &made), MPI_ERR_COUNT, "array_of_blocklengths[1]", "-2");
    ERROR(MPI_Type_hindexed(2, NULL, places, MPI_INT, &made), MPI_ERR_ARG, "array_of_blocklengths", NULL);
    ERROR(MPI_Type_hindexed(2, lengths, NULL, MPI_INT, &made), MPI_ERR_ARG, "array_of_displacements", NULL);
    ERROR(MPI_Type_hindexed(2, lengths, places, none, &made), MPI_ERR_TYPE, "oldtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Type_struct(-1, lengths, places, types, &made), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Type_struct(2, wrong, places, types, &made), MPI_ERR_COUNT, "array_of_blocklengths[1]", "-2");
    ERROR(MPI_Type_struct(2, lengths, places, bad, &made), MPI_ERR_TYPE, "array_of_types[1]", NULL);
    ERROR(MPI_Type_struct(2, lengths, places, NULL, &made), MPI_ERR_ARG, "array_of_types", NULL);
    ERROR(MPI_Type_struct(2, lengths, places, types, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_extent(none, &place), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Type_extent(MPI_INT, NULL), MPI_ERR_ARG, "extent", NULL);
    ERROR(MPI_Type_lb(gone, &place), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_lb(MPI_INT, NULL), MPI_ERR_ARG, "displacement", NULL);
    ERROR(MPI_Type_ub(foreign, &place), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_ub(MPI_INT, NULL), MPI_ERR_ARG, "displacement", NULL);
    ERROR(MPI_Address(&number, NULL), MPI_ERR_ARG, "address", NULL);
    return finish();
}
