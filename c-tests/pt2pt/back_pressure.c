/* A receiver that has not asked for a flood of messages keeps only so much of it, and gives the memory back when it has been
 * received. Arguments: what the sender does, how many messages, how many megabytes may be kept. "nonblocking": the receiver waits for a message behind all others, so that all have
 * been announced when it measures. "blocking": the receiver looks for something else for a while. */
#include "check.h"
#include <malloc.h>

enum { BYTES = 16384, OF_RXM = 36 };

/* Megabytes of the process's own memory in use. */
static long resident(void)
{
    long all = 0, pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld %ld", &all, &pages, &shared) == 3);
    if (file)
        fclose(file);
    return (pages - shared) * sysconf(_SC_PAGESIZE) / (1 << 20);
}

int main(int argc, char **argv)
{
    static int data[BYTES / sizeof(int)];
    start(&argc, &argv);
    int nonblocking = argc > 1 && !strcmp(argv[1], "nonblocking");
    int messages = argc > 2 ? atoi(argv[2]) : 2000, most = argc > 3 ? atoi(argv[3]) : 16, flag;
    /* `ofi_rxm` has receive buffers of its own: 36 MB, however many messages come. */
    const char *fabric = getenv("OXMPI_FABRIC");
    int of_provider = fabric && strstr(fabric, "ofi_rxm") ? OF_RXM : 0;
    if (slow())
        messages /= 20;
    if (rank == 1 && nonblocking) {
        MPI_Request *requests = malloc((messages + 1) * sizeof *requests);
        for (int i = 0; i < messages; i++)
            MPI(MPI_Isend(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]));
        MPI(MPI_Isend(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[messages]));
        MPI(MPI_Waitall(messages + 1, requests, MPI_STATUSES_IGNORE));
        free(requests);
    } else if (rank == 1) {
        for (int i = 0; i < messages; i++) {
            data[0] = i;
            MPI(MPI_Send(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
            data[0] = -1;
        }
    } else if (rank == 0) {
        long before = resident();
        if (nonblocking)
            MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; !nonblocking && i < messages / 2; i++)
            MPI(MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        long kept = resident();
        for (int i = 0; i < messages; i++) {
            MPI(MPI_Recv(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(data[0], nonblocking ? 0 : i);
        }
        /* The allocator keeps free pages between used ones; they are not the library's. */
        malloc_trim(0);
        long after = resident();
        if (!reference && !slow()) {
            if (kept - before > most + of_provider)
                check_failed(__FILE__, __LINE__, "%ld MB are kept", kept - before);
            if (after - before > most / 2 + of_provider)
                check_failed(__FILE__, __LINE__, "%ld of %ld MB stay", after - before, kept - before);
        }
    }
    return finish();
}
