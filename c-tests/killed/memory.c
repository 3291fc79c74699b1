/* All ranks but the first are killed, and have memory of MPI_Alloc_mem. It is given back when the first one allocates some; not so while
 * that has a window with them. For mpiexec with -disable-auto-cleanup. arg: `window` or nothing. */
#define _GNU_SOURCE
#include "check.h"
#include "node_memory.h"

enum { BYTES = 32 << 20 };

static void have_memory_and_die(char *memory)
{
    memset(memory, rank, BYTES);
    MPI(MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    MPI(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int has_window = argc > 1 && !strcmp(argv[1], "window"), number;
    char *memory, *more;
    MPI_Win win;
    start(&argc, &argv);
    MPI(MPI_Alloc_mem(rank == 0 ? 1 : BYTES, MPI_INFO_NULL, &memory));
    if (has_window)
        MPI(MPI_Win_create(memory, rank == 0 ? 1 : BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (rank != 0)
        have_memory_and_die(memory);
    for (int i = 1; i < size; i++)
        MPI(MPI_Recv(&number, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    long long before = allocated();
    CHECK(before >= (long long) (size - 1) * BYTES);
    return_errors();
    for (int i = 1; i < size; i++)
        MPI(MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD));
    for (int i = 1; i < size; i++)
        CHECK(MPI_Recv(&number, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &more));
    long long after = allocated();
    if (has_window ? after < before : after > before / 2)
        check_failed(__FILE__, __LINE__, "there were %lld bytes, and are %lld", before, after);
    if (check_failures == 0)
        fprintf(stderr, "all was right\n");
    _exit(check_failures != 0);
}
