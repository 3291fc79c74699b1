/* Two jobs that know nothing of each other connect by a port: its name is in a file, or published. This program starts both.
 * args: ranks of the server and of the client (0: without mpiexec), file or names; apart: on two hosts, as they pretend. */
#include "ports.h"

/* server or client, file or names, where the name is. */
static int side(int argc, char **argv)
{
    int server = !strcmp(argv[1], "server"), named = !strcmp(argv[2], "names"), others, me;
    char port[MPI_MAX_PORT_NAME] = "", full[300], left[300], done[20];
    MPI_Comm comm, merged;
    start(&argc, &argv);
    snprintf(full, sizeof full, "%s/port", argv[3]);
    snprintf(left, sizeof left, "%s/left", argv[3]);
    if (server && rank == 0) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        if (named)
            MPI(MPI_Publish_name(argv[3], MPI_INFO_NULL, port));
        leave(full, named ? "published" : port);
    }
    if (!server && rank == 0) {
        fetch(full, port, sizeof port);
        if (named)
            MPI(MPI_Lookup_name(argv[3], MPI_INFO_NULL, port));
    }
    for (int round = 0; round < 3; round++) {
        if (server)
            MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
        else
            MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_remote_size(comm, &others));
        talk(comm, 8, server);
        talk(comm, 300000, server);
        MPI(MPI_Intercomm_merge(comm, server, &merged));
        MPI(MPI_Comm_rank(merged, &me));
        CHECK_INT(me, server ? others + rank : rank);
        int sum = -1;
        MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, merged));
        CHECK_INT(sum, (size + others) * (size + others - 1) / 2);
        MPI(MPI_Comm_disconnect(&merged));
        part(&comm);
    }
    /* Disconnected: one may end while the other goes on. */
    if (!server) {
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        int code = rank == 0;
        MPI(MPI_Finalize());
        if (code)
            leave(left, "left");
        return check_failures ? 95 : 0;
    }
    if (rank == 0)
        fetch(left, done, sizeof done);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        if (named)
            MPI(MPI_Unpublish_name(argv[3], MPI_INFO_NULL, port));
        MPI(MPI_Close_port(port));
    }
    return finish_side();
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/two_jobs_XXXXXX", path[100];
    if (argc > 1 && (!strcmp(argv[1], "server") || !strcmp(argv[1], "client")))
        return side(argc, argv);
    start_driver(argv[0]);
    CHECK(mkdtemp(folder) != NULL);
    char *server[] = {argv[0], "server", argv[3], folder, NULL}, *client[] = {argv[0], "client", argv[3], folder, NULL};
    pid_t first = begin(atoi(argv[1]), server);
    go_apart(argc, argv);
    pid_t second = begin(atoi(argv[2]), client);
    CHECK_INT(end(second), 0);
    CHECK_INT(end(first), 0);
    snprintf(path, sizeof path, "%s/port", folder);
    CHECK_INT(unlink(path), 0);
    snprintf(path, sizeof path, "%s/left", folder);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
    return conclude();
}
