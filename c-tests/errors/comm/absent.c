/* The last rank has an invalid group or communicator, so it cannot tell the others, and ends: they get an error instead of waiting
 * for ever. One call a process, because each ends the same way. args: create_group, split, groups, idup, test (of an idup),
 * iallreduce or barrier; board: barriers in a staging area that is there already, where the job ends. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group world, most;
    start(&argc, &argv);
    return_errors();
    const char *what = argc > 1 ? argv[1] : "";
    int last = rank == size - 1, code = MPI_SUCCESS;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (!strcmp(what, "create_group")) {
        code = MPI_Comm_create_group(MPI_COMM_WORLD, last ? MPI_GROUP_NULL : world, 1, &comm);
        CHECK_CLASS(code, last ? MPI_ERR_GROUP : MPI_ERR_OTHER);
    } else if (!strcmp(what, "split")) {
        code = MPI_Comm_split(last ? MPI_COMM_NULL : MPI_COMM_WORLD, 0, 0, &comm);
        CHECK_CLASS(code, last ? MPI_ERR_COMM : MPI_ERR_OTHER);
    } else if (!strcmp(what, "groups")) { /* the last rank is in its own group only */
        MPI(MPI_Group_incl(world, 1, &rank, &most));
        code = MPI_Comm_create_group(MPI_COMM_WORLD, last ? most : world, 1, &comm);
        CHECK_CLASS(code, last ? MPI_SUCCESS : MPI_ERR_OTHER);
        if (code == MPI_SUCCESS)
            MPI(MPI_Comm_free(&comm));
        MPI(MPI_Group_free(&most));
    } else if (!strcmp(what, "idup") || !strcmp(what, "test")) {
        MPI_Request request = MPI_REQUEST_NULL;
        code = MPI_Comm_idup(last ? MPI_COMM_NULL : MPI_COMM_WORLD, &comm, &request);
        CHECK_CLASS(code, last ? MPI_ERR_COMM : MPI_SUCCESS);
        if (!last && !strcmp(what, "idup"))
            CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        for (int done = last; !done && strcmp(what, "idup");) {
            code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            CHECK(done ? check_class_of(code) == MPI_ERR_OTHER : code == MPI_SUCCESS);
            done |= code != MPI_SUCCESS;
        }
    } else if (!strcmp(what, "iallreduce")) { /* who misses the last rank, the algorithm says */
        MPI_Request request;
        int sum;
        if (!last) {
            MPI(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(size > 2 && code == MPI_SUCCESS ? 1 : check_class_of(code) == MPI_ERR_OTHER);
        }
    } else if (!strcmp(what, "board")) { /* the area is there */
        for (int i = 0; i < 8; i++)
            MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (!last)
            MPI(MPI_Barrier(MPI_COMM_WORLD));
    } else if (!last) { /* somebody misses the last rank: who that is, the algorithm says */
        code = MPI_Barrier(MPI_COMM_WORLD);
        CHECK(rank > 0 && code == MPI_SUCCESS ? 1 : check_class_of(code) == MPI_ERR_OTHER);
    }
    MPI(MPI_Group_free(&world));
    return finish();
}
