/* Send and receive between all pairs, small to medium, blocking. */
#include "check.h"

int main(int argc, char **argv)
{
    static int data[5000];
    MPI_Status status;
    start(&argc, &argv);
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            int count = from * 37 + to * 11;
            if (from == to)
                continue;
            if (rank == from) {
                for (int i = 0; i < count; i++)
                    data[i] = i * 1000 + from * 10 + to;
                MPI(MPI_Send(data, count, MPI_INT, to, from + to, MPI_COMM_WORLD));
            } else if (rank == to) {
                memset(data, 0xff, sizeof data);
                spoil(&status);
                MPI(MPI_Recv(data, 5000, MPI_INT, from, from + to, MPI_COMM_WORLD, &status));
                CHECK_STATUS(status, from, from + to, count * (int) sizeof(int));
                for (int i = 0; i < count; i++)
                    CHECK_INT(data[i], i * 1000 + from * 10 + to);
                CHECK_INT(data[count], -1);
            }
        }
    return finish();
}
