/* The address that a port is opened at: one that the info says, or the variable; nobody reaches it by another. args: variable, which names the loopback
 * address */
#include "ports.h"
#include <arpa/inet.h>

/* The address, as a number, at which a TCP port is listened to; -1: none is. */
static long listens_at(int port)
{
    FILE *table = fopen("/proc/net/tcp", "r");
    char line[300];
    long found = -1;
    while (table && fgets(line, sizeof line, table)) {
        unsigned address, number, state;
        if (sscanf(line, " %*d: %x:%x %*x:%*x %x", &address, &number, &state) == 3 && number == (unsigned) port && state == 10)
            found = ntohl(address);
    }
    CHECK(table != NULL);
    if (table)
        fclose(table);
    return found;
}

static int opened_at(const char *name, const char *begin)
{
    CHECK(!strncmp(name, begin, strlen(begin)));
    return atoi(name + strlen(begin));
}

int main(int argc, char **argv)
{
    const char *local = "oxmpi:127.0.0.1:";
    char port[MPI_MAX_PORT_NAME] = "", again[MPI_MAX_PORT_NAME] = "", text[20];
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int number = 0;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Info_create(&info));
    if (argc == 1)
        MPI(MPI_Info_set(info, "ip_address", "127.0.0.1"));
    if (rank == 0) {
        MPI(MPI_Open_port(info, port));
        number = opened_at(port, local);
        CHECK(number > 0);
        CHECK_INT((int) listens_at(number), INADDR_LOOPBACK);
        /* It is taken, and free again afterwards. */
        snprintf(text, sizeof text, "%d", number);
        MPI(MPI_Info_set(info, "ip_port", text));
        ERROR(MPI_Open_port(info, again), MPI_ERR_PORT, "port", text);
        MPI(MPI_Close_port(port));
        MPI(MPI_Open_port(info, port));
        CHECK_INT(opened_at(port, local), number);
    }
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (size > 1) {
        MPI_Comm half = MPI_COMM_NULL;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half));
        if (rank == 0)
            MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &comm));
        else
            MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &comm));
        MPI(MPI_Comm_disconnect(&comm));
        MPI(MPI_Comm_free(&half));
    }
    if (rank == 0)
        MPI(MPI_Close_port(port));
    const char *wrong[][2] = {{"ip_address", "here"}, {"ip_port", "0"}, {"ip_port", "65536"}, {"ip_port", "x"}};
    for (int i = 0; i < 4; i++) {
        MPI_Info bad = MPI_INFO_NULL;
        MPI(MPI_Info_create(&bad));
        MPI(MPI_Info_set(bad, wrong[i][0], wrong[i][1]));
        ERROR(MPI_Open_port(bad, port), MPI_ERR_INFO_VALUE, wrong[i][0], wrong[i][1]);
        MPI(MPI_Info_free(&bad));
    }
    /* No address of this machine. */
    MPI(MPI_Info_set(info, "ip_address", "192.0.2.77"));
    ERROR(MPI_Open_port(info, port), MPI_ERR_PORT, "port", "192.0.2.77");
    MPI(MPI_Info_free(&info));
    return finish();
}
