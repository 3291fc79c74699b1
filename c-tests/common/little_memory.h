/* A process that gets no more memory for a while: its address space may not grow by more than a little. */
#ifndef OXMPI_LITTLE_MEMORY_H
#define OXMPI_LITTLE_MEMORY_H

#include "check.h"
#include <malloc.h>
#include <sys/resource.h>

static rlim_t before_confined = RLIM_INFINITY;

/* What is smaller than this may still be had, from what the C library keeps. */
enum { LITTLE = 64 << 10 };

/* Whatever was freed before, the C library keeps no large pieces that it could give again. */
__attribute__((constructor)) static void keep_little(void)
{
    mallopt(M_MMAP_THRESHOLD, LITTLE);
}

static CHECK_UNUSED void limit_address_space(rlim_t bytes)
{
    struct rlimit both;
    CHECK_INT(getrlimit(RLIMIT_AS, &both), 0);
    before_confined = both.rlim_cur;
    both.rlim_cur = bytes;
    CHECK_INT(setrlimit(RLIMIT_AS, &both), 0);
}

/* Bytes of the address space. */
static CHECK_UNUSED size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *numbers = fopen("/proc/self/statm", "r");
    CHECK(numbers && fscanf(numbers, "%lu", &pages) == 1);
    if (numbers)
        fclose(numbers);
    return pages * (size_t) sysconf(_SC_PAGESIZE);
}

static CHECK_UNUSED void confine(void)
{
    limit_address_space(address_space() + LITTLE);
}

static CHECK_UNUSED void set_free(void)
{
    struct rlimit both;
    CHECK_INT(getrlimit(RLIMIT_AS, &both), 0);
    both.rlim_cur = before_confined;
    CHECK_INT(setrlimit(RLIMIT_AS, &both), 0);
}

/* A call that has to say that there is no memory, with the bytes that it wanted and its own name. */
#define NO_MEMORY(call) do { \
        int no_memory_code; \
        confine(); \
        no_memory_code = (call); \
        set_free(); \
        check_class(__FILE__, __LINE__, #call, no_memory_code, MPI_ERR_NO_MEM); \
        check_error_text(__FILE__, __LINE__, no_memory_code, #call, "bytes", NULL); } while (0)

#endif
