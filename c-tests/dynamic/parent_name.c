/* The name of the communicator that MPI_Comm_get_parent gives (MPI 5.0, 7.8), which the program may change. */
#include "spawned.h"

int main(int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = -1;
    start_family(&argc, &argv);
    if (!is_child) {
        MPI_Comm children = spawn(MPI_COMM_WORLD, 2, MPI_ARGV_NULL);
        part(&children);
        return finish_family();
    }
    MPI(MPI_Comm_get_name(parent, name, &length));
    CHECK_STRING(name, "MPI_COMM_PARENT");
    CHECK_INT(length, strlen("MPI_COMM_PARENT"));
    MPI(MPI_Comm_set_name(parent, "those before us"));
    MPI(MPI_Comm_get_name(parent, name, &length));
    CHECK_STRING(name, "those before us");
    return finish_family();
}
