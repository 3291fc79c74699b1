/* The pair types of C: data around the holes arrives, the holes of the receiver stay as they were, small and large counts. */
#include "check.h"
#include <stddef.h>

struct kind {
    MPI_Datatype type;
    const char *name;
    size_t first, offset, second, extent;
};

struct float_int { float a; int b; };
struct double_int { double a; int b; };
struct long_int { long a; int b; };
struct short_int { short a; int b; };
struct long_double_int { long double a; int b; };
struct two_int { int a, b; };
#define KIND(type, s, first) {type, #type, sizeof(first), offsetof(struct s, b), sizeof(int), sizeof(struct s)}

int main(int argc, char **argv)
{
    const struct kind kinds[] = {KIND(MPI_FLOAT_INT, float_int, float), KIND(MPI_DOUBLE_INT, double_int, double),
                                 KIND(MPI_LONG_INT, long_int, long), KIND(MPI_SHORT_INT, short_int, short),
                                 KIND(MPI_LONG_DOUBLE_INT, long_double_int, long double), KIND(MPI_2INT, two_int, int)};
    static const int counts[] = {1, 2, 7, 100, 1000, 5000, 20000};
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct kind *kind = &kinds[k];
        MPI_Aint lower, extent;
        int bytes;
        MPI(MPI_Type_size(kind->type, &bytes));
        CHECK_INT(bytes, kind->first + kind->second);
        MPI(MPI_Type_get_extent(kind->type, &lower, &extent));
        CHECK_INT(extent, kind->extent);
        for (int c = 0; c < 7; c++)
            for (int how = 0; how < 3; how++) {
                size_t total = counts[c] * kind->extent;
                unsigned char *out = malloc(total), *in = malloc(total), *expected = malloc(total);
                MPI_Status status;
                MPI_Request requests[2];
                int count, elements = -1;
                fill(out, total, k + rank);
                memset(in, 0xe7, total);
                if (how == 0) {
                    MPI(MPI_Sendrecv(out, counts[c], kind->type, to, 1, in, counts[c], kind->type, from, 1, MPI_COMM_WORLD, &status));
                } else if (how == 1) { /* posted first */
                    MPI(MPI_Irecv(in, counts[c], kind->type, from, 1, MPI_COMM_WORLD, &requests[0]));
                    MPI(MPI_Barrier(MPI_COMM_WORLD));
                    MPI(MPI_Isend(out, counts[c], kind->type, to, 1, MPI_COMM_WORLD, &requests[1]));
                    MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
                    MPI(MPI_Wait(&requests[0], &status));
                } else { /* unexpected */
                    MPI(MPI_Isend(out, counts[c], kind->type, to, 1, MPI_COMM_WORLD, &requests[1]));
                    MPI(MPI_Barrier(MPI_COMM_WORLD));
                    MPI(MPI_Recv(in, counts[c], kind->type, from, 1, MPI_COMM_WORLD, &status));
                    MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
                }
                MPI(MPI_Get_count(&status, kind->type, &count));
                CHECK_INT(count, counts[c]);
                if (!reference) { /* MPICH 4.0.2 divides by zero */
                    MPI(MPI_Get_elements(&status, kind->type, &elements));
                    CHECK_INT(elements, 2 * counts[c]);
                }
                fill(out, total, k + from);
                memset(expected, 0xe7, total);
                for (int i = 0; i < counts[c]; i++) {
                    size_t at = i * kind->extent;
                    memcpy(expected + at, out + at, kind->first);
                    memcpy(expected + at + kind->offset, out + at + kind->offset, kind->second);
                }
                /* long double: its padding belongs to the type and may or may not travel */
                if (memcmp(in, expected, total))
                    check_failed(__FILE__, __LINE__, "%s, %d of them, way %d: wrong data or a hole was touched", kind->name, counts[c], how);
                free(out), free(in), free(expected);
            }
    }
    return finish();
}
