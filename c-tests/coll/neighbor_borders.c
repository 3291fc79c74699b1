/* A halo exchange inside of one array: parts of neighbors beyond a border are not used, wherever they are said to be. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm line;
    int periodic = 0, low, high;
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line));
    MPI(MPI_Cart_shift(line, 0, 1, &low, &high));
    int counts[2] = {1, 1}, from[2] = {0, 0}, to[2] = {0, 0};
    MPI_Aint from_bytes[2], to_bytes[2];
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    if (low != MPI_PROC_NULL)
        from[0] = 1;
    if (high != MPI_PROC_NULL)
        from[1] = 2, to[1] = 3;
    for (int i = 0; i < 2; i++) {
        from_bytes[i] = from[i] * (MPI_Aint) sizeof(int);
        to_bytes[i] = to[i] * (MPI_Aint) sizeof(int);
    }
    for (int form = 0; form < 4; form++) {
        int cells[4] = {-1, 10 * rank + 1, 10 * rank + 2, -1}; /* ghost, 2 cells, ghost */
        MPI_Request request;
        if (form == 0)
            MPI(MPI_Neighbor_alltoallv(cells, counts, from, MPI_INT, cells, counts, to, MPI_INT, line));
        else if (form == 1)
            MPI(MPI_Neighbor_alltoallw(cells, counts, from_bytes, types, cells, counts, to_bytes, types, line));
        else if (form == 2)
            MPI(MPI_Ineighbor_alltoallv(cells, counts, from, MPI_INT, cells, counts, to, MPI_INT, line, &request));
        else
            MPI(MPI_Ineighbor_alltoallw(cells, counts, from_bytes, types, cells, counts, to_bytes, types, line, &request));
        if (form >= 2)
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(cells[0], low == MPI_PROC_NULL ? -1 : 10 * low + 2);
        CHECK_INT(cells[1], 10 * rank + 1);
        CHECK_INT(cells[2], 10 * rank + 2);
        CHECK_INT(cells[3], high == MPI_PROC_NULL ? -1 : 10 * high + 1);
    }
    MPI(MPI_Comm_free(&line));
    return finish();
}
