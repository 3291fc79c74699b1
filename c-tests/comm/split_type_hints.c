/* MPI_Comm_split_type by what an info says. The info is a hint: where it is missing, unknown or not the same on all ranks, it is
 * ignored, and there is nothing to split by. The neighborhoods of MPICH are split by a directory that the ranks see, or by the network. */
#include "check.h"

/* The communicator that comes of a value on the even ranks and one on the odd ranks; NULL: no such key. Checks its size. */
static void split(int line, int type, const char *key, const char *even, const char *odd, int expected)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info info;
    int found = 0;
    const char *value = rank % 2 ? odd : even;
    MPI(MPI_Info_create(&info));
    if (value)
        MPI(MPI_Info_set(info, key, value));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &comm));
    if (comm != MPI_COMM_NULL) {
        MPI(MPI_Comm_size(comm, &found));
        MPI(MPI_Barrier(comm));
        MPI(MPI_Comm_free(&comm));
    }
    if (found != expected)
        check_failed(__FILE__, line, "type %d, %s is %s and %s: a communicator of %d, expected %d", type, key, even ? even : "missing",
                     odd ? odd : "missing", found, expected);
    MPI(MPI_Info_free(&info));
}
#define SPLIT(...) split(__LINE__, __VA_ARGS__)

int main(int argc, char **argv)
{
    static const char *hardware = "mpi_hw_resource_type", *set = "mpi_pset_name", *directory = "nbhd_common_dirname";
    MPI_Comm comm;
    start(&argc, &argv);
    for (int type = MPI_COMM_TYPE_HW_GUIDED; type <= MPI_COMM_TYPE_RESOURCE_GUIDED; type += MPI_COMM_TYPE_RESOURCE_GUIDED - MPI_COMM_TYPE_HW_GUIDED) {
        SPLIT(type, hardware, "mpi_shared_memory", "mpi_shared_memory", size);
        SPLIT(type, hardware, "Machine", "hwloc://machine", size);
        SPLIT(type, hardware, NULL, NULL, 0);
        SPLIT(type, hardware, "a coffee machine", "a coffee machine", 0);
        if (size > 1) {
            SPLIT(type, hardware, "mpi_shared_memory", NULL, 0);
            SPLIT(type, hardware, "mpi_shared_memory", "a coffee machine", 0);
            SPLIT(type, hardware, "Machine", "mpi_shared_memory", 0);
            SPLIT(type, hardware, "Machine", "Core", 0);
        }
    }
    SPLIT(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://WORLD", "mpi://WORLD", size);
    SPLIT(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://SELF", "mpi://SELF", 1);
    SPLIT(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "app://nothing", "app://nothing", 0);
    /* process sets are no hardware */
    SPLIT(MPI_COMM_TYPE_HW_GUIDED, set, "mpi://WORLD", "mpi://WORLD", 0);
    if (size > 1) {
        SPLIT(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://WORLD", "mpi://SELF", 0);
        SPLIT(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://WORLD", NULL, 0);
    }
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
    SPLIT(MPIX_COMM_TYPE_NEIGHBORHOOD, directory, "/", "/", size);
    SPLIT(MPIX_COMM_TYPE_NEIGHBORHOOD, directory, "/nothing/there", "/nothing/there", 0);
    SPLIT(MPIX_COMM_TYPE_NEIGHBORHOOD, "network_topo", "switch_level:1", "switch_level:1", size);
    SPLIT(MPIX_COMM_TYPE_NEIGHBORHOOD, "other", "1", "1", 0);
    if (size > 1) {
        SPLIT(MPIX_COMM_TYPE_NEIGHBORHOOD, directory, "/", "/dev", 0);
        SPLIT(MPIX_COMM_TYPE_NEIGHBORHOOD, directory, "/", NULL, 0);
        /* the number of neighborhoods in MPICH 4.0 */
        SPLIT(MPI_COMM_TYPE_RESOURCE_GUIDED, directory, "/", "/", size);
    }
    /* who wants nothing has no say */
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, directory, "/"));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : MPIX_COMM_TYPE_NEIGHBORHOOD, 0, rank % 2 ? MPI_INFO_NULL : info, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank % 2));
    if (comm != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&comm));
    MPI(MPI_Info_free(&info));
    return finish();
}
