/* Hints of communicators: set, kept, given by dup_with_info and idup_with_info. */
#include "check.h"

static int has(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[100] = "";
    int flag;
    MPI(MPI_Comm_get_info(comm, &info));
    MPI(MPI_Info_get(info, key, 99, value, &flag));
    MPI(MPI_Info_free(&info));
    return flag && !strcmp(value, expected);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Comm dup, other;
    start(&argc, &argv);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup));
    CHECK(has(dup, "mpi_assert_no_any_tag", "true"));
    CHECK(!has(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "true"));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    CHECK(has(dup, "mpi_assert_no_any_tag", "true"));
    MPI(MPI_Comm_set_info(dup, info));
    CHECK(has(dup, "mpi_assert_no_any_tag", "false"));
    MPI(MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &other));
    CHECK(has(other, "mpi_assert_no_any_tag", "false")); /* the hints given replace those of the parent */
    MPI(MPI_Comm_free(&other));
    /* Defaults are told; what is not known, and what is no value, is not. */
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_source", "perhaps"));
    MPI(MPI_Info_set(info, "such_a_key", "true"));
    MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &other));
    MPI(MPI_Comm_set_info(other, info));
    CHECK(has(other, "mpi_assert_no_any_tag", "true"));
    if (!reference) { /* Debian's MPICH knows few of them */
        CHECK(has(other, "mpi_assert_no_any_source", "false"));
        CHECK(!has(other, "such_a_key", "true"));
        CHECK(has(MPI_COMM_WORLD, "mpi_assert_exact_length", "false"));
        CHECK(has(MPI_COMM_WORLD, "mpi_memory_alloc_kinds", "mpi,system"));
    }
    MPI(MPI_Comm_free(&other));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    MPI(MPI_Comm_idup_with_info(dup, info, &other, &request));
    MPI(MPI_Info_set(info, "mpi_assert_exact_length", "false"));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(has(other, "mpi_assert_exact_length", "true"));
    MPI(MPI_Comm_free(&other));
#endif
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Info_free(&info));
    return finish();
}
