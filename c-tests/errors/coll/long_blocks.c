/* The root of an MPI_Scatter sends longer blocks than the others have room for: each of them is told. */
#include "check.h"

enum { MOST = 64 };

int main(int argc, char **argv)
{
    static int out[2 * MOST];
    int own[2];
    start(&argc, &argv);
    return_errors();
    for (int i = 0; i < 2 * size; i++)
        out[i] = i;
    for (int root = 0; root < size; root++) {
        own[0] = own[1] = -1;
        int code = MPI_Scatter(out, rank == root ? 2 : 1, MPI_INT, own, rank == root ? 2 : 1, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root)
            CHECK_INT(own[1], 2 * rank + 1);
        else
            CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK(rank == root || own[1] == -1);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
