/* Two jobs on two hosts, as they pretend, connect by the fabric. This program starts both.
 * args: ranks of the server and of the client (0: without mpiexec), what they do. */
#include "ports.h"
#include "process.h"
#include "threads.h"

static MPI_Comm meet(int server, const char *port)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (server)
        MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
    else
        MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
    return comm;
}

/* Order, wildcards, probes, synchronous and cancelled sends, large messages: from all of the server to rank 0 of the client. */
static void messages(MPI_Comm comm, int server)
{
    enum { COUNT = 200, LARGE = 3000000 };
    int others, value;
    MPI_Status status;
    MPI(MPI_Comm_remote_size(comm, &others));
    if (server) {
        for (int i = 0; i < COUNT; i++) {
            value = i;
            if (i % 50 == 49)
                MPI(MPI_Ssend(&value, 1, MPI_INT, 0, i % 2, comm));
            else
                MPI(MPI_Send(&value, 1, MPI_INT, 0, i % 2, comm));
        }
        MPI(MPI_Barrier(comm));
        char *large = malloc(LARGE);
        fill(large, LARGE, rank);
        MPI(MPI_Send(large, LARGE, MPI_BYTE, 0, 7, comm));
        free(large);
        /* Nobody receives this one. */
        MPI_Request request;
        int flag = 0;
        MPI(MPI_Issend(&value, 1, MPI_INT, 0, 8, comm, &request));
        MPI(MPI_Cancel(&request));
        MPI(MPI_Wait(&request, &status));
        MPI(MPI_Test_cancelled(&status, &flag));
        CHECK_INT(flag, 1);
        MPI(MPI_Send(&value, 1, MPI_INT, 0, 9, comm));
    } else if (rank == 0) {
        int *next = calloc(others, sizeof *next);
        for (int i = 0; i < COUNT * others; i++) {
            int count = -1, source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
            if (i % 3 != 0) {
                MPI(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
                source = status.MPI_SOURCE;
                tag = status.MPI_TAG;
                MPI(MPI_Get_count(&status, MPI_INT, &count));
                CHECK_INT(count, 1);
            }
            MPI(MPI_Recv(&value, 1, MPI_INT, source, tag, comm, &status));
            CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < others);
            CHECK_INT(value, next[status.MPI_SOURCE]++);
            CHECK_INT(status.MPI_TAG, value % 2);
        }
        MPI(MPI_Barrier(comm));
        char *large = malloc(LARGE);
        for (int source = 0; source < others; source++) {
            MPI(MPI_Recv(large, LARGE, MPI_BYTE, source, 7, comm, &status));
            CHECK_PATTERN(large, LARGE, source);
        }
        for (int source = 0; source < others; source++) {
            int flag = -1;
            MPI(MPI_Recv(&value, 1, MPI_INT, source, 9, comm, &status));
            MPI(MPI_Iprobe(source, 8, comm, &flag, &status));
            CHECK_INT(flag, 0);
        }
        free(large);
        free(next);
    }
    if (!server && rank != 0)
        MPI(MPI_Barrier(comm));
    talk(comm, 100000, server);
    part(&comm);
}

/* Nobody disconnects; what was sent before MPI_Finalize is there. */
static void end_connected(MPI_Comm comm, int server)
{
    enum { COUNT = 40, BYTES = 10000 };
    static char bytes[BYTES];
    if (server && rank == 0) {
        for (int i = 0; i < COUNT; i++) {
            fill(bytes, BYTES, i);
            MPI(MPI_Send(bytes, BYTES, MPI_BYTE, 0, i, comm));
        }
    } else if (!server && rank == 0) {
        usleep(300000); /* so that the other one is mostly in MPI_Finalize; nothing depends on it */
        for (int i = COUNT - 1; i >= 0; i--) {
            MPI(MPI_Recv(bytes, BYTES, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE));
            CHECK_PATTERN(bytes, BYTES, i);
        }
    }
}

/* The client waits for a message of a server that is in MPI_Finalize, or has left, and gets an error. */
static void wait_for_nothing(MPI_Comm comm, int server)
{
    if (server)
        return;
    int value;
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_INT(check_class_of(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
}

/* One of the client's processes is killed, and only by its own side. All of the server wait for it, each in its way. */
static void lose(MPI_Comm comm, int server)
{
    int value = 0, victim = 1;
    talk(comm, 100, server);
    if (!server) {
        if (rank == victim)
            raise(SIGKILL);
        /* mpiexec ends the others. */
        for (;;)
            pause();
    }
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int code = rank == 0 ? MPI_Recv(&value, 1, MPI_INT, victim, 3, comm, MPI_STATUS_IGNORE)
                         : MPI_Ssend(&value, 1, MPI_INT, victim, 3, comm);
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
    /* Among themselves they go on. */
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* As before, and the server's processes are in operations with all of both jobs. */
static void lose_in_collective(MPI_Comm comm, int server)
{
    MPI_Comm merged;
    int sum, error = MPI_SUCCESS;
    MPI(MPI_Intercomm_merge(comm, !server, &merged));
    MPI(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    if (!server && rank == 1)
        raise(SIGKILL);
    while (error == MPI_SUCCESS) {
        CHECK_HERE;
        error = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    }
    CHECK_INT(check_class_of(error), MPIX_ERR_PROC_FAILED);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* Threads with a communicator each: of both jobs, or of the own one, which has engines of its own. */
enum { THREADS = 4 };
static MPI_Comm of_thread[THREADS];

static void *use_own(void *argument)
{
    int number = (int) (intptr_t) argument, me, others, flag;
    MPI_Comm comm = of_thread[number];
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_test_inter(comm, &flag));
    if (flag)
        MPI(MPI_Comm_remote_size(comm, &others));
    else
        MPI(MPI_Comm_size(comm, &others));
    for (int i = 0; i < 200; i++) {
        int theirs = -1, mine = 1000 * number + i, bytes = i % 20 == 0 ? 100000 : 4;
        char *out = calloc(bytes, 1), *in = calloc(bytes, 1);
        memcpy(out, &mine, sizeof mine);
        MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, (me + 1) % others, 3, in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE));
        memcpy(&theirs, in, sizeof theirs);
        CHECK_INT(theirs / 1000, number);
        free(out);
        free(in);
    }
    return NULL;
}

static void use_threads(MPI_Comm comm)
{
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(i % 2 ? MPI_COMM_WORLD : comm, &of_thread[i]));
    run_threads(THREADS, use_own);
    for (int i = 0; i < THREADS; i++) {
        if (i % 2)
            MPI(MPI_Comm_free(&of_thread[i]));
        else
            MPI(MPI_Comm_disconnect(&of_thread[i]));
    }
    part(&comm);
}

/* After the first rounds neither side has more descriptors. A connection that the other side has closed goes with the next look at it. */
static void meet_again(int server, const char *port)
{
    enum { ROUNDS = 25, FIRST = 10 };
    int before = 0, flag;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm = meet(server, port);
        talk(comm, 1000, server);
        part(&comm);
        if (round == FIRST)
            before = descriptors();
    }
    while (descriptors() > before) {
        CHECK_HERE;
        MPI(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
}

/* They do not go together: all hear of it, the text says what, and both go on. */
static void fail_to_meet(int server, const char *port, const char *what, const char *more)
{
    MPI_Comm comm = MPI_COMM_NULL;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, sum = 0, code;
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (server)
        code = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm);
    else
        code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm);
    CHECK_INT(check_class_of(code), MPI_ERR_OTHER);
    CHECK(comm == MPI_COMM_NULL);
    MPI(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, what) != NULL);
    CHECK(strstr(text, more) != NULL);
    if (check_failures)
        fprintf(stderr, "rank %d: the text is: %s\n", rank, text);
    MPI(MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size * size);
}

static int side(int argc, char **argv)
{
    int server = !strcmp(argv[1], "server");
    char port[MPI_MAX_PORT_NAME] = "", path[200];
    const char *what = argv[2];
    if (!strcmp(what, "threads"))
        start_multiple(&argc, &argv);
    else
        start(&argc, &argv);
    snprintf(path, sizeof path, "%s/port", argv[3]);
    if (server && rank == 0) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        leave(path, port);
    } else if (rank == 0) {
        fetch(path, port, sizeof port);
    }
    if (!strcmp(what, "providers")) {
        fail_to_meet(server, port, "tcp;ofi_rxm", "different providers: ");
    } else if (!strcmp(what, "settings")) {
        fail_to_meet(server, port, "OXMPI_BARRIER=", "different settings");
    } else if (!strcmp(what, "library")) {
        fail_to_meet(server, port, "/nowhere/libfabric.so", "no fabric");
    } else if (!strcmp(what, "again")) {
        meet_again(server, port);
    } else if (!strcmp(what, "messages")) {
        for (int round = 0; round < 3; round++)
            messages(meet(server, port), server);
    } else {
        MPI_Comm comm = meet(server, port);
        if (!strcmp(what, "connected"))
            end_connected(comm, server);
        else if (!strcmp(what, "nothing"))
            wait_for_nothing(comm, server);
        else if (!strcmp(what, "lost"))
            lose(comm, server);
        else if (!strcmp(what, "lost_in_collective"))
            lose_in_collective(comm, server);
        else if (!strcmp(what, "threads"))
            use_threads(comm);
    }
    return finish_side();
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/apart_XXXXXX", path[100];
    if (argc > 1 && (!strcmp(argv[1], "server") || !strcmp(argv[1], "client")))
        return side(argc, argv);
    start_driver(argv[0]);
    CHECK(mkdtemp(folder) != NULL);
    char *what = argv[3];
    char *server[] = {argv[0], "server", what, folder, NULL}, *client[] = {argv[0], "client", what, folder, NULL};
    setenv("OXMPI_PRETEND", "host=1", 1);
    if (!strcmp(what, "providers"))
        setenv("OXMPI_FABRIC", "tcp", 1);
    pid_t first = begin(atoi(argv[1]), server);
    setenv("OXMPI_PRETEND", "host=2", 1);
    if (!strcmp(what, "providers"))
        setenv("OXMPI_FABRIC", "tcp;ofi_rxm", 1);
    if (!strcmp(what, "settings"))
        setenv("OXMPI_BARRIER", "nodes", 1);
    if (!strcmp(what, "library"))
        setenv("OXMPI_LIBFABRIC", "/nowhere/libfabric.so", 1);
    pid_t second = begin(atoi(argv[2]), client);
    CHECK_INT(end(second), strncmp(what, "lost", 4) ? 0 : 128 + SIGKILL);
    CHECK_INT(end(first), 0);
    snprintf(path, sizeof path, "%s/port", folder);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
    return conclude();
}
