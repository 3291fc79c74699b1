/* The rank is killed that has made the small file of a shared file pointer, which ranks on two hosts have. MPI_File_close of the last of the others
 * removes it; until then the pointer goes on. For mpiexec with -disable-auto-cleanup. */
#include "dying.h"
#include <glob.h>

static int small_files(const char *name)
{
    char pattern[100];
    glob_t found;
    snprintf(pattern, sizeof pattern, "/tmp/.%s.shfp.*", name);
    int number = glob(pattern, 0, NULL, &found) ? 0 : (int) found.gl_pathc;
    if (number)
        globfree(&found);
    return number;
}

int main(int argc, char **argv)
{
    char name[40], path[60];
    int value;
    MPI_File file;
    start(&argc, &argv);
    return_errors();
    snprintf(name, sizeof name, "pointer-file-%d", (int) getpid());
    MPI(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    snprintf(path, sizeof path, "/tmp/%s", name);
    MPI(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    if (rank == 0)
        MPI(MPI_File_write_shared(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    before_deaths(MPI_COMM_WORLD, rank == 0);
    if (rank == 0)
        raise(SIGKILL);
    CHECK(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    /* one after the other */
    if (rank == 2)
        MPI(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Offset at = 0;
    MPI(MPI_File_write_shared(file, "y", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, rank + 1);
    CHECK_INT(small_files(name), 1);
    MPI_File_close(&file); /* whatever it says of the dead rank */
    CHECK_INT(small_files(name), rank < size - 1);
    if (rank < size - 1)
        MPI(MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    else
        CHECK_INT(unlink(path), 0);
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
