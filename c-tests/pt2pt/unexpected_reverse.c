/* args: messages. Many small messages to a rank that is not receiving, taken in the reverse order of their tags. */
#include "check.h"

int main(int argc, char **argv)
{
    int messages = argc > 1 ? atoi(argv[1]) : 100000;
    start(&argc, &argv);
    if (slow())
        messages /= 50;
    if (rank == 1) {
        for (int i = 0; i < messages; i++) {
            int data[4] = {i, ~i, i * 3, 12345};
            MPI(MPI_Send(data, 1 + i % 4, MPI_INT, 0, i, MPI_COMM_WORLD));
        }
        MPI(MPI_Send(NULL, 0, MPI_INT, 0, messages, MPI_COMM_WORLD));
    } else if (rank == 0) {
        MPI_Status status;
        MPI(MPI_Recv(NULL, 0, MPI_INT, 1, messages, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = messages - 1; i >= 0; i--) {
            int data[4] = {0, 0, 0, 0};
            MPI(MPI_Recv(data, 4, MPI_INT, 1, i, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, 1, i, (1 + i % 4) * 4);
            CHECK_INT(data[0], i);
            CHECK_INT(data[i % 4], i % 4 == 0 ? i : i % 4 == 1 ? ~i : i % 4 == 2 ? i * 3 : 12345);
        }
    }
    return finish();
}
