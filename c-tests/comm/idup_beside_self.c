/* Communicators of one process made while another is under way: the one that waits for nobody must let the other go on. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int i = 0; i < 300; i++) {
        MPI_Comm copy, alone;
        MPI_Request request;
        MPI(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &alone));
        MPI(MPI_Comm_free(&alone));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI(MPI_Comm_free(&copy));
    }
    return finish();
}
