/* What the library asks of the system for one file: counted, and made to fail or to move less. The functions of the C library are defined
 * here in the program, so the linker binds the library's calls to them, as it does with a tool that is loaded first (LD_PRELOAD). */
#ifndef OXMPI_FAULTS_H
#define OXMPI_FAULTS_H

#ifndef _GNU_SOURCE
#error "_GNU_SOURCE has to be defined first"
#endif
#include "check.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/* LOCK: fcntl with locks; FCNTL: the rest of it. */
enum call { OPEN, CLOSE, FSTAT, WRITE, READ, FSYNC, FTRUNCATE, FALLOCATE, LOCK, FCNTL, MMAP, MADVISE, UNLINK, CALLS };

enum { ALWAYS = 1 << 30, WATCHED = 1 << 14 };

struct fault {
    long calls, bytes;
    /* Calls since faults were set; those before the first fault; how many are faulty; their errno, or 0 for transfers of at most `most`
     * bytes; the errno of all after them, or 0. */
    long seen, before, times, error, most, then;
    int on;
};

static struct fault fault_of[CALLS];
static const char *fault_name;
static char fault_watched[WATCHED];
/* The last mapping of the file. */
static char *fault_map;
static size_t fault_map_bytes;

#define FAULT_ADD(place, more) __atomic_fetch_add(&(place), more, __ATOMIC_RELAXED)

/* Calls for this file, from its opening on, are looked at; descriptors that are open are not. */
static CHECK_UNUSED void watch(const char *name)
{
    fault_name = name;
}

static CHECK_UNUSED void fault_set(enum call call, struct fault new_)
{
    struct fault *fault = &fault_of[call];
    new_.calls = fault->calls;
    new_.bytes = fault->bytes;
    *fault = new_;
    __atomic_store_n(&fault->on, 1, __ATOMIC_SEQ_CST);
}

/* From the `nth` on, so many calls fail; the next one is the first. */
static CHECK_UNUSED void let_fail(enum call call, long nth, long times, int error)
{
    fault_set(call, (struct fault) {.before = nth - 1, .times = times, .error = error});
}

/* So many transfers move at most so many bytes each; then all fail, if `then` is an errno. */
static CHECK_UNUSED void let_move(enum call call, long times, long bytes, int then)
{
    fault_set(call, (struct fault) {.times = times, .most = bytes, .then = then});
}

/* No more faults, and the counts are zero. */
static CHECK_UNUSED void all_works(void)
{
    for (int i = 0; i < CALLS; i++)
        __atomic_store_n(&fault_of[i].on, 0, __ATOMIC_SEQ_CST);
    memset(fault_of, 0, sizeof fault_of);
}

static CHECK_UNUSED long calls(enum call call)
{
    return __atomic_load_n(&fault_of[call].calls, __ATOMIC_RELAXED);
}

static int fault_is_ours(const char *name)
{
    return fault_name && name && !strcmp(name, fault_name);
}

static int fault_watches(int fd)
{
    return fd >= 0 && fd < WATCHED && fault_watched[fd];
}

/* Counts a call; its errno if it is to fail, -1 if it is to move less, else 0. */
static int fault_meets(enum call call)
{
    struct fault *fault = &fault_of[call];
    FAULT_ADD(fault->calls, 1);
    if (!__atomic_load_n(&fault->on, __ATOMIC_SEQ_CST))
        return 0;
    long seen = FAULT_ADD(fault->seen, 1);
    if (seen < fault->before)
        return 0;
    if (seen < fault->before + fault->times)
        return fault->error ? (int) fault->error : -1;
    return (int) fault->then;
}

static void *fault_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

#define FAULT_REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) \
        real = (result (*)(__VA_ARGS__)) fault_next(name)

#define FAULT_FAILS(call) do { \
        int fault_error = fault_meets(call); \
        if (fault_error > 0) { \
            errno = fault_error; \
            return -1; \
        } } while (0)

static int fault_open(int (*real)(const char *, int, ...), const char *name, int flags, mode_t mode)
{
    int fd, ours = fault_is_ours(name);
    if (ours)
        FAULT_FAILS(OPEN);
    fd = real(name, flags, mode);
    if (fd >= 0 && fd < WATCHED)
        fault_watched[fd] = (char) ours;
    return fd;
}

#define FAULT_OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        FAULT_REAL(int, #name, const char *, int, ...); \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? (mode_t) va_arg(list, unsigned) : 0; \
        va_end(list); \
        return fault_open(real, path, flags, mode); \
    }
FAULT_OPEN(open)
FAULT_OPEN(open64)

/* The descriptor is gone, whatever it says. */
int close(int fd)
{
    FAULT_REAL(int, "close", int);
    int ours = fault_watches(fd), result;
    if (ours)
        fault_watched[fd] = 0;
    result = real(fd);
    if (ours)
        FAULT_FAILS(CLOSE);
    return result;
}

#define FAULT_STAT(name, type) \
    int name(int fd, struct type *found) \
    { \
        FAULT_REAL(int, #name, int, struct type *); \
        if (fault_watches(fd)) \
            FAULT_FAILS(FSTAT); \
        return real(fd, found); \
    }
FAULT_STAT(fstat, stat)
FAULT_STAT(fstat64, stat64)

/* How many bytes may be moved; -1 with errno if none. */
static ssize_t fault_moves(enum call call, size_t bytes)
{
    int error = fault_meets(call);
    if (error > 0) {
        errno = error;
        return -1;
    }
    if (error < 0 && bytes > (size_t) fault_of[call].most)
        bytes = (size_t) fault_of[call].most;
    FAULT_ADD(fault_of[call].bytes, (long) bytes);
    return (ssize_t) bytes;
}

#define FAULT_MOVE(name, call, memory_type) \
    ssize_t name(int fd, memory_type memory, size_t bytes, off_t at) \
    { \
        FAULT_REAL(ssize_t, #name, int, memory_type, size_t, off_t); \
        ssize_t most = fault_watches(fd) ? fault_moves(call, bytes) : (ssize_t) bytes; \
        return most < 0 || (most == 0 && bytes > 0) ? most : real(fd, memory, (size_t) most, at); \
    }
FAULT_MOVE(pread, READ, void *)
FAULT_MOVE(pread64, READ, void *)
FAULT_MOVE(pwrite, WRITE, const void *)
FAULT_MOVE(pwrite64, WRITE, const void *)

/* A list that may not be moved whole is cut off in its first piece. */
#define FAULT_MOVES(name, call) \
    ssize_t name(int fd, const struct iovec *pieces, int count, off_t at) \
    { \
        FAULT_REAL(ssize_t, #name, int, const struct iovec *, int, off_t); \
        struct iovec first; \
        size_t bytes = 0; \
        for (int i = 0; i < count; i++) \
            bytes += pieces[i].iov_len; \
        ssize_t most = fault_watches(fd) ? fault_moves(call, bytes) : (ssize_t) bytes; \
        if (most < 0 || (most == 0 && bytes > 0)) \
            return most; \
        if ((size_t) most == bytes) \
            return real(fd, pieces, count, at); \
        first = pieces[0]; \
        if (first.iov_len > (size_t) most) \
            first.iov_len = (size_t) most; \
        return real(fd, &first, 1, at); \
    }
FAULT_MOVES(preadv, READ)
FAULT_MOVES(preadv64, READ)
FAULT_MOVES(pwritev, WRITE)
FAULT_MOVES(pwritev64, WRITE)

int fsync(int fd)
{
    FAULT_REAL(int, "fsync", int);
    if (fault_watches(fd))
        FAULT_FAILS(FSYNC);
    return real(fd);
}

int fdatasync(int fd)
{
    FAULT_REAL(int, "fdatasync", int);
    if (fault_watches(fd))
        FAULT_FAILS(FSYNC);
    return real(fd);
}

#define FAULT_SIZE(name) \
    int name(int fd, off_t bytes) \
    { \
        FAULT_REAL(int, #name, int, off_t); \
        if (fault_watches(fd)) \
            FAULT_FAILS(FTRUNCATE); \
        return real(fd, bytes); \
    }
FAULT_SIZE(ftruncate)
FAULT_SIZE(ftruncate64)

#define FAULT_ALLOCATE(name) \
    int name(int fd, int mode, off_t from, off_t bytes) \
    { \
        FAULT_REAL(int, #name, int, int, off_t, off_t); \
        if (fault_watches(fd)) \
            FAULT_FAILS(FALLOCATE); \
        return real(fd, mode, from, bytes); \
    }
FAULT_ALLOCATE(fallocate)
FAULT_ALLOCATE(fallocate64)

#define FAULT_FCNTL(name) \
    int name(int fd, int command, ...) \
    { \
        FAULT_REAL(int, #name, int, int, ...); \
        va_list list; \
        va_start(list, command); \
        void *argument = va_arg(list, void *); \
        va_end(list); \
        int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW; \
        if (fault_watches(fd)) \
            FAULT_FAILS(locks ? LOCK : FCNTL); \
        return real(fd, command, argument); \
    }
FAULT_FCNTL(fcntl)
FAULT_FCNTL(fcntl64)

#define FAULT_MMAP(name) \
    void *name(void *at, size_t bytes, int access, int flags, int fd, off_t from) \
    { \
        FAULT_REAL(void *, #name, void *, size_t, int, int, int, off_t); \
        int ours = !(flags & MAP_ANONYMOUS) && fault_watches(fd), error = ours ? fault_meets(MMAP) : 0; \
        if (error > 0) { \
            errno = error; \
            return MAP_FAILED; \
        } \
        char *map = real(at, bytes, access, flags, fd, from); \
        if (ours && map != MAP_FAILED) { \
            fault_map = map; \
            fault_map_bytes = bytes; \
        } \
        return map; \
    }
FAULT_MMAP(mmap)
FAULT_MMAP(mmap64)

int madvise(void *at, size_t bytes, int advice)
{
    FAULT_REAL(int, "madvise", void *, size_t, int);
    if (fault_map && (char *) at >= fault_map && (char *) at < fault_map + fault_map_bytes)
        FAULT_FAILS(MADVISE);
    return real(at, bytes, advice);
}

int unlink(const char *name)
{
    FAULT_REAL(int, "unlink", const char *);
    if (fault_is_ours(name))
        FAULT_FAILS(UNLINK);
    return real(name);
}

#endif
