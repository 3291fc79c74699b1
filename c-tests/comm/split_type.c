/* MPI_Comm_split_type: shared memory, and the hardware kinds as far as every machine has them. */
#include "check.h"

static void check_new(MPI_Comm comm, int expected_rank, int expected_size)
{
    int r, s;
    MPI(MPI_Comm_rank(comm, &r));
    MPI(MPI_Comm_size(comm, &s));
    CHECK_INT(r, expected_rank);
    CHECK_INT(s, expected_size);
    MPI(MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, inner;
    start(&argc, &argv);
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    check_new(comm, rank, size);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm));
    check_new(comm, size - 1 - rank, size);
    /* who says MPI_UNDEFINED gets nothing */
    MPI(MPI_Comm_split_type(comm, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &inner));
    CHECK((inner == MPI_COMM_NULL) == (rank % 2 == 1));
    if (rank % 2 == 0) {
        check_new(inner, rank / 2, (size + 1) / 2);
        MPI(MPI_Comm_free(&inner));
    }
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
#if MPI_VERSION >= 4
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
    CHECK(comm != MPI_COMM_NULL);
    if (comm != MPI_COMM_NULL) {
        check_new(comm, rank, size);
        MPI(MPI_Comm_free(&comm));
    }
    MPI(MPI_Info_set(info, "mpi_hw_resource_type", "a coffee machine"));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
    if (!reference) {
        MPI(MPI_Info_set(info, "mpi_hw_resource_type", "machine"));
        MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, -rank, info, &comm));
        check_new(comm, size - 1 - rank, size);
        MPI(MPI_Comm_free(&comm));
    }
    /* strict subsets, until there are none */
    MPI(MPI_Info_delete(info, "mpi_hw_resource_type"));
    comm = MPI_COMM_WORLD;
    for (int level = 0; comm != MPI_COMM_NULL; level++) {
        int all, some, flag;
        char value[100];
        CHECK(level < 20);
        MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, reference ? MPI_INFO_NULL : info, &inner));
        if (inner != MPI_COMM_NULL) {
            MPI(MPI_Comm_size(comm, &all));
            MPI(MPI_Comm_size(inner, &some));
            CHECK(some < all);
            if (!reference) {
                MPI(MPI_Info_get(info, "mpi_hw_resource_type", 99, value, &flag));
                CHECK(flag && !strncmp(value, "hwloc://", 8));
            }
        }
        if (comm != MPI_COMM_WORLD)
            MPI(MPI_Comm_free(&comm));
        comm = inner;
    }
    MPI(MPI_Info_free(&info));
#endif
#ifdef MPI_COMM_TYPE_RESOURCE_GUIDED
    if (!reference) {
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "mpi_pset_name", "MPI://self"));
        MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm));
        check_new(comm, 0, 1);
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
        MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm));
        check_new(comm, rank, size);
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Info_free(&info));
    }
#endif
    return finish();
}
