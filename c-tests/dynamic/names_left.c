/* A process that has published a name is killed. Nobody finds the name any more, and another process may publish it. */
#include "ports.h"

static int side(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    start(&argc, &argv);
    MPI(MPI_Open_port(MPI_INFO_NULL, port));
    if (!strcmp(argv[1], "leave")) {
        MPI(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
        MPI(MPI_Lookup_name(argv[2], MPI_INFO_NULL, found));
        CHECK_STRING(found, port);
        raise(check_failures ? SIGTERM : SIGKILL);
    }
    return_errors();
    ERROR(MPI_Lookup_name(argv[2], MPI_INFO_NULL, found), MPI_ERR_NAME, "service_name", argv[2]);
    MPI(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
    ERROR(MPI_Publish_name(argv[2], MPI_INFO_NULL, port), MPI_ERR_SERVICE, "service_name", argv[2]);
    MPI(MPI_Lookup_name(argv[2], MPI_INFO_NULL, found));
    CHECK_STRING(found, port);
    MPI(MPI_Unpublish_name(argv[2], MPI_INFO_NULL, port));
    MPI(MPI_Close_port(port));
    return finish_side();
}

int main(int argc, char **argv)
{
    char name[60];
    if (argc > 1)
        return side(argc, argv);
    start_driver(argv[0]);
    snprintf(name, sizeof name, "left by a child of %d", (int) getpid());
    char *leave[] = {argv[0], "leave", name, NULL}, *take[] = {argv[0], "take", name, NULL};
    CHECK_INT(end(begin(0, leave)), 128 + SIGKILL);
    CHECK_INT(end(begin(0, take)), 0);
    return conclude();
}
