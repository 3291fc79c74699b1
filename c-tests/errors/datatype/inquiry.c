/* Wrong arguments of the functions that ask about a datatype, of its name, of addresses, and of the counts in a status. */
#include "wrong.h"

static void uses_of(MPI_Datatype wrong)
{
    int a, b, c, d, integers[4];
    MPI_Aint lower, extent, addresses[4];
    MPI_Count w, x, y, z, counts[4];
    MPI_Datatype types[4];
    MPI_Status status;
    char name[MPI_MAX_OBJECT_NAME];
    memset(&status, 0, sizeof status);
    ERROR(MPI_Type_size(wrong, &a), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_size_c(wrong, &w), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_size_x(wrong, &w), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_extent(wrong, &lower, &extent), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_extent_c(wrong, &w, &x), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_extent_x(wrong, &w, &x), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_true_extent(wrong, &lower, &extent), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_true_extent_c(wrong, &w, &x), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_true_extent_x(wrong, &w, &x), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_envelope(wrong, &a, &b, &c, &d), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_envelope_c(wrong, &w, &x, &y, &z, &d), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_contents(wrong, 4, 4, 4, integers, addresses, types), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_get_contents_c(wrong, 4, 4, 4, 4, integers, addresses, counts, types), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_set_name(wrong, "name"), MPI_ERR_TYPE, "datatype", NULL);
    if (wrong != MPI_DATATYPE_NULL) /* which has a name */
        ERROR(MPI_Type_get_name(wrong, name, &a), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_elements(&status, wrong, &a), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_elements_c(&status, wrong, &w), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_elements_x(&status, wrong, &w), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Get_count(&status, wrong, &a), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Status_set_elements(&status, wrong, 1), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Status_set_elements_x(&status, wrong, 1), MPI_ERR_TYPE, "datatype", NULL);
}

int main(int argc, char **argv)
{
    MPI_Datatype freed, vector, large, types[4];
    int a, b, c, d, integers[8];
    MPI_Aint lower, extent, addresses[8];
    MPI_Count w, x, z, counts[8];
    MPI_Status status;
    char name[MPI_MAX_OBJECT_NAME];
    start(&argc, &argv);
    return_errors();
    memset(&status, 0, sizeof status);
    uses_of(MPI_DATATYPE_NULL);
    uses_of((MPI_Datatype) MPI_COMM_WORLD);
    MPI(MPI_Type_contiguous(2, MPI_INT, &vector));
    freed = vector;
    MPI(MPI_Type_free(&vector));
    if (!reference)
        uses_of(freed);

    MPI(MPI_Type_vector(3, 1, 2, MPI_INT, &vector));
    ERROR(MPI_Type_get_extent(vector, NULL, &extent), MPI_ERR_ARG, "lb", NULL);
    ERROR(MPI_Type_get_extent(vector, &lower, NULL), MPI_ERR_ARG, "extent", NULL);
    ERROR(MPI_Type_get_true_extent(vector, NULL, &extent), MPI_ERR_ARG, "true_lb", NULL);
    ERROR(MPI_Type_get_true_extent(vector, &lower, NULL), MPI_ERR_ARG, "true_extent", NULL);
    ERROR(MPI_Type_size_x(vector, NULL), MPI_ERR_ARG, "size", NULL);
    ERROR(MPI_Type_get_envelope(vector, NULL, &b, &c, &d), MPI_ERR_ARG, "num_integers", NULL);
    ERROR(MPI_Type_get_envelope(vector, &a, NULL, &c, &d), MPI_ERR_ARG, "num_addresses", NULL);
    ERROR(MPI_Type_get_envelope(vector, &a, &b, NULL, &d), MPI_ERR_ARG, "num_datatypes", NULL);
    ERROR(MPI_Type_get_envelope(vector, &a, &b, &c, NULL), MPI_ERR_ARG, "combiner", NULL);
    ERROR(MPI_Type_get_envelope_c(vector, &w, &x, NULL, &z, &d), MPI_ERR_ARG, "num_large_counts", NULL);
    ERROR(MPI_Type_set_name(vector, NULL), MPI_ERR_ARG, "type_name", NULL);
    ERROR(MPI_Type_get_name(vector, NULL, &a), MPI_ERR_ARG, "type_name", NULL);
    ERROR(MPI_Type_get_name(vector, name, NULL), MPI_ERR_ARG, "resultlen", NULL);
    ERROR(MPI_Get_address(&a, NULL), MPI_ERR_ARG, "address", NULL);

    ERROR(MPI_Type_get_contents(MPI_INT, 8, 8, 4, integers, addresses, types), MPI_ERR_TYPE, "datatype", "MPI_INT");
    ERROR(MPI_Type_get_contents(MPI_DOUBLE_INT, 8, 8, 4, integers, addresses, types), MPI_ERR_TYPE, "datatype", "MPI_DOUBLE_INT");
    if (!reference) { /* which has MPI_ERR_OTHER or crashes */
        ERROR(MPI_Type_get_contents(vector, 2, 0, 1, integers, addresses, types), MPI_ERR_ARG, "max_integers", "2");
        ERROR(MPI_Type_get_contents(vector, -1, 0, 1, integers, addresses, types), MPI_ERR_ARG, "max_integers", "-1");
        ERROR(MPI_Type_get_contents(vector, 3, 0, 0, integers, addresses, types), MPI_ERR_ARG, "max_datatypes", "0");
        ERROR(MPI_Type_get_contents(vector, 3, 0, 1, NULL, addresses, types), MPI_ERR_ARG, "array_of_integers", NULL);
        ERROR(MPI_Type_get_contents(vector, 3, 0, 1, integers, addresses, NULL), MPI_ERR_ARG, "array_of_datatypes", NULL);
        MPI(MPI_Type_get_contents(vector, 3, 0, 1, integers, NULL, types));
        MPI(MPI_Type_create_resized_c(MPI_INT, 0, 8, &large));
        ERROR(MPI_Type_get_envelope(large, &a, &b, &c, &d), MPI_ERR_TYPE, "MPI_Type_get_envelope_c", NULL);
        ERROR(MPI_Type_get_contents(large, 8, 8, 4, integers, addresses, types), MPI_ERR_TYPE, "MPI_Type_get_contents_c", NULL);
        ERROR(MPI_Type_get_contents_c(large, 8, 8, 1, 4, integers, addresses, counts, types), MPI_ERR_ARG, "max_large_counts", "1");
        ERROR(MPI_Type_get_contents_c(large, 8, 8, 8, 4, integers, addresses, NULL, types), MPI_ERR_ARG, "array_of_large_counts", NULL);
        MPI(MPI_Type_free(&large));
        MPI(MPI_Type_create_hvector(1, 1, 8, MPI_INT, &large));
        ERROR(MPI_Type_get_contents(large, 2, 0, 1, integers, addresses, types), MPI_ERR_ARG, "max_addresses", "0");
        MPI(MPI_Type_free(&large));
        ERROR(MPI_Status_set_elements(&status, vector, -1), MPI_ERR_COUNT, "count", "-1");
        ERROR(MPI_Status_set_elements_x(&status, vector, -1), MPI_ERR_COUNT, "count", "-1");
        ERROR(MPI_Status_set_elements_x(&status, vector, INT64_MAX), MPI_ERR_COUNT, "count", number(INT64_MAX));
    }
    MPI(MPI_Type_free(&vector));
    return finish();
}
