/* Small messages that nobody receives do not keep MPI_Finalize from ending, nor do objects that were not freed. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm dup;
    MPI_Info info;
    MPI_Request request;
    int value;
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Info_create(&info));
    MPI(MPI_Recv_init(&value, 1, MPI_INT, 0, 0, dup, &request));
    for (int i = 0; i < 10; i++)
        MPI(MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, i, i % 2 ? dup : MPI_COMM_WORLD));
    return finish();
}
