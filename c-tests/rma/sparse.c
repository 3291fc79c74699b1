/* What a process maps of the memory that the ranks share is neither readable nor a part of core dumps as a whole: a core dump, and a tool
 * that reads all memory of a process (valgrind's leak check), would allocate all of it. */
#include "check.h"

enum { MOST = 300 << 10 }; /* KB */

/* Kilobytes of files without a name that this process could read, and of those that a core dump would have. */
static void mapped(long *readable, long *dumped)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512], access[8] = "";
    long kilobytes = 0;
    int shared = 0;
    *readable = *dumped = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3) {
            kilobytes = (long) ((to - from) / 1024);
            shared = strstr(line, "/memfd:") != NULL;
            if (shared && access[0] == 'r')
                *readable += kilobytes;
        } else if (shared && !strncmp(line, "VmFlags:", 8) && !strstr(line, " dd"))
            *dumped += kilobytes;
    }
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    char *base;
    long readable, dumped;
    const MPI_Aint bytes = 1 << 20;
    start(&argc, &argv);
    MPI(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    memset(base, 1, (size_t) bytes);
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 8, 1, MPI_INT, win));
    MPI(MPI_Win_fence(0, win));
    mapped(&readable, &dumped);
    CHECK(readable >= bytes / 1024);
    if (readable > MOST)
        check_failed(__FILE__, __LINE__, "%ld KB of shared memory can be read", readable);
    if (dumped < bytes / 1024 || dumped > MOST)
        check_failed(__FILE__, __LINE__, "a core dump has %ld KB of shared memory", dumped);
    MPI(MPI_Win_free(&win));
    return finish();
}
