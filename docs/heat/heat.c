/* The heat equation on a square, divided among a grid of ranks: heat.F90 in C, where it is explained.
 *
 *     mpicc -O2 heat.c -o heat
 *     mpiexec -n 4 ./heat 96 500 heat.pgm
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PICTURE_TAG = 9 };
static const double hot = 100, share = 0.2;
static int n = 96, steps = 500, ranks, rank, dims[2], coords[2], first[2], last[2], sizes[2];
static const char *picture = "heat.pgm";
static double *u;
static MPI_Comm grid;

/* The first index runs fastest, as in Fortran. */
#define U(x, y) u[(size_t) (y) * (sizes[0] + 2) + (x)]

static void part(const int at[2], int from[2], int to[2])
{
    for (int i = 0; i < 2; i++) {
        from[i] = at[i] * n / dims[i] + 1;
        to[i] = (at[i] + 1) * n / dims[i];
    }
}

static MPI_Datatype block(const int of[2], const int lengths[2], const int start[2])
{
    MPI_Datatype type;
    MPI_Type_create_subarray(2, of, lengths, start, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static double advance(double *next)
{
    double most = 0;
    for (int y = 1; y <= sizes[1]; y++)
        for (int x = 1; x <= sizes[0]; x++) {
            double *new = &next[(size_t) (y - 1) * sizes[0] + x - 1];
            *new = U(x, y) + share * (U(x - 1, y) + U(x + 1, y) + U(x, y - 1) + U(x, y + 1) - 4 * U(x, y));
            most = fmax(most, fabs(*new - U(x, y)));
        }
    for (int y = 1; y <= sizes[1]; y++)
        for (int x = 1; x <= sizes[0]; x++)
            U(x, y) = next[(size_t) (y - 1) * sizes[0] + x - 1];
    return most;
}

static void write_picture(const double *whole)
{
    FILE *file = fopen(picture, "w");
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(file, "P2\n%d %d\n255\n", n, n);
    for (int y = n - 1; y >= 0; y--)
        for (int x = 0; x < n; x++)
            fprintf(file, "%d\n", (int) (whole[(size_t) y * n + x] / hot * 255));
    fclose(file);
}

static void gather(MPI_Datatype inner)
{
    MPI_Request sent;
    MPI_Isend(u, 1, inner, 0, PICTURE_TAG, grid, &sent);
    if (rank == 0) {
        double *whole = malloc((size_t) n * n * sizeof *whole);
        for (int other = 0; other < ranks; other++) {
            int at[2], from[2], to[2], square[2] = {n, n}, lengths[2], start[2];
            MPI_Cart_coords(grid, other, 2, at);
            part(at, from, to);
            for (int i = 0; i < 2; i++) {
                lengths[i] = to[i] - from[i] + 1;
                start[i] = from[i] - 1;
            }
            MPI_Datatype place = block(square, lengths, start);
            MPI_Recv(whole, 1, place, other, PICTURE_TAG, grid, MPI_STATUS_IGNORE);
            MPI_Type_free(&place);
        }
        write_picture(whole);
        free(whole);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int neighbors[4], periods[2] = {0, 0};
    double largest = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 3) {
        n = atoi(argv[1]);
        steps = atoi(argv[2]);
        picture = argv[3];
    }
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    part(coords, first, last);
    for (int i = 0; i < 2; i++)
        sizes[i] = last[i] - first[i] + 1;
    MPI_Cart_shift(grid, 0, 1, &neighbors[0], &neighbors[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbors[2], &neighbors[3]);

    int with_border[2] = {sizes[0] + 2, sizes[1] + 2}, column[2] = {1, sizes[1]}, row[2] = {sizes[0], 1};
    u = calloc((size_t) with_border[0] * with_border[1], sizeof *u);
    double *next = malloc((size_t) sizes[0] * sizes[1] * sizeof *next);
    if (coords[1] == 0)
        for (int x = 0; x <= sizes[0] + 1; x++)
            U(x, 0) = hot;
    MPI_Datatype inner = block(with_border, sizes, (int[]) {1, 1});
    MPI_Datatype send_types[4] = {
        block(with_border, column, (int[]) {1, 1}), block(with_border, column, (int[]) {sizes[0], 1}),
        block(with_border, row, (int[]) {1, 1}), block(with_border, row, (int[]) {1, sizes[1]})};
    MPI_Datatype receive_types[4] = {
        block(with_border, column, (int[]) {0, 1}), block(with_border, column, (int[]) {sizes[0] + 1, 1}),
        block(with_border, row, (int[]) {1, 0}), block(with_border, row, (int[]) {1, sizes[1] + 1})};

    for (int step = 1; step <= steps; step++) {
        MPI_Request requests[8];
        for (int i = 0; i < 4; i++) {
            MPI_Irecv(u, 1, receive_types[i], neighbors[i], 1, grid, &requests[i]);
            MPI_Isend(u, 1, send_types[i], neighbors[i], 1, grid, &requests[4 + i]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        double change = advance(next);
        MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    if (rank == 0)
        printf("after %d steps the largest change is %13.6E\n", steps, largest);

    gather(inner);
    for (int i = 0; i < 4; i++) {
        MPI_Type_free(&send_types[i]);
        MPI_Type_free(&receive_types[i]);
    }
    MPI_Type_free(&inner);
    MPI_Comm_free(&grid);
    free(u);
    free(next);
    MPI_Finalize();
    return 0;
}
