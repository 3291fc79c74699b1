/* For the programs of chapter io: names of files that are the job's own, and what is in a file as the system says. */
#ifndef OXMPI_FILES_H
#define OXMPI_FILES_H

#include "check.h"
#include "process.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { NAME_BYTES = 500 };

/* A name that no other job has, on all ranks the same; there is no such file. Collective. Not as the library would name something: what a
 * test that was killed leaves is no leftover of the library. */
static CHECK_UNUSED void file_name(char *name, const char *what)
{
    const char *folder = getenv("TMPDIR");
    if (rank == 0) {
        snprintf(name, NAME_BYTES, "%s/c-test-%s-%ld", folder ? folder : "/tmp", what, (long) getpid());
        unlink(name);
    }
    MPI(MPI_Bcast(name, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static CHECK_UNUSED MPI_File file_open(MPI_Comm comm, const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    MPI(MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    return file;
}

/* Bytes of the file from an offset on, by the system; the rest is 0xee. Returns how many there are. */
static CHECK_UNUSED long file_read(const char *name, void *bytes, size_t length, off_t offset)
{
    int descriptor = open(name, O_RDONLY);
    long found;
    memset(bytes, 0xee, length);
    if (descriptor < 0)
        return -1;
    found = (long) pread(descriptor, bytes, length, offset);
    close(descriptor);
    return found;
}

static CHECK_UNUSED void file_write(const char *name, const void *bytes, size_t length)
{
    int descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(descriptor >= 0);
    CHECK_INT(pwrite(descriptor, bytes, length, 0), length);
    close(descriptor);
}

static CHECK_UNUSED long long file_size(const char *name)
{
    struct stat found;
    return stat(name, &found) ? -1 : (long long) found.st_size;
}

static CHECK_UNUSED void barrier(void)
{
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* The bytes that a status says were moved. */
static CHECK_UNUSED long long moved(const MPI_Status *status)
{
    MPI_Count bytes = -77;
    MPI(MPI_Get_elements_x(status, MPI_BYTE, &bytes));
    return (long long) bytes;
}

#define CHECK_MOVED(status, bytes) CHECK_INT(moved(&(status)), bytes)

#endif
