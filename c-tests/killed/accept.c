/* The last of the ranks that wait in MPI_Comm_accept (or, with the argument "connect", in MPI_Comm_connect) is killed. Nobody meets them,
 * and the others get an error. For mpiexec with -disable-auto-cleanup. */
#define _GNU_SOURCE
#include "death.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Comm met;
    start(&argc, &argv);
    share_board();
    return_errors();
    if (rank == 0)
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1)
        die_in(300000);
    int connects = argc > 1 && !strcmp(argv[1], "connect");
    int code = connects ? MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met)
                        : MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
    CHECK(code != MPI_SUCCESS);
    MPI(MPI_Error_string(code, text, &length));
    if (!strstr(text, "has ended"))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
    if (check_failures == 0)
        fprintf(stderr, "all was right\n");
    wait_for_others(&board->through[0], size - 1);
    _exit(check_failures != 0);
}
