/* A pwrite of the program's, which the library calls in place of the C library's: a test can do something inside of an access. */
#ifndef OXMPI_INTERPOSED_PWRITE_H
#define OXMPI_INTERPOSED_PWRITE_H

#include "files.h"
#include <pthread.h>
#include <sys/syscall.h>

/* Called before each write of at least this many bytes, by the thread that writes. */
static void (*volatile before_writes)(void);
static volatile size_t interposed_bytes;

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at)
{
    if (before_writes && length >= interposed_bytes)
        before_writes();
    return (ssize_t) syscall(SYS_pwrite64, descriptor, bytes, length, at);
}

#endif
