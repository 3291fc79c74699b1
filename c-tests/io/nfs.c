/* A file system that says it is NFS, and ranks on several nodes: a write has the lock of its range, so that no client writes what it has of
 * its neighbours' bytes, and nothing is written by a mapping. Without locks the writes go on. */
#define _GNU_SOURCE
#include "files.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/vfs.h>

enum { NFS = 0x6969, PIECES = 64, BYTES = 16 };

static char name[NAME_BYTES];
static int watched, refuses;
static long writes, locked, locks, maps;

/* The functions of the C library that the library calls. */
int fstatfs(int fd, struct statfs *found)
{
    static int (*real)(int, struct statfs *);
    if (!real)
        real = (int (*)(int, struct statfs *)) dlsym(RTLD_NEXT, "fstatfs");
    int result = real(fd, found);
    if (result == 0)
        found->f_type = NFS;
    return result;
}

int fstatfs64(int fd, struct statfs64 *found)
{
    static int (*real)(int, struct statfs64 *);
    if (!real)
        real = (int (*)(int, struct statfs64 *)) dlsym(RTLD_NEXT, "fstatfs64");
    int result = real(fd, found);
    if (result == 0)
        found->f_type = NFS;
    return result;
}

static int locks_of(int fd, int command, struct flock *lock)
{
    static int (*real)(int, int, ...);
    if (!real)
        real = (int (*)(int, int, ...)) dlsym(RTLD_NEXT, "fcntl");
    return real(fd, command, lock);
}

int fcntl(int fd, int command, ...)
{
    static int (*real)(int, int, ...);
    va_list list;
    if (!real)
        real = (int (*)(int, int, ...)) dlsym(RTLD_NEXT, "fcntl");
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (command == F_OFD_SETLK || command == F_OFD_SETLKW) {
        __atomic_fetch_add(&locks, 1, __ATOMIC_RELAXED);
        if (refuses) {
            errno = ENOLCK;
            return -1;
        }
    }
    return real(fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl(fd, command, argument);
}

/* Whether somebody has the lock of a range: another opening of the file cannot get it. */
static int is_locked(off_t at, size_t bytes)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = (off_t) bytes};
    int fd = open(name, O_RDWR), result = locks_of(fd, F_OFD_SETLK, &lock);
    close(fd);
    return result != 0;
}

static void meets(off_t at, size_t bytes)
{
    if (!watched)
        return;
    writes++;
    locked += is_locked(at, bytes);
}

ssize_t pwrite(int fd, const void *memory, size_t bytes, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        real = (ssize_t (*)(int, const void *, size_t, off_t)) dlsym(RTLD_NEXT, "pwrite");
    meets(at, bytes);
    return real(fd, memory, bytes, at);
}

ssize_t pwrite64(int fd, const void *memory, size_t bytes, off64_t at)
{
    return pwrite(fd, memory, bytes, at);
}

void *mmap64(void *place, size_t bytes, int protection, int flags, int fd, off64_t at)
{
    static void *(*real)(void *, size_t, int, int, int, off64_t);
    if (!real)
        real = (void *(*)(void *, size_t, int, int, int, off64_t)) dlsym(RTLD_NEXT, "mmap64");
    maps += watched && fd >= 0;
    return real(place, bytes, protection, flags, fd, at);
}

void *mmap(void *place, size_t bytes, int protection, int flags, int fd, off_t at)
{
    return mmap64(place, bytes, protection, flags, fd, at);
}

static void access_it(MPI_File file, int collective)
{
    unsigned char own[PIECES * BYTES], found[PIECES * BYTES];
    MPI_Status status;
    memset(own, 1 + rank + 100 * collective, sizeof own);
    watched = 1;
    if (collective)
        MPI(MPI_File_write_at_all(file, 0, own, sizeof own, MPI_BYTE, &status));
    else
        MPI(MPI_File_write_at(file, 0, own, sizeof own, MPI_BYTE, &status));
    watched = 0;
    CHECK_MOVED(status, sizeof own);
    MPI(MPI_File_sync(file));
    MPI(MPI_File_read_at(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, sizeof found);
    CHECK_INT(memcmp(own, found, sizeof own), 0);
    barrier();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "nfs");
    MPI_Datatype pieces;
    MPI_Offset bytes = 0;
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype spread;
    MPI(MPI_Type_contiguous(BYTES, MPI_BYTE, &pieces));
    MPI(MPI_Type_create_resized(pieces, 0, BYTES * size, &spread));
    MPI(MPI_Type_commit(&spread));
    MPI(MPI_File_set_view(file, BYTES * rank, MPI_BYTE, spread, "native", MPI_INFO_NULL));
    access_it(file, 0);
    CHECK_INT(writes, PIECES);
    CHECK_INT(locked, PIECES);
    access_it(file, 1);
    CHECK_INT(locked, writes);
    CHECK_INT(maps, 0);
    refuses = 1;
    access_it(file, 0);
    access_it(file, 1);
    refuses = 0;
    MPI(MPI_File_set_size(file, 1000));
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 1000);
    CHECK(locks > 0);
    MPI(MPI_Type_free(&spread));
    MPI(MPI_Type_free(&pieces));
    MPI(MPI_File_close(&file));
    if (rank == 0)
        unlink(name);
    finish();
}
