/* Two jobs of two mpiexecs that are connected by a port: whoever waits for the other job waits for somebody outside, and may not be called stuck.
 * This program starts both. Last argument: the case. */
#include "../common/ports.h"

enum { SECONDS = 4, LONG = 14 };

static int small;
static MPI_Comm other;

static void receive(int from, int tag, MPI_Comm comm)
{
    MPI(MPI_Recv(&small, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
}

static void meet(int server, const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (server) {
        if (rank == 0) {
            MPI(MPI_Open_port(MPI_INFO_NULL, port));
            leave(path, port);
        }
        MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
    } else {
        if (rank == 0)
            fetch(path, port, sizeof port);
        MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
    }
}

/* All of the server wait for the client, or for each other. */
static void client_sleeps(int server)
{
    if (server && rank == 0)
        receive(0, 7, other);
    if (server)
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (!server && rank == 0) {
        sleep(SECONDS);
        MPI(MPI_Send(&small, 1, MPI_INT, 0, 7, other));
    }
}

/* Both wait for the other one, in turns. */
static void turns(int server)
{
    for (int i = 0; i < 8; i++) {
        if (rank == 0 && server == i % 2)
            usleep(600000);
        MPI(MPI_Barrier(other));
    }
}

/* Two of the server wait for each other and nobody else, until a word of the third makes them go on only if they are wrong. */
static void pair_beside(int server)
{
    if (server && rank > 0)
        receive(3 - rank, 5, MPI_COMM_WORLD);
    if (server)
        receive(0, 7, other);
    /* The server's mpiexec has a time limit, with which the connection ends. */
    for (;;)
        sleep(1);
}

/* As that, but an operation that the other job has a part in may end if that one dies: nothing is said. */
static void operation_beside(int server)
{
    MPI_Comm both;
    MPI(MPI_Intercomm_merge(other, !server, &both));
    if (server && rank > 0)
        MPI(MPI_Barrier(both));
    for (;;)
        sleep(1);
}

#define CASE(it) {#it, it}
static const struct {
    const char *name;
    void (*run)(int server);
} cases[] = {CASE(client_sleeps), CASE(turns), CASE(pair_beside), CASE(operation_beside)};

static int side(int server, const char *path, const char *name)
{
    meet(server, path);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0)
            cases[i].run(server);
    part(&other);
    return finish_side();
}

int main(int argc, char **argv)
{
    const char *name = argv[argc - 1];
    if (argc == 4) {
        start(&argc, &argv);
        return side(strcmp(argv[1], "server") == 0, argv[2], name);
    }
    start_driver(argv[0]);
    char path[200];
    snprintf(path, sizeof path, "/tmp/oxmpi-strangers-%d", (int) getpid());
    int is_limited = strstr(name, "beside") != NULL;
    char *limit = is_limited ? "24" : "100";
    char *servers[] = {"-deadlock", "abort", "-timeout", limit, program, "server", path, (char *) name, NULL};
    /* The server ends first, so that its code is its own. */
    char *clients[] = {"-deadlock", "abort", "-timeout", is_limited ? "32" : "100", program, "client", path, (char *) name, NULL};
    pid_t server = begin(3, servers), client = begin(1, clients);
    int server_code = end(server), client_code = end(client);
    unlink(path);
    if (is_limited)
        return server_code;
    CHECK_INT(server_code, 0);
    CHECK_INT(client_code, 0);
    return conclude();
}
