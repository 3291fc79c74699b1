/* Limits of the process and small file systems. arg:
 *   size          RLIMIT_FSIZE: an error and no SIGXFSZ, and what fits is written
 *   descriptors   RLIMIT_NOFILE on the last rank: nobody has the file, and no descriptor stays
 *   full          a file system of 1 MB, in a namespace of each rank's own (left out where none can be had)
 *   folder        a folder that nobody may write to (left out for root, who may) */
#define _GNU_SOURCE
#include "files.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

static char name[NAME_BYTES];
enum { LIMIT = 10000, EACH = 4000, FOLDER_BYTES = NAME_BYTES + 10 };

static void limit(int what, rlim_t most)
{
    struct rlimit both;
    CHECK_INT(getrlimit((__rlimit_resource_t) what, &both), 0);
    both.rlim_cur = most;
    CHECK_INT(setrlimit((__rlimit_resource_t) what, &both), 0);
}

static void size_of_files(void)
{
    unsigned char own[2 * EACH];
    MPI_Status status;
    MPI_Datatype holes;
    MPI_Offset bytes;
    rlim_t before = RLIM_INFINITY;
    /* What ranks share is a file to the kernel, too, which the first opening makes. */
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI(MPI_File_close(&file));
    signal(SIGXFSZ, SIG_DFL);
    limit(RLIMIT_FSIZE, LIMIT);
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    fill(own, sizeof own, 5);
    if (rank == 0) {
        MPI(MPI_File_write_at(file, 0, own, EACH, MPI_BYTE, &status));
        CHECK_CLASS(MPI_File_write_at(file, LIMIT - 10, own, EACH, MPI_BYTE, &status), MPI_ERR_IO);
        CHECK_MOVED(status, 10);
        CHECK_INT(file_size(name), LIMIT);
        CHECK_CLASS(MPI_File_write_at(file, LIMIT, own, EACH, MPI_BYTE, &status), MPI_ERR_IO);
        CHECK_MOVED(status, 0);
        CHECK_CLASS(MPI_File_write_at(file, (MPI_Offset) 1 << 40, own, 1, MPI_BYTE, &status), MPI_ERR_IO);
        MPI(MPI_Type_vector(2, EACH, 3 * EACH, MPI_BYTE, &holes));
        MPI(MPI_Type_commit(&holes));
        unsigned char *memory = calloc(4, EACH);
        CHECK_CLASS(MPI_File_write_at(file, LIMIT - EACH - 5, memory, 1, holes, &status), MPI_ERR_IO);
        CHECK_MOVED(status, EACH + 5);
        free(memory);
        MPI(MPI_Type_free(&holes));
        MPI(MPI_File_write_at(file, LIMIT - 10, own, 10, MPI_BYTE, &status));
        CHECK_MOVED(status, 10);
    }
    barrier();
    CHECK_CLASS(MPI_File_write_at_all(file, rank == size - 1 ? LIMIT : 0, own, 8, MPI_BYTE, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_set_size(file, LIMIT + 1), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_preallocate(file, LIMIT + 1), MPI_ERR_IO);
    MPI(MPI_File_set_size(file, LIMIT));
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, LIMIT);
    barrier();
    MPI(MPI_File_close(&file));
    limit(RLIMIT_FSIZE, before);
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI(MPI_File_write_at_all(file, LIMIT + rank * EACH, own, EACH, MPI_BYTE, &status));
    CHECK_MOVED(status, EACH);
    MPI(MPI_File_close(&file));
}

static void descriptors_of_one(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    int taken[200], count = 0, before;
    MPI(MPI_File_close(&file));
    before = descriptors();
    if (rank == size - 1) {
        limit(RLIMIT_NOFILE, 100);
        while (count < 200 && (taken[count] = dup(2)) >= 0)
            count++;
        CHECK(count < 200);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_IO);
        CHECK(file == MPI_FILE_NULL);
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
                    MPI_ERR_IO);
    }
    barrier();
    CHECK(file_size(name) == 0 || rank == size - 1);
    while (count > 0)
        close(taken[--count]);
    CHECK_INT(descriptors(), before);
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI(MPI_File_close(&file));
    CHECK_INT(descriptors(), before);
}

/* A file system of its own for this process, and an empty folder for all. */
static int small_file_system(char *folder)
{
    snprintf(folder, FOLDER_BYTES, "%s.folder", name);
    if (rank == 0)
        CHECK(mkdir(folder, 0700) == 0);
    barrier();
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0)
        return 0;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0;
}

/* Writes until there is no space; what was counted is there, and is read again. */
static void full(void)
{
    enum { MORE = 300000 };
    char folder[FOLDER_BYTES], file_there[FOLDER_BYTES + 10];
    unsigned char *own = malloc(MORE), *found = malloc(MORE);
    int has = small_file_system(folder);
    MPI_File file;
    MPI_Status status;
    MPI_Datatype piece, sparse;
    MPI_Offset at = 0, bytes;
    long long done = MORE;
    if (!has && rank == 0)
        fprintf(stderr, "skipped: no file system can be mounted here\n");
    if (has) {
        snprintf(file_there, sizeof file_there, "%s/file", folder);
        file = file_open(MPI_COMM_SELF, file_there, MPI_MODE_RDWR | MPI_MODE_CREATE);
        for (int i = 0; i < 10 && done == MORE; i++, at += done) {
            fill(own, MORE, (uint64_t) i);
            int code = MPI_File_write_at(file, at, own, MORE, MPI_BYTE, &status);
            done = moved(&status);
            if (done < MORE)
                CHECK_CLASS(code, MPI_ERR_NO_SPACE);
            CHECK_INT(file_read(file_there, found, MORE, at), done);
            CHECK(!memcmp(own, found, (size_t) done));
        }
        CHECK(done < MORE && at <= 1 << 20);
        CHECK_CLASS(MPI_File_write_at(file, 2 << 20, own, 1, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
        CHECK_CLASS(MPI_File_preallocate(file, 3 << 20), MPI_ERR_NO_SPACE);
        /* Pieces in holes of a sparse file: an error, never SIGBUS. */
        MPI(MPI_File_set_size(file, 0));
        MPI(MPI_File_set_size(file, 8 << 20));
        MPI(MPI_Type_contiguous(16, MPI_BYTE, &piece));
        MPI(MPI_Type_create_resized(piece, 0, 4096, &sparse));
        MPI(MPI_Type_commit(&sparse));
        MPI(MPI_File_set_view(file, 0, MPI_BYTE, sparse, "native", MPI_INFO_NULL));
        CHECK_CLASS(MPI_File_write_at(file, 0, own, 16 * 1000, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
        done = moved(&status);
        CHECK(done >= 0 && done < 16 * 1000);
        MPI(MPI_File_read_at(file, 0, found, 16 * 1000, MPI_BYTE, &status));
        CHECK(!memcmp(own, found, (size_t) done));
        MPI(MPI_Type_free(&piece));
        MPI(MPI_Type_free(&sparse));
        /* Space again. */
        MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI(MPI_File_set_size(file, 0));
        MPI(MPI_File_write_at(file, 0, own, MORE, MPI_BYTE, &status));
        CHECK_MOVED(status, MORE);
        MPI(MPI_File_get_size(file, &bytes));
        CHECK_INT(bytes, MORE);
        MPI(MPI_File_close(&file));
    }
    barrier();
    if (rank == 0)
        CHECK(!has || umount(folder) == 0);
    CHECK(rank != 0 || rmdir(folder) == 0 || errno == EBUSY);
    free(own);
    free(found);
}

static void folder(void)
{
    char folder[FOLDER_BYTES], there[FOLDER_BYTES + 10];
    MPI_File file;
    snprintf(folder, sizeof folder, "%s.folder", name);
    snprintf(there, sizeof there, "%s/file", folder);
    if (rank == 0)
        CHECK(mkdir(folder, 0700) == 0 && chmod(folder, 0500) == 0);
    barrier();
    if (getuid() == 0)
        CHECK_INT(seteuid(65534), 0);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, there, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file), MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_delete(there, MPI_INFO_NULL), getuid() == 0 ? MPI_ERR_ACCESS : MPI_ERR_NO_SUCH_FILE);
    if (getuid() == 0)
        CHECK_INT(seteuid(0), 0);
    barrier();
    if (rank == 0)
        CHECK_INT(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    file_name(name, "limits");
    if (!strcmp(what, "size"))
        size_of_files();
    else if (!strcmp(what, "descriptors"))
        descriptors_of_one();
    else if (!strcmp(what, "full"))
        full();
    else if (!strcmp(what, "folder"))
        folder();
    else
        CHECK(!"an argument is missing");
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
