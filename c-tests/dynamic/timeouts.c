/* The info key timeout, in seconds: nobody accepts, nobody connects. What is left behind disturbs no later connection.
 * args: left, also at the port to which somebody has come who did not wait. */
#include "ports.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", second[MPI_MAX_PORT_NAME] = "";
    MPI_Comm comm;
    MPI_Info info;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "timeout", "1"));
    if (rank == 0) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        MPI(MPI_Open_port(MPI_INFO_NULL, second));
    }
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    MPI(MPI_Bcast(second, sizeof second, MPI_CHAR, 0, MPI_COMM_WORLD));
    /* All ranks hear of it. */
    ERROR(MPI_Comm_accept(second, info, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT, "within", NULL);
    ERROR(MPI_Comm_connect(port, info, size - 1, MPI_COMM_WORLD, &comm), MPI_ERR_PORT, "within", NULL);
    for (int i = argc > 1 ? 0 : 1; i < 2; i++) {
        if (rank == 0 && size > 1)
            MPI(MPI_Comm_accept(i ? second : port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
        if (rank == 1)
            MPI(MPI_Comm_connect(i ? second : port, info, 0, MPI_COMM_SELF, &comm));
        if (rank < 2 && size > 1) {
            int mine = rank, theirs = -1;
            MPI(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
            CHECK_INT(theirs, 1 - rank);
            MPI(MPI_Comm_disconnect(&comm));
        }
    }
    MPI(MPI_Info_free(&info));
    if (rank == 0) {
        MPI(MPI_Close_port(port));
        MPI(MPI_Close_port(second));
    }
    return finish();
}
