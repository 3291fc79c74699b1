/* Allreduce: predefined operations on integers and floating point, large vectors, in place, locations. */
#include "check.h"

enum { LARGE = 100000 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    for (int o = 0; o < 10; o++) {
        int in[3] = {rank + 1, (rank * 5) % 3, rank == 0}, out[3] = {-1, -1, -1}, expected[3];
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < size; r++) {
                int v = i == 0 ? r + 1 : i == 1 ? (r * 5) % 3 : r == 0, *e = &expected[i];
                if (r == 0)
                    *e = o >= 7 ? !!v : v;
                else
                    *e = o == 0 ? *e + v : o == 1 ? *e * v : o == 2 ? (*e > v ? *e : v) : o == 3 ? (*e < v ? *e : v) : o == 4 ? (*e & v) :
                         o == 5 ? (*e | v) : o == 6 ? (*e ^ v) : o == 7 ? (*e && v) : o == 8 ? (*e || v) : !*e != !v;
            }
        MPI(MPI_Allreduce(in, out, 3, MPI_INT, ops[o], MPI_COMM_WORLD));
        for (int i = 0; i < 3; i++)
            CHECK_INT(out[i], expected[i]);
        MPI(MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_INT, ops[o], MPI_COMM_WORLD));
        for (int i = 0; i < 3; i++)
            CHECK_INT(in[i], expected[i]);
    }
    double *x = malloc(LARGE * sizeof *x), *y = malloc(LARGE * sizeof *y);
    for (int count = 1; count <= LARGE; count *= 10) {
        for (int i = 0; i < count; i++)
            x[i] = rank + i, y[i] = -1;
        MPI(MPI_Allreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < count; i++)
            if (y[i] != size * (size - 1) / 2 + (double) size * i) {
                check_failed(__FILE__, __LINE__, "element %d of %d is %g", i, count, y[i]);
                break;
            }
    }
    MPI(MPI_Allreduce(x, y, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    free(x);
    free(y);
    long long big = 1ll << (rank % 40), most;
    MPI(MPI_Allreduce(&big, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD));
    CHECK_INT(most, 1ll << (size - 1) % 40);
    float f = 0.5f, total = 0;
    MPI(MPI_Allreduce(&f, &total, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(total == 0.5f * size);
    struct { double value; int index; } place = {rank == size / 2 ? 100.0 : 1.0, rank}, found = {0, -1};
    MPI(MPI_Allreduce(&place, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK_INT(found.index, size / 2);
    place.value = 7;
    MPI(MPI_Allreduce(&place, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK_INT(found.index, 0);
    return finish();
}
