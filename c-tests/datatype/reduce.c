/* Reductions by the program's functions on derived types: they see the elements laid out as the type says. */
#include "check.h"

struct complex3 { char tag; double re[3]; };

static MPI_Datatype type_seen;

/* Composes affine maps x -> a x + b, which do not commute; a lies at 0 and b at 16 of 24 bytes. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    type_seen = *type;
    for (int i = 0; i < *count; i++) {
        int *left = (int *) ((char *) in + i * extent), *right = (int *) ((char *) inout + i * extent);
        int a = left[0] * right[0] % 10007, b = (right[0] * left[4] + right[4]) % 10007;
        right[0] = a;
        right[4] = b;
    }
}

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < 3; k++)
            ((struct complex3 *) inout)[i].re[k] += ((struct complex3 *) in)[i].re[k];
}

int main(int argc, char **argv)
{
    MPI_Datatype map, record, dup;
    MPI_Op op, add;
    enum { N = 7 };
    int mine[N][6], all[N][6];
    start(&argc, &argv);
    MPI(MPI_Type_vector(2, 1, 4, MPI_INT, &dup));
    MPI(MPI_Type_create_resized(dup, 0, 24, &map));
    MPI(MPI_Type_free(&dup));
    MPI(MPI_Type_commit(&map));
    MPI(MPI_Op_create(compose, 0, &op));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 6; k++) {
            mine[i][k] = k == 0 ? rank + 2 : k == 4 ? i + rank : -5;
            all[i][k] = -7;
        }
    MPI(MPI_Allreduce(mine, all, N, map, op, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) {
        int a = 2, b = i;
        for (int r = 1; r < size; r++) {
            b = ((r + 2) * b + i + r) % 10007;
            a = a * (r + 2) % 10007;
        }
        CHECK_INT(all[i][0], a);
        CHECK_INT(all[i][4], b);
        CHECK_INT(all[i][1], -7);
        CHECK_INT(all[i][5], -7);
    }
    /* Not all ranks combine something. */
    int seen = type_seen == map, somewhere = 0;
    CHECK(seen || type_seen == 0 || reference);
    MPI(MPI_Allreduce(&seen, &somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(size == 1 || somewhere || reference);
    MPI(MPI_Reduce_local(mine, all, N, map, op));
    MPI(MPI_Op_free(&op));
    MPI(MPI_Type_free(&map));

    struct complex3 own[3], result[3];
    MPI(MPI_Op_create(sum, 1, &add));
    MPI(MPI_Type_create_struct(2, (int[]) {1, 3}, (MPI_Aint[]) {0, 8}, (MPI_Datatype[]) {MPI_CHAR, MPI_DOUBLE}, &record));
    MPI(MPI_Type_commit(&record));
    for (int i = 0; i < 3; i++)
        own[i] = (struct complex3) {'x', {i, rank, 1}};
    MPI(MPI_Allreduce(own, result, 3, record, add, MPI_COMM_WORLD));
    for (int i = 0; i < 3; i++)
        CHECK(result[i].tag == 'x' && result[i].re[0] == i * size && result[i].re[1] == size * (size - 1) / 2 && result[i].re[2] == size);
    MPI(MPI_Bcast(result, 3, record, size - 1, MPI_COMM_WORLD));
    MPI(MPI_Op_free(&add));
    MPI(MPI_Type_free(&record));

    /* gathered into columns */
    int *matrix = calloc((size_t) (4 * size), sizeof *matrix), column[4] = {rank, 10 + rank, 20 + rank, 30 + rank};
    MPI_Datatype whole, part;
    MPI(MPI_Type_vector(4, 1, size, MPI_INT, &whole));
    MPI(MPI_Type_create_resized(whole, 0, sizeof(int), &part));
    MPI(MPI_Type_commit(&part));
    MPI(MPI_Allgather(column, 4, MPI_INT, matrix, 1, part, MPI_COMM_WORLD));
    for (int i = 0; i < 4 * size; i++)
        CHECK_INT(matrix[i], i / size * 10 + i % size);
    memset(matrix, 0, (size_t) (4 * size) * sizeof *matrix);
    MPI(MPI_Gather(column, 4, MPI_INT, matrix, 1, part, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 4 * size && rank == 0; i++)
        CHECK_INT(matrix[i], i / size * 10 + i % size);
    MPI(MPI_Type_free(&whole));
    MPI(MPI_Type_free(&part));
    free(matrix);
    return finish();
}
