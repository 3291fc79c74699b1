/* A group of parents and children makes a communicator without a parent while they are connected. After they have left each other it is
 * MPI_ERR_GROUP on both sides, for an intercommunicator of two groups, too; and each side alone goes on. */
#include "spawned.h"

int main(int argc, char **argv)
{
    MPI_Comm children, all, made = MPI_COMM_NULL;
    MPI_Group group, mine, theirs, world;
    int flag = 0;
    start_family(&argc, &argv);
    return_errors();
    children = is_child ? parent : spawn(MPI_COMM_WORLD, 2, MPI_ARGV_NULL);
    MPI(MPI_Intercomm_merge(children, is_child, &all));
    MPI(MPI_Comm_group(all, &group));
    MPI(MPI_Comm_group(children, &mine));
    MPI(MPI_Comm_remote_group(children, &theirs));
    MPI(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    MPI(MPI_Barrier(made));
    MPI(MPI_Comm_disconnect(&made));
    MPI(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    MPI(MPI_Comm_test_inter(made, &flag));
    CHECK(flag);
    talk(made, 100, is_child);
    MPI(MPI_Comm_disconnect(&made));
    MPI(MPI_Comm_disconnect(&all));
    part(&children);
    parent = MPI_COMM_NULL;
    ERROR(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_GROUP, "group", NULL);
    int code = MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    CHECK(check_class_of(code) == MPI_ERR_GROUP || (rank > 0 && check_class_of(code) == MPI_ERR_OTHER));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Comm_create_from_group(world, "own", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    MPI(MPI_Barrier(made));
    MPI(MPI_Comm_free(&made));
    MPI(MPI_Group_free(&world));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&mine));
    MPI(MPI_Group_free(&theirs));
    return finish_family();
}
