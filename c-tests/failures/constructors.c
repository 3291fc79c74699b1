/* A constructor that raises because a process has died, or because the communicator was revoked, gives MPI_COMM_NULL (MPI_WIN_NULL), whatever the
 * variable was before. Arguments: "kill" or "revoke". */
#include "failing.h"

static int class, made;

static void look(const char *call, int code, MPI_Comm *new)
{
    if (code == MPI_SUCCESS) {
        /* Of some the others need not be asked. */
        made++;
        MPI(MPI_Comm_free(new));
        return;
    }
    if (*new != MPI_COMM_NULL)
        check_failed(__FILE__, __LINE__, "a communicator in spite of the error: %s", call);
    if (check_class_of(code) != class)
        check_failed(__FILE__, __LINE__, "error class %d of %s", check_class_of(code), call);
}

#define LOOK(call)                        \
    do {                                  \
        MPI_Comm new = MPI_COMM_SELF;     \
        int code_ = call;                 \
        look(#call, code_, &new);         \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Comm comm, half, inter, grid;
    MPI_Group group, all;
    MPI_Win win = MPI_WIN_NULL;
    int sizes[1], periods[1] = {1}, index[64], edges[64], keep[1] = {1}, x;
    void *base;
    start_failing(&argc, &argv);
    int kills = !strcmp(argv[1], "kill");
    class = kills ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2, rank, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank >= size / 2 ? 0 : size / 2, 9, &inter));
    sizes[0] = size;
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &grid));
    MPI_Comm *each[] = {&comm, &inter, &grid};
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_set_errhandler(*each[i], MPI_ERRORS_RETURN));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Comm_group(comm, &group));
    if (kills)
        last_is_dead("kill");
    else
        for (int i = 0; i < 3; i++)
            MPI(MPIX_Comm_revoke(*each[i]));
    for (int i = 0; i < size; i++)
        index[i] = i + 1, edges[i] = (i + 1) % size;
    LOOK(MPI_Comm_dup(comm, &new));
    LOOK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &new));
    LOOK(MPI_Comm_split(comm, 0, 0, &new));
    LOOK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &new));
    LOOK(MPI_Comm_create(comm, group, &new));
    LOOK(MPI_Comm_create_group(comm, group, 3, &new));
    LOOK(MPI_Cart_create(comm, 1, sizes, periods, 0, &new));
    LOOK(MPI_Cart_sub(grid, keep, &new));
    LOOK(MPI_Graph_create(comm, size, index, edges, 0, &new));
    LOOK(MPI_Dist_graph_create_adjacent(comm, 1, edges, MPI_UNWEIGHTED, 1, edges, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &new));
    LOOK(MPI_Intercomm_merge(inter, 0, &new));
    LOOK(MPI_Comm_dup(inter, &new));
    if (kills)
        LOOK(MPI_Comm_create_from_group(all, "a name", MPI_INFO_NULL, MPI_ERRORS_RETURN, &new));
    int code = MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, comm, &win);
    CHECK(code != MPI_SUCCESS && win == MPI_WIN_NULL);
    code = MPI_Win_allocate(100, 1, MPI_INFO_NULL, comm, &base, &win);
    CHECK(code != MPI_SUCCESS && win == MPI_WIN_NULL);
    CHECK(made < 4);
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&group));
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_free(each[i]));
    MPI(MPI_Comm_free(&half));
    return finish();
}
