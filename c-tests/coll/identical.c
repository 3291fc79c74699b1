/* All ranks get the same bits of a reduction, also where the order of two operands shows: a NaN, zeros of both signs. */
#include "check.h"
#include <math.h>

enum { MOST = 1 << 17 };
static double own[MOST], result[MOST], first[MOST];

static void try(MPI_Op op, int count, int in_place, int nonblocking)
{
    for (int i = 0; i < count; i++) {
        int who = (i + rank) % size;
        own[i] = who == 0 ? NAN : who == 1 ? -0.0 : 0.0;
        if (i % 3 == 1)
            own[i] = rank % 2 ? -0.0 : 0.0;
        result[i] = in_place ? own[i] : 7;
    }
    const void *from = in_place ? MPI_IN_PLACE : own;
    if (nonblocking) {
        MPI_Request request;
        MPI(MPI_Iallreduce(from, result, count, MPI_DOUBLE, op, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MPI(MPI_Allreduce(from, result, count, MPI_DOUBLE, op, MPI_COMM_WORLD));
    }
    memcpy(first, result, count * sizeof *first);
    MPI(MPI_Bcast(first, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        if (memcmp(&first[i], &result[i], sizeof *first)) {
            check_failed(__FILE__, __LINE__, "%d elements, in place %d, nonblocking %d: element %d is %g, and %g on rank 0", count, in_place,
                         nonblocking, i, result[i], first[i]);
            break;
        }
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 6, 100, 513, 3000, 20000, MOST};
    start(&argc, &argv);
    MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD};
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
        for (unsigned op = 0; op < sizeof ops / sizeof *ops; op++)
            for (int form = 0; form < 4; form++)
                try(ops[op], counts[c], form % 2, form / 2);
    return finish();
}
