/* args: how. Rank 1 drops its connections while a message lies in one unread, so that it is lost without an error of the send, and the
 * provider makes a new connection. Nobody may wait for ever: the job ends with a text that names the peer.
 * answer: both wait. again: rank 0 sends another, which comes. */
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

int main(int argc, char **argv)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    start(&argc, &argv);
    int value = getpid(), got = 0, signal;
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
