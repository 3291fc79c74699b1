/* Names of files and their creation: short, long, relative and other names of one file; what fails on one rank fails on all, and leaves no
 * descriptor. */
#include "files.h"
#include <limits.h>
#include <sys/resource.h>

static char folder[NAME_BYTES], at_first[NAME_BYTES];

static int opened(MPI_Comm comm, const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    int code = MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS)
        MPI(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    return code;
}

/* In a folder of the job's own, and in one of each rank's in it. */
static void relative(void)
{
    const char *names[] = { "x", "a b", "-", "colon:", "ends in a blank " };
    char own[40];
    MPI_File file;
    char seen;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (reference && strchr(names[i], ':')) /* taken for a file system */
            continue;
        CHECK_CLASS(opened(MPI_COMM_WORLD, names[i], MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
        barrier();
        file = file_open(MPI_COMM_WORLD, names[i], MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
        CHECK_INT(file_size(names[i]), 0);
        barrier();
        MPI(MPI_File_close(&file));
        barrier();
        if (rank == 0)
            MPI(MPI_File_delete(names[i], MPI_INFO_NULL));
        barrier();
        CHECK_INT(file_size(names[i]), -1);
    }
    snprintf(own, sizeof own, "own-%d", rank);
    CHECK_INT(mkdir(own, 0700), 0);
    CHECK_INT(chdir(own), 0);
    file = file_open(MPI_COMM_SELF, "x", MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI(MPI_File_write(file, own + 4, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&file));
    CHECK_INT(file_read("x", &seen, 1, 0), 1);
    CHECK_INT(seen, own[4]);
    /* The same word is another file on each rank. */
    if (size > 1 && !reference)
        CHECK_CLASS(opened(MPI_COMM_WORLD, "x", MPI_MODE_RDWR), MPI_ERR_NOT_SAME);
    barrier();
    /* Other words for the one of rank 0. */
    file = file_open(MPI_COMM_WORLD, rank == 0 ? "x" : "../own-0/x", MPI_MODE_RDWR);
    MPI(MPI_File_close(&file));
    CHECK_INT(symlink("../own-0/x", "symbolic"), 0);
    CHECK_INT(link("../own-0/x", "hard"), 0);
    barrier();
    file = file_open(MPI_COMM_WORLD, rank % 2 ? "symbolic" : "hard", MPI_MODE_RDWR);
    MPI(MPI_File_close(&file));
    barrier();
    unlink("symbolic");
    unlink("hard");
    unlink("x");
    CHECK_INT(chdir(folder), 0);
    CHECK_INT(rmdir(own), 0);
    barrier();
}

static void wrong(void)
{
    int before = descriptors(), last = rank == size - 1, create = MPI_MODE_CREATE | MPI_MODE_RDWR;
    char *longer = malloc(PATH_MAX + 100), component[300];
    struct rlimit limit, none;
    memset(longer, 'y', PATH_MAX + 99);
    longer[PATH_MAX + 99] = 0;
    memset(component, 'z', sizeof component - 1);
    component[sizeof component - 1] = 0;
    CHECK_CLASS(opened(MPI_COMM_WORLD, longer, create), MPI_ERR_BAD_FILE);
    CHECK_CLASS(opened(MPI_COMM_WORLD, component, create), MPI_ERR_BAD_FILE);
    CHECK_CLASS(opened(MPI_COMM_WORLD, folder, MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    if (!reference) {
        CHECK_CLASS(opened(MPI_COMM_WORLD, last ? longer : "w", create), MPI_ERR_BAD_FILE);
        CHECK_CLASS(opened(MPI_COMM_WORLD, last ? "no/such" : "w", create), MPI_ERR_NO_SUCH_FILE);
        /* No descriptor is left to one rank. */
        barrier();
        MPI(getrlimit(RLIMIT_NOFILE, &limit));
        none = limit;
        none.rlim_cur = 3;
        if (last)
            MPI(setrlimit(RLIMIT_NOFILE, &none));
        CHECK(opened(MPI_COMM_WORLD, "w", create) != MPI_SUCCESS);
        MPI(setrlimit(RLIMIT_NOFILE, &limit));
    }
    CHECK_INT(descriptors(), before);
    CHECK_CLASS(opened(MPI_COMM_WORLD, "w", create), MPI_SUCCESS);
    barrier();
    /* All ranks at once with files that all want to make. */
    for (int i = 0; i < 20; i++) {
        char name[20];
        snprintf(name, sizeof name, "n%d", i);
        CHECK_CLASS(opened(MPI_COMM_WORLD, name, create | MPI_MODE_EXCL), MPI_SUCCESS);
        CHECK_CLASS(opened(MPI_COMM_WORLD, name, create | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
        CHECK_INT(file_size(name), 0);
        CHECK_CLASS(opened(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), MPI_SUCCESS);
        CHECK_INT(file_size(name), -1);
    }
    CHECK_INT(descriptors(), before);
    barrier();
    if (rank == 0)
        unlink("w");
    free(longer);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    file_name(folder, "names");
    CHECK(getcwd(at_first, sizeof at_first) != NULL);
    if (rank == 0)
        CHECK_INT(mkdir(folder, 0700), 0);
    barrier();
    CHECK_INT(chdir(folder), 0);
    relative();
    wrong();
    barrier();
    CHECK_INT(chdir(at_first), 0);
    if (rank == 0)
        CHECK_INT(rmdir(folder), 0);
    return finish();
}
