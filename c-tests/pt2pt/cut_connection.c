/* args: how. Rank 1 drops its connections while a message lies in one unread, so that it is lost without an error of the send, and the
 * provider makes a new connection. Nobody may wait for ever: the job ends with a text that names the peer.
 * answer: both wait. again: rank 0 sends another, which comes. straight: what is lost goes straight into the receiver's buffer, and nothing else is. */
#include "check.h"
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* In place of each connection there is a socket without one. Returns how many there were. */
static int drop_connections(void)
{
    int dropped = 0;
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &length) || peer.ss_family == AF_UNIX)
            continue;
        int other = socket(peer.ss_family, SOCK_STREAM, 0);
        CHECK(other >= 0 && dup2(other, fd) == fd);
        close(other);
        dropped++;
    }
    return dropped;
}

/* The short message comes behind the announcement of the long one, so rank 1 has answered that when it has it. */
static void lose_long_message(const sigset_t *set)
{
    static char data[70000];
    MPI_Request request;
    int process = getpid(), got = 0, signal;
    if (rank == 0) {
        MPI(MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Isend(data, sizeof data, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request));
        MPI(MPI_Send(&process, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
        /* Rank 1 reads nothing any more: now the data may leave. */
        sigwait(set, &signal);
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        kill(got, SIGUSR1);
        MPI(MPI_Recv(&got, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return;
    }
    MPI(MPI_Irecv(data, sizeof data, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(&process, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    MPI(MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    kill(got, SIGUSR1);
    sigwait(set, &signal);
    CHECK(drop_connections() > 0);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    fputs("a message came that was lost\n", stderr);
}

int main(int argc, char **argv)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    start(&argc, &argv);
    int value = getpid(), got = 0, signal;
    if (argc > 1 && !strcmp(argv[1], "straight")) {
        lose_long_message(&set);
        return 1;
    }
    if (rank == 0) {
        MPI(MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
        kill(got, SIGUSR1);
        if (argc > 1 && !strcmp(argv[1], "again"))
            MPI(MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
        MPI(MPI_Recv(&got, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        MPI(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        sigwait(&set, &signal);
        CHECK(drop_connections() > 0);
        MPI(MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        fputs("a message came that was lost\n", stderr);
    }
    return 1;
}
