/* One of two ranks reduces more than the other, in large rings: who expects less gets an error that names the ranks' bytes, as do those
 * who broadcast. */
#include "wrong.h"

enum { LESS = 10000, MORE = 15000 };

int main(int argc, char **argv)
{
    static int own[2 * MORE], got[2 * MORE];
    start(&argc, &argv);
    int count = rank ? MORE : LESS, counts[2] = {count, count};
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(own, got, LESS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return_errors();
    if (rank == 0) {
        ERROR(MPI_Reduce_scatter(own, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "120000 bytes", "80000");
        ERROR(MPI_Allreduce(own, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "60000 bytes", "40000");
        ERROR(MPI_Reduce(own, got, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "60000 bytes", "40000");
    } else {
        MPI_Reduce_scatter(own, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(own, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(own, got, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    return finish();
}
