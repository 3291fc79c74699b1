/* A job that spawns another one, each with a timeline of its own: see tests/timeline/main.rs. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int number = 7;
    start(&argc, &argv);
    MPI(MPI_Comm_get_parent(&parent));
    if (parent == MPI_COMM_NULL) {
        MPI(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE));
        for (int i = 0; i < 2; i++)
            MPI(MPI_Send(&number, 1, MPI_INT, i, 1, children));
        MPI(MPI_Comm_disconnect(&children));
    } else {
        number = 0;
        MPI(MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE));
        CHECK_INT(number, 7);
        MPI(MPI_Comm_disconnect(&parent));
    }
    return finish();
}
