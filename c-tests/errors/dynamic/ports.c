/* Wrong arguments of ports, accept, connect, join and published names. */
#include "wrong.h"
#include <fcntl.h>

static char longer[MPI_MAX_PORT_NAME + 1];

/* All ranks call; others hear at least that somebody was wrong. */
static int heard(int code, int class_)
{
    return check_class_of(code) == class_ || check_class_of(code) == MPI_ERR_OTHER;
}

#define ALL(call, class_, argument) do { \
        if (rank == 0) ERROR(call, class_, argument, NULL); else CHECK(heard(call, class_)); } while (0)

static void both(int accepts, MPI_Comm inter)
{
    MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Info null = MPI_INFO_NULL, freed = freed_info();
    void *volatile nothing = NULL;
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0)
        MPI(MPI_Open_port(null, port));
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, world));
#define BOTH(port, info, root, comm, result, class_, argument) do { \
        if (accepts) ALL(MPI_Comm_accept(port, info, root, comm, result), class_, argument); \
        else ALL(MPI_Comm_connect(port, info, root, comm, result), class_, argument); } while (0)
    BOTH(nothing, null, 0, world, &comm, MPI_ERR_ARG, "port_name");
    BOTH("", null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    BOTH("nonsense", null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    BOTH("oxmpi:", null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    BOTH("oxmpi:127.0.0.1:1:0", null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    BOTH("oxmpi:127.0.0.1:99999999:00112233445566778899aabbccddeeff", null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    BOTH(longer, null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    BOTH(port, freed, 0, world, &comm, MPI_ERR_INFO, "info");
    BOTH(port, null, -1, world, &comm, MPI_ERR_ROOT, "root");
    BOTH(port, null, size, world, &comm, MPI_ERR_ROOT, "root");
    BOTH(port, null, 0, MPI_COMM_NULL, &comm, MPI_ERR_COMM, "comm");
    BOTH(port, null, 0, freed_comm(), &comm, MPI_ERR_COMM, "comm");
    BOTH(port, null, 0, world, nothing, MPI_ERR_ARG, "newcomm");
    if (inter != MPI_COMM_NULL)
        BOTH(port, null, 0, inter, &comm, MPI_ERR_COMM, "comm");
    if (rank == 0)
        MPI(MPI_Close_port(port));
    /* It is closed: at once, and not after a time. */
    BOTH(port, null, 0, world, &comm, MPI_ERR_PORT, "port_name");
    if (accepts && size > 1) { /* another process's port */
        char other[MPI_MAX_PORT_NAME] = "";
        if (rank == 1)
            MPI(MPI_Open_port(null, other));
        MPI(MPI_Bcast(other, sizeof other, MPI_CHAR, 1, world));
        BOTH(other, null, 0, world, &comm, MPI_ERR_PORT, "port_name");
        if (rank == 0)
            ERROR(MPI_Close_port(other), MPI_ERR_PORT, "port_name", other);
        MPI(MPI_Barrier(world));
        if (rank == 1)
            MPI(MPI_Close_port(other));
    }
    /* One rank alone is wrong: nobody waits. */
    int root = rank == size - 1 ? size : 0;
    CHECK((accepts ? MPI_Comm_accept("nonsense", null, root, world, &comm) : MPI_Comm_connect("nonsense", null, root, world, &comm))
          != MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm comm = MPI_COMM_NULL, half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    void *volatile nothing = NULL;
    start(&argc, &argv);
    return_errors();
    memset(longer, 'x', sizeof longer - 1);
    MPI_Info null = MPI_INFO_NULL, freed = freed_info();
    ERROR(MPI_Open_port(freed, port), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Open_port(null, nothing), MPI_ERR_ARG, "port_name", NULL);
    ERROR(MPI_Close_port(nothing), MPI_ERR_ARG, "port_name", NULL);
    ERROR(MPI_Close_port(""), MPI_ERR_PORT, "port_name", NULL);
    ERROR(MPI_Close_port("nonsense"), MPI_ERR_PORT, "port_name", "nonsense");
    ERROR(MPI_Close_port(longer), MPI_ERR_PORT, "port_name", number(MPI_MAX_PORT_NAME));
    MPI(MPI_Open_port(null, port));
    MPI(MPI_Close_port(port));
    ERROR(MPI_Close_port(port), MPI_ERR_PORT, "port_name", port);

    ERROR(MPI_Publish_name(nothing, null, "port"), MPI_ERR_ARG, "service_name", NULL);
    ERROR(MPI_Publish_name("service", null, nothing), MPI_ERR_ARG, "port_name", NULL);
    ERROR(MPI_Publish_name("service", null, longer), MPI_ERR_PORT, "port_name", NULL);
    ERROR(MPI_Publish_name("service", freed, "port"), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Lookup_name(nothing, null, port), MPI_ERR_ARG, "service_name", NULL);
    ERROR(MPI_Lookup_name("service", null, nothing), MPI_ERR_ARG, "port_name", NULL);
    ERROR(MPI_Lookup_name("service", freed, port), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Lookup_name("no such service, nowhere", null, port), MPI_ERR_NAME, "service_name", "no such service, nowhere");
    ERROR(MPI_Unpublish_name(nothing, null, "port"), MPI_ERR_ARG, "service_name", NULL);
    ERROR(MPI_Unpublish_name("service", null, nothing), MPI_ERR_ARG, "port_name", NULL);
    ERROR(MPI_Unpublish_name("service", freed, "port"), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Unpublish_name("no such service, nowhere", null, "port"), MPI_ERR_SERVICE, "service_name",
          "no such service, nowhere");
    /* No name, and one that is too long. */
    char endless[5000];
    const char *names[] = {"", longer, endless};
    memset(endless, 'y', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    for (int i = 0; i < 3 && !reference; i++) {
        const char *value = i == 0 ? "255" : number((int) strlen(names[i]));
        ERROR(MPI_Publish_name(names[i], null, "port"), MPI_ERR_SERVICE, "service_name", value);
        ERROR(MPI_Lookup_name(names[i], null, port), MPI_ERR_NAME, "service_name", value);
        ERROR(MPI_Unpublish_name(names[i], null, "port"), MPI_ERR_SERVICE, "service_name", value);
    }

    int file = open("/dev/null", O_RDWR);
    ERROR(MPI_Comm_join(-1, &comm), MPI_ERR_ARG, "fd", "-1");
    ERROR(MPI_Comm_join(file, nothing), MPI_ERR_ARG, "intercomm", NULL);
    CHECK(MPI_Comm_join(file, &comm) != MPI_SUCCESS); /* no socket */
    CHECK_INT(close(file), 0);
    CHECK(MPI_Comm_join(file, &comm) != MPI_SUCCESS); /* closed */

    if (size > 1) {
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 1, &inter));
        MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    }
    both(0, inter);
    both(1, inter);
    if (size > 1) {
        MPI(MPI_Comm_free(&inter));
        MPI(MPI_Comm_free(&half));
    }
    CHECK(comm == MPI_COMM_NULL);
    return finish();
}
