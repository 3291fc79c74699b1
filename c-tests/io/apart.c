/* Ranks on several nodes: where the shared file pointer is, and that nothing of it is left behind.
 * args: none, or abort (a rank ends the job while there is a file with the pointer). */
#define _GNU_SOURCE
#include "files.h"
#include <sys/syscall.h>

static char folder[NAME_BYTES], name[NAME_BYTES + 20], other[NAME_BYTES + 20], linked[NAME_BYTES + 40];
static int aborts, nodes;

/* Before the library's calls: it says what it removes. */
int unlink(const char *path)
{
    int result = (int) syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    /* The folder can go with the last name in it. */
    if (aborts && strstr(path, ".shfp.") && !result && !rmdir(folder))
        fprintf(stderr, "the file with the pointer is removed\n");
    return result;
}

/* Names in the folder that are not the program's. */
static int small_files(void)
{
    int count = 0;
    DIR *all = opendir(folder);
    struct dirent *entry;
    while (all && (entry = readdir(all)))
        count += strstr(entry->d_name, ".shfp.") != NULL;
    if (all)
        closedir(all);
    return count;
}

static MPI_File opened(const char *path, int more)
{
    MPI_File file = file_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | more);
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    return file;
}

static void closed(MPI_File *file)
{
    MPI(MPI_File_close(file));
    barrier();
    CHECK_INT(small_files(), 0);
    barrier();
}

static void position(MPI_File file, long long expected)
{
    MPI_Offset at = -1;
    barrier();
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, expected);
    barrier();
}

/* Only calls of all ranks move it: no file is needed for that. */
static void together(void)
{
    MPI_File file = opened(name, 0);
    int own = rank, found = -1;
    for (int i = 0; i < 3; i++)
        MPI(MPI_File_write_ordered(file, &own, 1, MPI_INT, MPI_STATUS_IGNORE));
    position(file, 3 * size);
    MPI(MPI_File_seek_shared(file, -size, MPI_SEEK_CUR));
    position(file, 2 * size);
    MPI(MPI_File_read_ordered(file, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(found, rank);
    MPI(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
    position(file, 3 * size - 1);
    MPI(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    position(file, 0);
    CHECK_INT(small_files(), 0);
    closed(&file);
}

/* Calls of one rank and of all in turn: what one kind has moved, the other kind finds. */
static void mixed(int split)
{
    MPI_File file = opened(name, 0);
    MPI_Status status;
    long long at = 0;
    int own[3] = {rank, rank, rank}, buffer[3];
    for (int i = 0; i < 20; i++) {
        if (i % 4 != 3) {
            /* Each rank, or one of them. */
            if (i % 4 != 1 || rank == i % size)
                MPI(MPI_File_write_shared(file, own, 3, MPI_INT, &status));
            at += i % 4 != 1 ? 3 * size : 3;
            barrier();
        }
        if (i % 3 == 1)
            position(file, at);
        if (split) {
            MPI(MPI_File_write_ordered_begin(file, own, 2, MPI_INT));
            MPI(MPI_File_write_ordered_end(file, own, &status));
        } else {
            MPI(MPI_File_write_ordered(file, own, 2, MPI_INT, &status));
        }
        CHECK_MOVED(status, 8);
        file_read(name, buffer, 8, (at + 2 * rank) * 4);
        CHECK_INT(buffer[0], rank);
        CHECK_INT(buffer[1], rank);
        at += 2 * size;
        if (i % 5 == 2) {
            MPI(MPI_File_seek_shared(file, 5, MPI_SEEK_CUR));
            at += 5;
        }
        if (i == 10) {
            position(file, at);
            MPI(MPI_File_seek_shared(file, at = 7, MPI_SEEK_SET));
        }
    }
    position(file, at);
    if (nodes)
        CHECK_INT(small_files(), 1);
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    position(file, 0);
    if (rank == size - 1)
        MPI(MPI_File_write_shared(file, own, 1, MPI_INT, MPI_STATUS_IGNORE));
    position(file, 1);
    closed(&file);
}

/* It begins at the end of the file, also for a rank that calls alone. */
static void appended(void)
{
    barrier();
    if (rank == 0)
        file_write(name, "12345678", 8);
    barrier();
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset at = -1;
    if (rank == size - 1)
        MPI(MPI_File_write_shared(file, "9", 1, MPI_BYTE, MPI_STATUS_IGNORE));
    barrier();
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 9);
    CHECK_INT(file_size(name), 9);
    closed(&file);
}

/* Ranks that come to the file by different paths: through a link to the folder all goes on; by another name only what all call. */
static void by_other_paths(void)
{
    MPI_File file = opened(rank % 2 ? linked : name, 0);
    MPI(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    position(file, size);
    closed(&file);
    if (rank == 0)
        CHECK_INT(link(name, other), 0);
    barrier();
    file = opened(rank == size - 1 ? other : name, 0);
    MPI(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MPI(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    int class = MPI_SUCCESS, error = MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI(MPI_Error_class(error, &class));
    CHECK_INT(class, nodes ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS);
    position(file, nodes ? size : 2 * size);
    closed(&file);
    if (rank == 0)
        unlink(other);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    /* As the library sees it: ranks of one node only have the pointer in memory. */
    MPI_Comm node;
    int on_node = 0;
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI(MPI_Comm_size(node, &on_node));
    MPI(MPI_Comm_free(&node));
    nodes = on_node < size;
    file_name(folder, "apart");
    if (rank == 0)
        CHECK_INT(mkdir(folder, 0700), 0);
    snprintf(name, sizeof name, "%s/data", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(linked, sizeof linked, "%s-linked/data", folder);
    barrier();
    if (argc > 1 && !strcmp(argv[1], "abort")) {
        MPI_File file = opened(name, 0);
        MPI(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        barrier();
        /* The last rank is left alone with the file. */
        if (rank == size - 1) {
            CHECK_INT(small_files(), 1);
            unlink(name);
            aborts = 1;
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        MPI(MPI_Recv(NULL, 0, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    char link_to_folder[NAME_BYTES + 10];
    snprintf(link_to_folder, sizeof link_to_folder, "%s-linked", folder);
    if (rank == 0)
        CHECK_INT(symlink(folder, link_to_folder), 0);
    barrier();
    together();
    mixed(0);
    mixed(1);
    appended();
    by_other_paths();
    barrier();
    if (rank == 0) {
        unlink(link_to_folder);
        unlink(name);
        CHECK_INT(rmdir(folder), 0);
    }
    finish();
}
