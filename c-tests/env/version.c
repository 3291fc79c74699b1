/* MPI_Get_version, MPI_Get_library_version, MPI_Get_processor_name: the header's numbers, lengths, the host's name. */
#include "check.h"

int main(int argc, char **argv)
{
    int version = -1, subversion = -1, length = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME], host[256] = "";
    watchdog(argv[0]);
    /* allowed before init */
    CHECK_INT(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    /* the library may be newer than the header */
    CHECK(version * 100 + subversion >= MPI_VERSION * 100 + MPI_SUBVERSION);
    CHECK_INT(MPI_Get_library_version(text, &length), MPI_SUCCESS);
    CHECK_INT(length, strlen(text));
    CHECK(length > 0);
    if (!reference)
        CHECK(strstr(text, "oxmpi") != NULL);
    start(&argc, &argv);
    memset(name, 'x', sizeof name);
    MPI(MPI_Get_processor_name(name, &length));
    CHECK_INT(length, strlen(name));
    gethostname(host, sizeof host - 1);
    CHECK(!strncmp(name, host, strcspn(host, ".")));
    MPI(MPI_Finalize());
    CHECK_INT(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    CHECK_INT(MPI_Get_library_version(text, &length), MPI_SUCCESS);
    return conclude();
}
