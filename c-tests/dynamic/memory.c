/* Windows and files of parents and children together, on the merged communicator. */
#include "spawned.h"

static void window(MPI_Comm merged, int me, int number, int allocate)
{
    MPI_Win win;
    int *base = NULL, *own = malloc(number * sizeof *own), one = 1, old = -1;
    if (allocate) {
        MPI(MPI_Win_allocate(number * sizeof *base, sizeof *base, MPI_INFO_NULL, merged, &base, &win));
    } else {
        base = own;
        MPI(MPI_Win_create(base, number * sizeof *base, sizeof *base, MPI_INFO_NULL, merged, &win));
    }
    for (int i = 0; i < number; i++)
        base[i] = -1;
    MPI(MPI_Win_fence(0, win));
    for (int i = 0; i < number; i++)
        MPI(MPI_Put(&me, 1, MPI_INT, i, me, 1, MPI_INT, win));
    MPI(MPI_Win_fence(0, win));
    for (int i = 0; i < number; i++)
        CHECK_INT(base[i], i);
    MPI(MPI_Win_fence(0, win));
    base[0] = 0;
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, number - 1, 0, win));
    MPI(MPI_Fetch_and_op(&one, &old, MPI_INT, number - 1, 0, MPI_SUM, win));
    MPI(MPI_Win_unlock(number - 1, win));
    CHECK(old >= 0 && old < number);
    MPI(MPI_Barrier(merged));
    if (me == number - 1) {
        MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
        CHECK_INT(base[0], number);
        MPI(MPI_Win_unlock(me, win));
    }
    MPI(MPI_Win_free(&win));
    free(own);
}

static void file(MPI_Comm merged, int me, int number)
{
    char path[64];
    MPI_File file;
    MPI_Status status;
    int value = 100 + me, *all = malloc(number * sizeof *all);
    if (me == 0)
        snprintf(path, sizeof path, "/tmp/spawn_file_%d", (int) getpid());
    MPI(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, merged));
    MPI(MPI_File_open(merged, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MPI(MPI_File_write_at_all(file, me * sizeof value, &value, 1, MPI_INT, &status));
    MPI(MPI_File_sync(file));
    MPI(MPI_Barrier(merged));
    MPI(MPI_File_sync(file));
    MPI(MPI_File_read_at_all(file, 0, all, number, MPI_INT, &status));
    for (int i = 0; i < number; i++)
        CHECK_INT(all[i], 100 + i);
    MPI(MPI_File_close(&file));
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Comm merged;
    int me, number;
    start_family(&argc, &argv);
    MPI_Comm comm = is_child ? parent : spawn(MPI_COMM_WORLD, 2, argv + 1);
    MPI(MPI_Intercomm_merge(comm, is_child, &merged));
    MPI(MPI_Comm_rank(merged, &me));
    MPI(MPI_Comm_size(merged, &number));
    if (argc > 1 && !strcmp(argv[1], "file"))
        file(merged, me, number);
    else
        for (int allocate = 0; allocate < 2; allocate++)
            window(merged, me, number, allocate);
    MPI(MPI_Comm_disconnect(&merged));
    if (!is_child)
        part(&comm);
    return finish_family();
}
