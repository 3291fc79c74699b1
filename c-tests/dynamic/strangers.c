/* Strangers at a port: they say nothing, or a byte now and then, or are many. Whoever knows the port's name is accepted all the same. args: how many strangers
 * there are; drip: one of them goes on to say something */
#include "ports.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

/* The TCP port in a port's name, which ends with it and the cookie. */
static int tcp_port(const char *name)
{
    const char *cookie = strrchr(name, ':'), *number = cookie - 1;
    while (number > name && *number != ':')
        number--;
    return atoi(number + 1);
}

/* Connects, and does not wait until the kernel has a place for it. */
static int stranger(int number)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short) number)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CHECK(socket_ >= 0);
    if (connect(socket_, (struct sockaddr *) &address, sizeof address) != 0)
        CHECK_INT(errno, EINPROGRESS);
    return socket_;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    pid_t dripping = 0;
    start(&argc, &argv);
    int count = atoi(argv[1]), met = -1, accepts = rank == 0;
    int *sockets = malloc(count * sizeof *sockets);
    if (accepts) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        for (int i = 0; i < count; i++)
            sockets[i] = stranger(tcp_port(port));
        if (argc > 2 && (dripping = fork()) == 0) {
            signal(SIGPIPE, SIG_DFL);
            while (write(sockets[0], "x", 1) == 1 || errno == EAGAIN)
                sleep(2);
            _exit(0);
        }
    }
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, accepts, rank, &half));
    /* Twice: some of the strangers are there still. */
    for (int round = 0; round < 2; round++) {
        if (accepts)
            MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
        else
            MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter));
        MPI(MPI_Comm_remote_size(inter, &met));
        CHECK_INT(met, accepts ? size - 1 : 1);
        MPI(MPI_Comm_disconnect(&inter));
    }
    if (accepts) {
        MPI(MPI_Close_port(port));
        for (int i = 0; i < count; i++)
            close(sockets[i]);
        if (dripping > 0) {
            kill(dripping, SIGKILL);
            waitpid(dripping, NULL, 0);
        }
    }
    free(sockets);
    MPI(MPI_Comm_free(&half));
    return finish();
}
