/* MPI_Alloc_mem and MPI_Free_mem: aligned, writable, of any size, usable in messages, many at a time, with an info. */
#include "check.h"

enum { COUNT = 100 };

int main(int argc, char **argv)
{
    unsigned char *blocks[COUNT];
    MPI_Info info;
    MPI_Status status;
    start(&argc, &argv);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    MPI(MPI_Info_set(info, "no_such_hint", "anything"));
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = (size_t) i * i * 13 + 1;
        MPI(MPI_Alloc_mem((MPI_Aint) bytes, i % 2 ? info : MPI_INFO_NULL, &blocks[i]));
        CHECK(blocks[i] != NULL);
        CHECK_INT((uintptr_t) blocks[i] % 16, 0);
        if (i % 2 && !reference)
            CHECK_INT((uintptr_t) blocks[i] % 4096, 0);
        fill(blocks[i], bytes, i);
    }
    MPI(MPI_Info_free(&info));
    for (int i = 0; i < COUNT; i++)
        CHECK_PATTERN(blocks[i], (size_t) i * i * 13 + 1, i);
    MPI(MPI_Sendrecv(blocks[99], 100000, MPI_BYTE, (rank + 1) % size, 0, blocks[98], 100000, MPI_BYTE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, &status));
    CHECK_PATTERN(blocks[98], 100000, 99);
    for (int i = COUNT - 1; i >= 0; i--)
        MPI(MPI_Free_mem(blocks[i]));
    return finish();
}
