/* Windows of every flavour that are there at MPI_Finalize. */
#include "near.h"

int main(int argc, char **argv)
{
    static char memory[10];
    char *base;
    MPI_Win win[4];
    start(&argc, &argv);
    MPI(MPI_Win_create(memory, 10, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[0]));
    MPI(MPI_Win_allocate(10000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win[1]));
    if (share_memory(MPI_COMM_WORLD))
        MPI(MPI_Win_allocate_shared(10000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win[2]));
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win[3]));
    MPI(MPI_Win_attach(win[3], memory, 10));
    memset(base, 1, 10000);
    return finish();
}
