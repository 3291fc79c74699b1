/* The exit code of a job with one that it has spawned, and that is connected: survivors of either count, and only where there are none that of the
 * first death. Arguments: who dies ("children", "parents", "both", "nobody"), the code of the first one that is left after MPI_Finalize, and
 * "parted" if the jobs disconnect first, or "freed" if those that are left free all that connects them to the dead. */
#include "failing.h"
#include "spawned.h"

enum { CHILDREN = 2 };

int main(int argc, char **argv)
{
    MPI_Comm family, merged, left;
    int count, all, me;
    start_family(&argc, &argv);
    const char *who = argv[1];
    int code = atoi(argv[2]), parts = argc > 3 && !strcmp(argv[3], "parted");
    char *words[] = {argv[1], argv[2], argv[3], NULL};
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    family = is_child ? parent : spawn(MPI_COMM_WORLD, CHILDREN, words);
    MPI(MPI_Intercomm_merge(family, is_child, &merged));
    MPI(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_size(merged, &all));
    int dies = !strcmp(who, "both") || !strcmp(who, is_child ? "children" : "parents");
    int is_left = strcmp(who, "both") && !dies, dead = strcmp(who, "nobody") ? all - (is_child ? CHILDREN : size) : 0;
    before_deaths(merged, dies && !parts);
    if (parts) {
        MPI(MPI_Comm_disconnect(&merged));
        MPI(MPI_Comm_disconnect(&family));
    }
    if (dies)
        raise(SIGKILL);
    if (is_left && !parts) {
        for (count = 0; count < dead; usleep(1000)) {
            MPI_Group group;
            MPI(MPIX_Comm_get_failed(merged, &group));
            MPI(MPI_Group_size(group, &count));
            if (group != MPI_GROUP_EMPTY)
                MPI(MPI_Group_free(&group));
        }
        MPI(MPIX_Comm_shrink(merged, &left));
        MPI(MPI_Comm_rank(left, &me));
        MPI(MPI_Comm_size(left, &count));
        CHECK_INT(count, all - dead);
        MPI(MPI_Comm_free(&left));
        MPI(MPI_Comm_free(&merged));
        if (argc > 3) {
            MPI(MPI_Comm_free(&family));
            usleep(300000);
        }
    } else {
        me = rank;
    }
    MPI(MPI_Finalize());
    if (check_failures)
        return 95;
    if (code)
        return me == 0 ? code : 0;
    return is_child ? 0 : conclude();
}
