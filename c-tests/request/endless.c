/* A program that begins receives without end and completes none (BAGEL 1.2.2 does for an empty block): it ends with the function's name and
 * what there is too much of, not with a panic. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (;;) {
        MPI_Request request;
        int in;
        MPI(MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request));
    }
}
