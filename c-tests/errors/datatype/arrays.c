/* Wrong arguments of MPI_Type_create_subarray, MPI_Type_create_darray, the types of Fortran's kinds, match_size and value_index. */
#include "wrong.h"
#include <limits.h>

static MPI_Datatype made;

static void subarrays(void)
{
    int sizes[2] = {4, 6}, part[2] = {2, 3}, starts[2] = {1, 2}, zero[2] = {2, 0}, wide[2] = {2, 7}, less[2] = {0, -1}, far[2] = {1, 4};
    MPI_Count large[2] = {4, 6}, large_part[2] = {2, 7}, large_starts[2] = {0, 0};
    ERROR(MPI_Type_create_subarray(0, sizes, part, starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "ndims", "0");
    ERROR(MPI_Type_create_subarray(-1, sizes, part, starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "ndims", "-1");
    ERROR(MPI_Type_create_subarray(2, zero, part, (int[]) {0, 0}, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_sizes[1]", "0");
    ERROR(MPI_Type_create_subarray(2, sizes, zero, starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_subsizes[1]", "0");
    ERROR(MPI_Type_create_subarray(2, sizes, wide, starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_subsizes[1]", "7");
    ERROR(MPI_Type_create_subarray(2, sizes, part, less, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_starts[1]", "-1");
    ERROR(MPI_Type_create_subarray(2, sizes, part, far, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_starts[1]", "4");
    ERROR(MPI_Type_create_subarray_c(2, large, large_part, large_starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_subsizes[1]", "7");
    ERROR(MPI_Type_create_subarray(2, sizes, part, starts, 99, MPI_INT, &made), MPI_ERR_ARG, "order", "99");
    ERROR(MPI_Type_create_subarray(2, NULL, part, starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_sizes", NULL);
    ERROR(MPI_Type_create_subarray(2, sizes, NULL, starts, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_subsizes", NULL);
    ERROR(MPI_Type_create_subarray(2, sizes, part, NULL, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "array_of_starts", NULL);
    ERROR(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, NULL), MPI_ERR_ARG, "newtype", NULL);
    MPI_Count huge[3] = {INT_MAX, INT_MAX, INT_MAX}, small[3] = {1, 1, 1}, origin[3] = {0, 0, 0};
    ERROR(MPI_Type_create_subarray_c(3, huge, small, origin, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG, "2^63", NULL);
}

static void darrays(void)
{
    enum { B = MPI_DISTRIBUTE_BLOCK, C = MPI_DISTRIBUTE_CYCLIC, N = MPI_DISTRIBUTE_NONE, D = MPI_DISTRIBUTE_DFLT_DARG };
    int sizes[2] = {4, 6}, how[2] = {B, C}, arguments[2] = {D, 2}, grid[2] = {2, 2};
#define DARRAY(size, rank, ndims, sizes, how, arguments, grid, order, class_, name, value) \
    ERROR(MPI_Type_create_darray(size, rank, ndims, sizes, how, arguments, grid, order, MPI_INT, &made), class_, name, value)
    DARRAY(0, 0, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "size", "0");
    DARRAY(4, 4, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_ERR_RANK, "rank", "4");
    DARRAY(4, -1, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_ERR_RANK, "rank", "-1");
    DARRAY(4, 0, 0, sizes, how, arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "ndims", "0");
    DARRAY(4, 0, 2, ((int[]) {4, 0}), how, arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_gsizes[1]", "0");
    DARRAY(4, 0, 2, sizes, ((int[]) {B, 77}), arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_distribs[1]", "77");
    DARRAY(4, 0, 2, sizes, how, ((int[]) {D, 0}), grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_dargs[1]", "0");
    DARRAY(4, 0, 2, sizes, how, ((int[]) {1, 2}), grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_dargs[0]", "1");
    DARRAY(4, 0, 2, sizes, how, arguments, ((int[]) {4, 0}), MPI_ORDER_C, MPI_ERR_ARG, "array_of_psizes[1]", "0");
    DARRAY(4, 0, 2, sizes, how, arguments, ((int[]) {2, 3}), MPI_ORDER_C, MPI_ERR_ARG, "array_of_psizes", "6");
    DARRAY(4, 0, 2, sizes, ((int[]) {N, C}), arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_psizes[0]", "2");
    DARRAY(4, 0, 2, sizes, how, arguments, grid, 99, MPI_ERR_ARG, "order", "99");
    DARRAY(4, 0, 2, NULL, how, arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_gsizes", NULL);
    DARRAY(4, 0, 2, sizes, NULL, arguments, grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_distribs", NULL);
    DARRAY(4, 0, 2, sizes, how, NULL, grid, MPI_ORDER_C, MPI_ERR_ARG, "array_of_dargs", NULL);
    DARRAY(4, 0, 2, sizes, how, arguments, NULL, MPI_ORDER_C, MPI_ERR_ARG, "array_of_psizes", NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    subarrays();
    darrays();
    ERROR(MPI_Type_create_f90_real(34, 2, &made), MPI_ERR_ARG, "p", "34");
    ERROR(MPI_Type_create_f90_real(2, 4932, &made), MPI_ERR_ARG, "r", "4932");
    ERROR(MPI_Type_create_f90_real(-1, 2, &made), MPI_ERR_ARG, "p", "-1");
    ERROR(MPI_Type_create_f90_real(2, -1, &made), MPI_ERR_ARG, "r", "-1");
    ERROR(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &made), MPI_ERR_ARG, "MPI_UNDEFINED", NULL);
    ERROR(MPI_Type_create_f90_real(6, 30, NULL), MPI_ERR_ARG, "newtype", NULL);
    ERROR(MPI_Type_create_f90_complex(34, 2, &made), MPI_ERR_ARG, "p", "34");
    ERROR(MPI_Type_create_f90_complex(MPI_UNDEFINED, MPI_UNDEFINED, &made), MPI_ERR_ARG, "MPI_UNDEFINED", NULL);
    ERROR(MPI_Type_create_f90_integer(39, &made), MPI_ERR_ARG, "r", "39");
    ERROR(MPI_Type_create_f90_integer(-1, &made), MPI_ERR_ARG, "r", "-1");
    ERROR(MPI_Type_create_f90_integer(MPI_UNDEFINED, &made), MPI_ERR_ARG, "r", NULL);
    ERROR(MPI_Type_create_f90_integer(9, NULL), MPI_ERR_ARG, "newtype", NULL);
    MPI(MPI_Type_create_f90_integer(9, &made));
    ERROR(MPI_Type_free(&made), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Type_match_size(99, 4, &made), MPI_ERR_ARG, "typeclass", "99");
    ERROR(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &made), MPI_ERR_ARG, "size", "3");
    ERROR(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, NULL), MPI_ERR_ARG, "datatype", NULL);
    return finish();
}
