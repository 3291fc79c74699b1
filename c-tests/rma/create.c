/* MPI_Win_create and MPI_Win_allocate: all sizes and units, what the attributes say, groups, a communicator that is freed first. */
#include "check.h"

static MPI_Aint size_of(MPI_Win win)
{
    MPI_Aint *value = NULL;
    int flag = 0;
    MPI(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    CHECK_INT(flag, 1);
    return *value;
}

static int int_of(MPI_Win win, int key)
{
    int *value = NULL, flag = 0;
    MPI(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK_INT(flag, 1);
    return *value;
}

static void *base_of(MPI_Win win)
{
    void *value = NULL;
    int flag = 0;
    MPI(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK_INT(flag, 1);
    return value;
}

static void check_facts(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    CHECK(base_of(win) == base);
    CHECK_INT(size_of(win), bytes);
    CHECK_INT(int_of(win, MPI_WIN_DISP_UNIT), unit);
    CHECK_INT(int_of(win, MPI_WIN_CREATE_FLAVOR), flavor);
    CHECK_INT(int_of(win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
}

static void created(MPI_Comm comm)
{
    static char memory[70000];
    MPI_Aint sizes[] = {0, 1, 10 + rank, 4096, 70000, rank % 2 ? 0 : 64};
    for (int i = 0; i < 6; i++) {
        MPI_Win win = MPI_WIN_NULL;
        MPI(MPI_Win_create(memory, sizes[i], 1 + rank, MPI_INFO_NULL, comm, &win));
        CHECK(win != MPI_WIN_NULL);
        check_facts(win, memory, sizes[i], 1 + rank, MPI_WIN_FLAVOR_CREATE);
        MPI(MPI_Win_free(&win));
        CHECK(win == MPI_WIN_NULL);
    }
    MPI_Win win;
    MPI(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win));
    check_facts(win, NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
    MPI(MPI_Win_free(&win));
}

static void allocated(MPI_Comm comm)
{
    MPI_Aint sizes[] = {0, 1, 10 + rank, 4097, 3 << 20, rank % 2 ? 0 : 64};
    for (int i = 0; i < 6; i++) {
        MPI_Win win = MPI_WIN_NULL;
        char *base = (char *) 1;
        MPI(MPI_Win_allocate(sizes[i], 8 - rank % 8, MPI_INFO_NULL, comm, &base, &win));
        check_facts(win, base, sizes[i], 8 - rank % 8, MPI_WIN_FLAVOR_ALLOCATE);
        if (sizes[i]) {
            CHECK_INT((uintptr_t) base % 8, 0);
            fill(base, (size_t) sizes[i], (uint64_t) (rank + i));
            MPI(MPI_Barrier(comm));
            CHECK_PATTERN(base, (size_t) sizes[i], (uint64_t) (rank + i));
        } else
            MPI(MPI_Barrier(comm));
        MPI(MPI_Win_free(&win));
    }
}

static void group_is(MPI_Win win, MPI_Comm comm)
{
    MPI_Group of_win, of_comm;
    int result;
    MPI(MPI_Win_get_group(win, &of_win));
    MPI(MPI_Comm_group(comm, &of_comm));
    MPI(MPI_Group_compare(of_win, of_comm, &result));
    CHECK_INT(result, MPI_IDENT);
    MPI(MPI_Group_free(&of_win));
    MPI(MPI_Group_free(&of_comm));
}

/* The window outlives the communicator, whose ranks are in another order. */
static void outlives(void)
{
    MPI_Comm comm;
    MPI_Group before, after;
    MPI_Win win;
    char *base;
    int result;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
    MPI(MPI_Win_allocate(100, 1, MPI_INFO_NULL, comm, &base, &win));
    group_is(win, comm);
    MPI(MPI_Comm_group(comm, &before));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Win_get_group(win, &after));
    MPI(MPI_Group_compare(before, after, &result));
    CHECK_INT(result, MPI_IDENT);
    memset(base, rank, 100);
    MPI(MPI_Win_free(&win));
    MPI(MPI_Group_free(&before));
    MPI(MPI_Group_free(&after));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    created(MPI_COMM_WORLD);
    created(MPI_COMM_SELF);
    allocated(MPI_COMM_WORLD);
    allocated(MPI_COMM_SELF);
    outlives();
    return finish();
}
