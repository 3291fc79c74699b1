/* MPI_Comm_join of two processes that share a socket, which they can use before and afterwards. Alone: two processes without mpiexec,
 * which this program starts (apart: on two hosts, as they pretend); ranks: the first two of a job, over a connection of TCP. */
#include "ports.h"
#include <arpa/inet.h>
#include <sys/socket.h>

static void pass(int fd, char mine, char expected)
{
    char theirs = 0;
    CHECK_INT(write(fd, &mine, 1), 1);
    CHECK_INT(read(fd, &theirs, 1), 1);
    CHECK_INT(theirs, expected);
}

static void join(int fd, int first)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int number = -1, flag = 0;
    for (int round = 0; round < 2; round++) {
        pass(fd, first ? 'a' : 'b', first ? 'b' : 'a');
        MPI(MPI_Comm_join(fd, &comm));
        MPI(MPI_Comm_test_inter(comm, &flag));
        CHECK_INT(flag, 1);
        MPI(MPI_Comm_size(comm, &number));
        CHECK_INT(number, 1);
        MPI(MPI_Comm_remote_size(comm, &number));
        CHECK_INT(number, 1);
        int mine = 5 + first, theirs = -1;
        MPI(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
        CHECK_INT(theirs, 6 - first);
        pass(fd, first ? 'c' : 'd', first ? 'd' : 'c');
        MPI(MPI_Comm_disconnect(&comm));
        pass(fd, first ? 'e' : 'f', first ? 'f' : 'e');
    }
}

/* Ranks 0 and 1: a connection over the loopback interface. */
static int connected(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), port;
    if (rank == 0) {
        CHECK_INT(bind(fd, (struct sockaddr *) &address, sizeof address), 0);
        CHECK_INT(listen(fd, 1), 0);
        CHECK_INT(getsockname(fd, (struct sockaddr *) &address, &length), 0);
        port = ntohs(address.sin_port);
        MPI(MPI_Send(&port, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        int accepted = accept(fd, NULL, NULL);
        close(fd);
        return accepted;
    }
    MPI(MPI_Recv(&port, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    address.sin_port = htons(port);
    CHECK_INT(connect(fd, (struct sockaddr *) &address, sizeof address), 0);
    return fd;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "side")) {
        int fd = atoi(argv[2]), first = !strcmp(argv[3], "first");
        start(&argc, &argv);
        join(fd, first);
        return finish_side();
    }
    if (argc > 1 && !strcmp(argv[1], "ranks")) {
        start(&argc, &argv);
        if (rank < 2) {
            int fd = connected();
            CHECK(fd >= 0);
            join(fd, rank == 0);
            close(fd);
        }
        return finish();
    }
    int ends[2];
    char number[20];
    start_driver(argv[0]);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t pids[2];
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            go_apart(argc, argv);
        snprintf(number, sizeof number, "%d", ends[i]);
        pids[i] = begin(0, (char *[]) {argv[0], "side", number, i ? "second" : "first", NULL});
    }
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++)
        CHECK_INT(end(pids[i]), 0);
    return conclude();
}
