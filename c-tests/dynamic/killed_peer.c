/* One of two jobs that were connected is killed. After MPI_Comm_disconnect the other goes on; before, it gets an error and does not
 * wait for ever. args: disconnected or connected; apart: the jobs are on two hosts, as they pretend. */
#include "ports.h"

static int side(int argc, char **argv)
{
    int server = !strcmp(argv[1], "server"), connected = strcmp(argv[2], "disconnected"), value = 0;
    char port[MPI_MAX_PORT_NAME] = "", path[300], talked[300], text[20];
    MPI_Comm comm;
    start(&argc, &argv);
    snprintf(path, sizeof path, "%s/port", argv[3]);
    if (server) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        leave(path, port);
        MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
    } else {
        fetch(path, port, sizeof port);
        MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
    }
    talk(comm, 100000, server);
    if (!connected)
        part(&comm);
    if (!server && !strcmp(argv[2], "stays")) { /* for tests/cluster, which ends it */
        snprintf(talked, sizeof talked, "%s/talked", argv[3]);
        leave(talked, "talked");
        for (;;)
            pause();
    }
    if (!server)
        raise(SIGKILL);
    if (connected) {
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        int code = MPI_Recv(&value, 1, MPI_INT, 0, 99, comm, MPI_STATUS_IGNORE);
        CHECK(check_class_of(code) == MPIX_ERR_PROC_FAILED);
        if (check_failures)
            return 95;
        leave(argv[4], "told");
        MPI_Abort(MPI_COMM_WORLD, 0); /* nobody can disconnect it */
    }
    fetch(argv[4], text, sizeof text);
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 0, &value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Close_port(port));
    return finish_side();
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/killed_peer_XXXXXX", path[100], gone[100];
    if (argc > 3)
        return side(argc, argv);
    start_driver(argv[0]);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(gone, sizeof gone, "%s/gone", folder);
    int connected = !strcmp(argv[1], "connected");
    char *server[] = {argv[0], "server", argv[1], folder, gone, NULL};
    char *client[] = {argv[0], "client", argv[1], folder, NULL};
    pid_t first = begin(1, server);
    go_apart(argc, argv);
    pid_t second = begin(0, client);
    CHECK_INT(end(second), 128 + SIGKILL);
    if (!connected)
        leave(gone, "gone");
    int code = end(first);
    if (!connected)
        CHECK_INT(code, 0);
    CHECK_INT(unlink(gone), 0); /* the server has told of the error */
    snprintf(path, sizeof path, "%s/port", folder);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
    return conclude();
}
