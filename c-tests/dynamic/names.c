/* Names that one rank publishes, all find, and nobody finds when they are withdrawn; two at once. args: apart, each rank has a folder of its own, and
 * the launcher keeps the names. */
#include "check.h"

static char service[100], other[100];

static void found(const char *name, const char *expected)
{
    char port[MPI_MAX_PORT_NAME];
    memset(port, 'x', sizeof port);
    MPI(MPI_Lookup_name(name, MPI_INFO_NULL, port));
    CHECK_STRING(port, expected);
}

static void not_found(const char *name)
{
    char port[MPI_MAX_PORT_NAME] = "as before";
    ERROR(MPI_Lookup_name(name, MPI_INFO_NULL, port), MPI_ERR_NAME, "service_name", name);
}

int main(int argc, char **argv)
{
    char port[2][MPI_MAX_PORT_NAME] = {"", ""};
    int unique = getpid(), apart = argc > 1;
    char folder[60];
    snprintf(folder, sizeof folder, "/tmp/names_apart_%d", unique);
    if (apart)
        setenv("OXMPI_NAME_DIRECTORY", folder, 1);
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Bcast(&unique, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(service, sizeof service, "a service of %d", unique);
    snprintf(other, sizeof other, "other/..%%\"' of %d", unique);
    not_found(service);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI(MPI_Open_port(MPI_INFO_NULL, port[i]));
        MPI(MPI_Publish_name(service, MPI_INFO_NULL, port[0]));
        MPI(MPI_Publish_name(other, MPI_INFO_NULL, port[1]));
        ERROR(MPI_Publish_name(service, MPI_INFO_NULL, port[1]), MPI_ERR_SERVICE, "service_name", service);
    }
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    found(service, port[0]);
    found(other, port[1]);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        MPI(MPI_Unpublish_name(service, MPI_INFO_NULL, port[0]));
        ERROR(MPI_Unpublish_name(service, MPI_INFO_NULL, port[0]), MPI_ERR_SERVICE, "service_name", service);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    not_found(service);
    found(other, port[1]);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) { /* a name that was withdrawn can be given again */
        MPI(MPI_Publish_name(service, MPI_INFO_NULL, port[1]));
        found(service, port[1]);
        MPI(MPI_Unpublish_name(service, MPI_INFO_NULL, port[1]));
        MPI(MPI_Unpublish_name(other, MPI_INFO_NULL, port[1]));
        for (int i = 0; i < 2; i++)
            MPI(MPI_Close_port(port[i]));
    }
    if (apart && rank == 0)
        CHECK_INT(rmdir(folder), 0); /* only rank 0 has made its own */
    return finish();
}
