/* What is said about the ABI and about Fortran (MPI 5.0, chapter 20): also before MPI_Init; what disagrees cannot be set. */
#include "wrong.h"

static void check_size(MPI_Info info, const char *key, MPI_Datatype datatype)
{
    char value[64] = "";
    int length = sizeof value, flag, bytes;
    MPI(MPI_Type_size(datatype, &bytes));
    MPI(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT(atoi(value), bytes);
}

int main(int argc, char **argv)
{
    MPI_Info info, early, wrong;
    int yes = 7, no = 7, set = 0, length = 8, flag;
    char value[8];
    long long wide_yes = -1, wide_no = -1;
    MPI_Abi_get_info(&early);
    start(&argc, &argv);
    return_errors();
    check_size(early, "mpi_aint_size", MPI_AINT);
    check_size(early, "mpi_count_size", MPI_COUNT);
    check_size(early, "mpi_offset_size", MPI_OFFSET);
    MPI(MPI_Info_free(&early));
    MPI(MPI_Abi_get_fortran_info(&info));
    check_size(info, "mpi_logical_size", MPI_LOGICAL);
    check_size(info, "mpi_integer_size", MPI_INTEGER);
    check_size(info, "mpi_real_size", MPI_REAL);
    check_size(info, "mpi_double_precision_size", MPI_DOUBLE_PRECISION);
    MPI(MPI_Info_get_string(info, "mpi_real8_supported", &length, value, &flag));
    CHECK_STRING(value, "true");
    MPI(MPI_Abi_set_fortran_info(info));
    MPI(MPI_Info_dup(info, &wrong));
    MPI(MPI_Info_set(wrong, "mpi_integer_size", "8"));
    ERROR(MPI_Abi_set_fortran_info(wrong), MPI_ERR_ABI, "mpi_integer_size", "8");
    ERROR(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_INFO, "info", NULL);
    MPI(MPI_Info_free(&wrong));
    MPI(MPI_Info_free(&info));

    MPI(MPI_Abi_get_fortran_booleans((int) sizeof(int), &yes, &no, &set));
    CHECK_INT(set, 1);
    CHECK_INT(yes, 1);
    CHECK_INT(no, 0);
    MPI(MPI_Abi_get_fortran_booleans((int) sizeof wide_yes, &wide_yes, &wide_no, &set));
    CHECK_INT(wide_yes, 1);
    CHECK_INT(wide_no, 0);
    MPI(MPI_Abi_set_fortran_booleans((int) sizeof(int), &yes, &no));
    ERROR(MPI_Abi_set_fortran_booleans(4, &yes, NULL), MPI_ERR_ARG, "logical_false", NULL);
    yes = -1;
    ERROR(MPI_Abi_set_fortran_booleans((int) sizeof(int), &yes, &no), MPI_ERR_ABI, "logical_true", NULL);
    ERROR(MPI_Abi_get_fortran_booleans(3, &yes, &no, &set), MPI_ERR_ARG, "logical_size", "3");
    ERROR(MPI_Abi_get_fortran_booleans(4, NULL, &no, &set), MPI_ERR_ARG, "logical_true", NULL);
    ERROR(MPI_Abi_get_fortran_booleans(4, &yes, &no, NULL), MPI_ERR_ARG, "is_set", NULL);
    ERROR(MPI_Abi_get_info(NULL), MPI_ERR_ARG, "info", NULL);
    ERROR(MPI_Abi_get_fortran_info(NULL), MPI_ERR_ARG, "info", NULL);
    return finish();
}
