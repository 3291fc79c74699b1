/* Neighborhood exchange of large blocks, several operations at once, on a duplicate, and halos of a matrix by derived types. */
#include "check.h"

enum { EDGE = 32, OPERATIONS = 6 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int sides[2] = {0, 0}, periods[2] = {1, 0}, count = slow() ? 2000 : 70000;
    MPI_Comm first, comm;
    MPI(MPI_Dims_create(size, 2, sides));
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 1, &first));
    MPI(MPI_Comm_dup(first, &comm));
    MPI(MPI_Comm_free(&first));
    int around[4], me;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Cart_shift(comm, 0, 1, &around[0], &around[1]));
    MPI(MPI_Cart_shift(comm, 1, 1, &around[2], &around[3]));

    /* operations of different sizes, finished in another order than begun */
    int *out[OPERATIONS], *in[OPERATIONS];
    MPI_Request requests[OPERATIONS];
    for (int o = 0; o < OPERATIONS; o++) {
        int n = count >> 2 * o;
        out[o] = malloc((size_t) (4 * n) * sizeof(int)), in[o] = malloc((size_t) (4 * n) * sizeof(int));
        for (int i = 0; i < 4 * n; i++)
            out[o][i] = me * 1000003 + o * 31 + i, in[o][i] = -1;
        MPI(MPI_Ineighbor_alltoall(out[o], n, MPI_INT, in[o], n, MPI_INT, comm, &requests[o]));
    }
    for (int o = OPERATIONS - 1; o >= 0; o--) {
        int n = count >> 2 * o;
        MPI(MPI_Wait(&requests[o], MPI_STATUS_IGNORE));
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < n; i++) {
                int wanted = around[d] == MPI_PROC_NULL ? -1 : around[d] * 1000003 + o * 31 + (d ^ 1) * n + i;
                if (in[o][d * n + i] != wanted) {
                    check_failed(__FILE__, __LINE__, "operation %d, side %d, element %d is %d, not %d", o, d, i, in[o][d * n + i], wanted);
                    break;
                }
            }
        free(out[o]), free(in[o]);
    }

    /* halos: rows are contiguous, columns are not */
    static double m[EDGE + 2][EDGE + 2];
    for (int y = 0; y < EDGE + 2; y++)
        for (int x = 0; x < EDGE + 2; x++)
            m[y][x] = y && x && y <= EDGE && x <= EDGE ? me * 10000 + y * 100 + x : -1;
    MPI_Datatype row, column;
    MPI(MPI_Type_contiguous(EDGE, MPI_DOUBLE, &row));
    MPI(MPI_Type_vector(EDGE, 1, EDGE + 2, MPI_DOUBLE, &column));
    MPI(MPI_Type_commit(&row));
    MPI(MPI_Type_commit(&column));
#define AT(y, x) ((char *) &m[y][x] - (char *) m)
    MPI_Aint send_at[4] = {AT(1, 1), AT(EDGE, 1), AT(1, 1), AT(1, EDGE)}, recv_at[4] = {AT(0, 1), AT(EDGE + 1, 1), AT(1, 0), AT(1, EDGE + 1)};
    MPI_Datatype types[4] = {row, row, column, column};
    int ones[4] = {1, 1, 1, 1};
    MPI(MPI_Neighbor_alltoallw(m, ones, send_at, types, m, ones, recv_at, types, comm));
    for (int i = 1; i <= EDGE; i++) {
        CHECK(m[0][i] == around[0] * 10000 + EDGE * 100 + i);
        CHECK(m[EDGE + 1][i] == around[1] * 10000 + 100 + i);
        CHECK(m[i][0] == (around[2] == MPI_PROC_NULL ? -1 : around[2] * 10000 + i * 100 + EDGE));
        CHECK(m[i][EDGE + 1] == (around[3] == MPI_PROC_NULL ? -1 : around[3] * 10000 + i * 100 + 1));
        CHECK(m[i][i] == me * 10000 + i * 101);
    }
    MPI(MPI_Type_free(&row));
    MPI(MPI_Type_free(&column));
    MPI(MPI_Comm_free(&comm));
    return finish();
}
