/* Bcast from every root, of every size, of several types, one after the other without mixing. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char data[3000000];
    static const int sizes[] = {0, 1, 8, 41, 1000, 8193, 70000, 3000000};
    start(&argc, &argv);
    for (int s = 0; s < (slow() ? 6 : 8); s++)
        for (int root = 0; root < size; root++) {
            memset(data, 0, sizes[s]);
            if (rank == root)
                fill(data, sizes[s], root + s);
            MPI(MPI_Bcast(data, sizes[s], MPI_BYTE, root, MPI_COMM_WORLD));
            CHECK_PATTERN(data, sizes[s], root + s);
        }
    for (int i = 0; i < 200; i++) {
        double value = rank == i % size ? i * 0.5 : -1;
        MPI(MPI_Bcast(&value, 1, MPI_DOUBLE, i % size, MPI_COMM_WORLD));
        CHECK(value == i * 0.5);
    }
    struct { double value; int index; } pair = {rank, rank};
    MPI(MPI_Bcast(&pair, 1, MPI_DOUBLE_INT, size - 1, MPI_COMM_WORLD));
    CHECK_INT(pair.index, size - 1);
    MPI_Count large = 5;
    MPI(MPI_Bcast_c(data, large, MPI_BYTE, 0, MPI_COMM_WORLD));
    return finish();
}
