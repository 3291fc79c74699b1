/* Opening and closing: modes, groups, sizes, names with a prefix, files that are deleted, what opening makes or not. */
#include "files.h"

static char name[NAME_BYTES];

static void modes(void)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Group group, world;
    int amode, result;
    int wanted = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    /* One rank makes the file, and all of them have it. */
    file = file_open(MPI_COMM_WORLD, name, wanted);
    MPI(MPI_File_get_amode(file, &amode));
    CHECK_INT(amode, wanted);
    MPI(MPI_File_get_group(file, &group));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_compare(group, world, &result));
    CHECK_INT(result, MPI_IDENT);
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&world));
    MPI(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    barrier();
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, wanted, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);
    barrier();
    CHECK_INT(file_size(name), 0);
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI(MPI_File_close(&file));
}

static void sizes(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI_Offset bytes = -1;
    char text[12];
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 0);
    barrier();
    MPI(MPI_File_set_size(file, 5));
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 5);
    barrier();
    if (rank == 0)
        MPI(MPI_File_write_at(file, 0, "abcde", 5, MPI_CHAR, MPI_STATUS_IGNORE));
    barrier();
    MPI(MPI_File_preallocate(file, 10000));
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 10000);
    barrier();
    MPI(MPI_File_preallocate(file, 20));
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 10000);
    CHECK_INT(file_read(name, text, 8, 0), 8);
    CHECK(!memcmp(text, "abcde\0\0\0", 8));
    barrier();
    MPI(MPI_File_set_size(file, 3));
    CHECK_INT(file_read(name, text, 8, 0), 3);
    barrier();
    /* What was cut off does not come back. */
    MPI(MPI_File_set_size(file, 6));
    CHECK_INT(file_read(name, text, 8, 0), 6);
    CHECK(!memcmp(text, "abc\0\0\0", 6));
    MPI(MPI_File_sync(file));
    MPI(MPI_File_close(&file));
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 6);
    MPI(MPI_File_close(&file));
    barrier();
}

static void appending(void)
{
    MPI_File file;
    MPI_Offset at = -1;
    char text[20];
    barrier();
    if (rank == 0)
        file_write(name, "0123456789", 10);
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 10);
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 10);
    barrier();
    if (rank == 0)
        MPI(MPI_File_write(file, "ab", 2, MPI_CHAR, MPI_STATUS_IGNORE));
    barrier();
    MPI(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 0);
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 0);
    MPI(MPI_File_close(&file));
    CHECK_INT(file_read(name, text, sizeof text, 0), 12);
    CHECK(!memcmp(text, "0123456789ab", 12));
}

static void deleting(void)
{
    char other[NAME_BYTES + 10];
    MPI_File file;
    MPI_Comm comm;
    struct stat found;
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_File_close(&file));
    CHECK(stat(name, &found) && errno == ENOENT); /* by any rank that comes back */
    barrier();
    /* The communicator may go before the file; a name may say what file system it is on. */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    snprintf(other, sizeof other, "ufs:%s", name);
    file = file_open(comm, other, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI(MPI_Comm_free(&comm));
    CHECK_INT(file_size(name), 0);
    MPI(MPI_File_set_atomicity(file, 1));
    MPI(MPI_File_close(&file));
    barrier();
    if (rank == 0) {
        MPI(MPI_File_delete(other, MPI_INFO_NULL));
        CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    }
    if (reference) /* MPICH takes anything in front of a colon for a file system */
        return;
    /* A colon alone is part of the name. */
    snprintf(other, sizeof other, "%s:%d", name, rank);
    file = file_open(MPI_COMM_SELF, other, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_INT(file_size(other), 0);
    MPI(MPI_File_close(&file));
    CHECK_INT(file_size(other), -1);
}

static void devices(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, "/dev/zero", MPI_MODE_RDWR);
    MPI_Status status;
    char text[8] = "1234567";
    MPI(MPI_File_read_at(file, 0, text, 8, MPI_CHAR, &status));
    CHECK_MOVED(status, 8);
    CHECK(!memcmp(text, "\0\0\0\0\0\0\0", 8));
    MPI(MPI_File_close(&file));
    file = file_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR);
    MPI(MPI_File_read_at(file, 0, text, 8, MPI_CHAR, &status));
    CHECK_MOVED(status, 0);
    MPI(MPI_File_write_at(file, 0, text, 8, MPI_CHAR, &status));
    CHECK_MOVED(status, 8);
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "open");
    modes();
    sizes();
    appending();
    deleting();
    if (!reference) /* MPICH tries to lock the device */
        devices();
    return finish();
}
