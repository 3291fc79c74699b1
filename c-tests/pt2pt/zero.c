/* Messages without data: from and to null buffers, of any type, into buffers with room, probed, and in order with others. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    int value = 5, flag = 0;
    start(&argc, &argv);
    if (rank == 0) {
        MPI(MPI_Send(NULL, 0, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD));
        MPI(MPI_Ssend(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD));
        MPI(MPI_Send(&value, 0, MPI_INT, 1, 3, MPI_COMM_WORLD));
        MPI(MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
        MPI(MPI_Send(NULL, 0, MPI_DOUBLE_INT, 1, 4, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI(MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, 0, 1, 0);
        while (!flag)
            MPI(MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, &status));
        CHECK_STATUS(status, 0, 2, 0);
        value = 77;
        MPI(MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, 0, 2, 0);
        CHECK_INT(value, 77);
        MPI(MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, 0, 3, 0);
        CHECK_INT(value, 77);
        MPI(MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status));
        CHECK_INT(value, 5);
        MPI(MPI_Recv(NULL, 0, MPI_DOUBLE_INT, 0, 4, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, 0, 4, 0);
    }
    return finish();
}
