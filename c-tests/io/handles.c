/* Handles of files: as Fortran's integers and as numbers, which are each file's own; wrappers of a tool see each call once; descriptors do not
 * get into other programs. */
#include "files.h"
#include <sys/wait.h>

static char name[NAME_BYTES];
static int seen_writes, seen_opens, seen_closes, inside;

/* What a tool defines; the library's own calls do not come here. */
int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type, MPI_Status *status)
{
    int code;
    seen_writes++;
    CHECK_INT(inside++, 0);
    code = PMPI_File_write_at(file, offset, buffer, count, type, status);
    inside--;
    return code;
}

int MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file)
{
    seen_opens++;
    return PMPI_File_open(comm, path, amode, info, file);
}

int MPI_File_close(MPI_File *file)
{
    seen_closes++;
    return PMPI_File_close(file);
}

static void numbers(void)
{
    enum { MANY = 20 };
    MPI_File files[MANY];
    MPI_Fint integers[MANY];
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK_INT(MPI_File_c2f(MPI_FILE_NULL), 0);
    for (int i = 0; i < MANY; i++) {
        files[i] = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
        integers[i] = MPI_File_c2f(files[i]);
        CHECK(MPI_File_f2c(integers[i]) == files[i]);
        CHECK(integers[i] != 0);
        for (int k = 0; k < i; k++)
            CHECK(files[i] != files[k] && integers[i] != integers[k]);
    }
    /* A handle that comes from the integer works as the other one. */
    for (int i = 0; i < MANY; i++) {
        MPI_File same = MPI_File_f2c(integers[i]);
        MPI_Offset bytes = -1;
        MPI(MPI_File_get_size(same, &bytes));
        MPI(MPI_File_seek(same, i, MPI_SEEK_SET));
        MPI(MPI_File_get_position(files[i], &bytes));
        CHECK_INT(bytes, i);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_File copy = files[i];
        MPI(MPI_File_close(&copy));
        CHECK(copy == MPI_FILE_NULL);
        /* That of a closed file is no open one, though the next one may have its place. */
        MPI_Offset bytes;
        CHECK_CLASS(MPI_File_get_size(MPI_File_f2c(integers[i]), &bytes), MPI_ERR_FILE);
    }
}

#if defined(MPI_VERSION) && MPI_VERSION >= 5 && !defined(REFERENCE)
static void as_integers(void)
{
    MPI_File file = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    int number = MPI_File_toint(file);
    CHECK(MPI_File_fromint(number) == file);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(number != MPI_File_toint(MPI_FILE_NULL));
    MPI(MPI_File_close(&file));
}
#else
static void as_integers(void)
{
}
#endif

static void wrappers(void)
{
    MPI_File file;
    MPI_Status status;
    seen_writes = seen_opens = seen_closes = 0;
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI(MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, &status));
    MPI(MPI_File_write_at_all(file, rank, "y", 1, MPI_CHAR, &status));
    MPI(MPI_File_write_shared(file, "z", 1, MPI_CHAR, &status));
    MPI(PMPI_File_write_at(file, rank, "x", 1, MPI_CHAR, &status));
    MPI(MPI_File_close(&file));
    CHECK_INT(seen_writes, 1);
    CHECK_INT(seen_opens, 1);
    CHECK_INT(seen_closes, 1);
}

/* A program that is started while the file is open has none of its descriptors. */
static void executed(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    char command[NAME_BYTES + 100];
    snprintf(command, sizeof command, "! ls -l /proc/self/fd | grep -q '%s'", name);
    CHECK_INT(system(command), 0);
    /* A child that ends does no harm to the file. */
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    MPI(MPI_File_write_at_all(file, rank, "w", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "handles");
    numbers();
    barrier();
    as_integers();
    wrappers();
    executed();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
