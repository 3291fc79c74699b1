/* MPI_Dims_create: grids as square as the number allows, with sides that are given and such that are not. */
#include "check.h"

static void grid(int line, int nodes, int ndims, const int *given, const int *expected)
{
    int dims[5];
    memcpy(dims, given, (size_t) ndims * sizeof *dims);
    MPI(MPI_Dims_create(nodes, ndims, dims));
    for (int d = 0; d < ndims; d++)
        if (dims[d] != expected[d])
            check_failed(__FILE__, line, "%d processes: side %d is %d, expected %d", nodes, d, dims[d], expected[d]);
}
#define LIST(...) (const int[]) {__VA_ARGS__}
#define GRID(nodes, ndims, given, expected) grid(__LINE__, nodes, ndims, given, expected)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    GRID(6, 2, LIST(0, 0), LIST(3, 2));
    GRID(7, 2, LIST(0, 0), LIST(7, 1));
    GRID(6, 3, LIST(0, 3, 0), LIST(2, 3, 1));
    GRID(12, 3, LIST(0, 0, 0), LIST(3, 2, 2));
    GRID(24, 2, LIST(0, 0), LIST(6, 4));
    GRID(60, 3, LIST(0, 0, 0), LIST(5, 4, 3));
    GRID(96, 4, LIST(0, 0, 0, 0), LIST(4, 4, 3, 2));
    GRID(1000, 2, LIST(0, 0), LIST(40, 25));
    GRID(1024, 3, LIST(0, 0, 0), LIST(16, 8, 8));
    GRID(24624, 3, LIST(0, 0, 0), LIST(38, 27, 24));
    GRID(2310, 4, LIST(0, 0, 0, 0), LIST(11, 7, 6, 5));
    GRID(36, 3, LIST(0, 2, 0), LIST(6, 2, 3));
    GRID(1, 2, LIST(0, 0), LIST(1, 1));
    GRID(8, 2, LIST(2, 4), LIST(2, 4));
    return finish();
}
