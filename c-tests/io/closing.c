/* Ends of files: names that are deleted when the last access is over, what a file has of its communicator, openings that are refused. */
#include "files.h"

static char name[NAME_BYTES];

/* After any rank has come back from MPI_File_close the name is free: somebody makes a new file of it at once. */
static void deleted_at_close(void)
{
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, token = 0;
    char text[8];
    for (int round = 0; round < 20; round++) {
        int first = round % size;
        MPI_File file = file_open(MPI_COMM_WORLD, name, mode), own;
        MPI(MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI(MPI_File_close(&file));
        CHECK(file == MPI_FILE_NULL);
        if (rank == first) {
            own = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
            MPI(MPI_File_write(own, "new", 3, MPI_CHAR, MPI_STATUS_IGNORE));
            MPI(MPI_File_close(&own));
        }
        MPI(MPI_Bcast(&token, 1, MPI_INT, first, MPI_COMM_WORLD));
        CHECK_INT(file_read(name, text, 8, 0), 3);
        CHECK(!memcmp(text, "new", 3));
        barrier();
        if (rank == first)
            MPI(MPI_File_delete(name, MPI_INFO_NULL));
        barrier();
    }
    /* A file that could not be opened stays. */
    if (rank == 0)
        file_write(name, "kept", 4);
    barrier();
    MPI_File file;
    const char *wanted = rank == size - 1 ? "/no/such/file" : name;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, wanted, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    CHECK(size == 1 || file_size(name) == 4);
    barrier();
    /* Twice open: the name goes with the one that was opened so, the other goes on. */
    MPI_File other = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_File_close(&file));
    CHECK_INT(file_size(name), -1);
    MPI(MPI_File_read_at(other, 0, text, 4, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(!memcmp(text, "kept", 4));
    MPI(MPI_File_close(&other));
    /* The folder has changed since, or the name is gone already. */
    file = file_open(MPI_COMM_WORLD, name, mode);
    barrier();
    if (rank == 0)
        unlink(name);
    barrier();
    MPI(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    barrier();
    /* A name without a folder, and the working directory has changed since. */
    char here[NAME_BYTES], *slash = strrchr(name, '/');
    CHECK(getcwd(here, sizeof here) != NULL);
    if (slash) {
        *slash = 0;
        CHECK_INT(chdir(slash == name ? "/" : name), 0);
        file = file_open(MPI_COMM_WORLD, slash + 1, mode);
        CHECK_INT(chdir("/"), 0);
        barrier();
        MPI(MPI_File_close(&file));
        CHECK_INT(chdir(here), 0);
        *slash = '/';
        CHECK_INT(file_size(name), -1);
        barrier();
    }
}

static void deleting(void)
{
    char folder[NAME_BYTES + 10];
    MPI_Info info;
    if (rank != 0)
        return;
    snprintf(folder, sizeof folder, "%s.folder", name);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "nonsense", "anything"));
    file_write(name, "1", 1);
    MPI(MPI_File_delete(name, info));
    CHECK_INT(file_size(name), -1);
    CHECK_CLASS(MPI_File_delete(name, info), MPI_ERR_NO_SUCH_FILE);
    MPI(MPI_Info_free(&info));
    CHECK_INT(mkdir(folder, 0700), 0);
    CHECK_CLASS(MPI_File_delete(folder, MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    CHECK_INT(rmdir(folder), 0);
    /* A link is deleted, not what it names. */
    file_write(name, "1", 1);
    CHECK_INT(symlink(name, folder), 0);
    MPI(MPI_File_delete(folder, MPI_INFO_NULL));
    CHECK_INT(file_size(name), 1);
    unlink(name);
}

static void communicators(void)
{
    MPI_File file, own;
    MPI_Comm half, between, twin;
    MPI_Group one, two, world;
    int result, ranks, order = size - rank;
    MPI_Offset bytes;
    file_write(name, "", 0);
    barrier();
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &twin));
    own = file_open(twin, name, MPI_MODE_RDWR);
    MPI(MPI_Comm_free(&twin));
    MPI(MPI_File_write_at(own, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    /* In another order; the communicator is freed, and the file has its group. */
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, order, &twin));
    file = file_open(twin, name, MPI_MODE_RDWR);
    MPI(MPI_Comm_group(twin, &world));
    MPI(MPI_Comm_free(&twin));
    MPI(MPI_File_get_group(file, &one));
    MPI(MPI_File_get_group(file, &two));
    MPI(MPI_Group_compare(one, world, &result));
    CHECK_INT(result, MPI_IDENT);
    MPI(MPI_Group_free(&one));
    CHECK(one == MPI_GROUP_NULL && two != MPI_GROUP_NULL);
    MPI(MPI_Group_size(two, &ranks));
    CHECK_INT(ranks, size);
    MPI(MPI_Group_free(&two));
    MPI(MPI_Group_free(&world));
    MPI(MPI_File_get_group(own, &one));
    MPI(MPI_Group_size(one, &ranks));
    CHECK_INT(ranks, 1);
    MPI(MPI_Group_free(&one));
    MPI(MPI_File_set_size(file, 100));
    MPI(MPI_File_get_size(own, &bytes));
    CHECK_INT(bytes, 100);
    MPI(MPI_File_write_ordered(file, &order, 1, MPI_INT, MPI_STATUS_IGNORE));
    int found[64];
    barrier();
    CHECK_INT(file_read(name, found, sizeof(int) * (size_t) size, 0), sizeof(int) * (size_t) size);
    for (int i = 0; i < size; i++)
        CHECK_INT(found[i], i + 1);
    MPI(MPI_File_close(&own));
    MPI(MPI_File_close(&file));
    if (size > 1) {
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between));
        MPI(MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN));
        CHECK_CLASS(MPI_File_open(between, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_COMM);
        /* Both halves open the same file. */
        file = file_open(half, name, MPI_MODE_RDWR);
        MPI(MPI_Comm_free(&half));
        MPI(MPI_Comm_free(&between));
        MPI(MPI_File_write_at_all(file, 200 + rank, "y", 1, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI(MPI_File_close(&file));
        barrier();
        CHECK_INT(file_size(name), 200 + size);
    }
    barrier();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "closing");
    int before;
    deleted_at_close();
    before = descriptors();
    deleting();
    barrier();
    communicators();
    CHECK_INT(descriptors(), before);
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
