/* Standard input is closed before MPI_Init: no descriptor of the library takes its number and is lost when the program opens
 * and closes it again. */
#include "check.h"
#include <fcntl.h>

int main(int argc, char **argv)
{
    close(0);
    start(&argc, &argv);
    int in = -1;
    CHECK_INT(open("/dev/null", O_RDONLY), 0);
    close(0);
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(in, (rank + size - 1) % size);
    CHECK_INT(open("/dev/null", O_RDONLY), 0);
    return finish();
}
