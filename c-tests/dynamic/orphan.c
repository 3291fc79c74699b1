/* A process that was spawned, and whose parents end while it is in MPI_Init: it says so and ends. The parents are played by this program, which ends the
 * connection after some steps of the meeting. */
#include "ports.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define COOKIE "00112233445566778899aabbccddeeff"

enum { NOBODY, NOT_ACCEPTED, ACCEPTED, HEARD, RESET, STEPS };

static void hear(int connection)
{
    char text[4096];
    CHECK(recv(connection, text, sizeof text, 0) > 0);
}

/* What comes behind a line may be there already. */
static void hear_line(int connection)
{
    char byte = 0;
    while (byte != '\n')
        CHECK(recv(connection, &byte, 1, 0) == 1);
}

/* Plays the parents of a process that has been started with this listener's port. */
static void play(int listener, int step)
{
    if (step == NOBODY)
        return;
    int connection = accept(listener, NULL, NULL);
    CHECK(connection >= 0);
    hear_line(connection);
    if (step > NOT_ACCEPTED) {
        const char *accepted = "oxmpi-accepted\n";
        CHECK(write(connection, accepted, strlen(accepted)) == (ssize_t) strlen(accepted));
        hear_line(connection);
    }
    if (step == HEARD)
        hear(connection);
    struct linger at_once = {1, 0};
    if (step == RESET)
        CHECK_INT(setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close(connection);
}

static void try(char **argv, int step)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    char port[100], text[4096] = "";
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), said[2];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_INT(bind(listener, (struct sockaddr *) &address, sizeof address), 0);
    CHECK_INT(getsockname(listener, (struct sockaddr *) &address, &length), 0);
    if (step != NOBODY)
        CHECK_INT(listen(listener, 4), 0);
    snprintf(port, sizeof port, "oxmpi:127.0.0.1:%d:" COOKIE, ntohs(address.sin_port));
    CHECK_INT(pipe(said), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("OXMPI_PARENT", port, 1);
        dup2(said[1], 2);
        close(said[0]);
        close(said[1]);
        execl(argv[0], argv[0], "child", NULL);
        _exit(93);
    }
    close(said[1]);
    play(listener, step);
    for (size_t got = 0; got < sizeof text - 1;) {
        ssize_t more = read(said[0], text + got, sizeof text - 1 - got);
        if (more <= 0)
            break;
        got += more;
    }
    CHECK(end(child) != 0);
    if (!strstr(text, "MPI_ERR_SPAWN") || !strstr(text, "the processes that have spawned this one have ended") || strstr(text, "buffer"))
        check_failed(__FILE__, __LINE__, "step %d: it says \"%s\"", step, text);
    close(said[0]);
    close(listener);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        MPI_Init(&argc, &argv);
        return 0; /* it has met nobody */
    }
    start_driver(argv[0]);
    for (int step = 0; step < STEPS; step++)
        try(argv, step);
    return conclude();
}
