/* MPI_Get_version, MPI_Get_library_version, MPI_Get_processor_name: the header's numbers, lengths, the host's name. With an
 * argument the library is not to be taken for MPICH. */
#include "check.h"

/* Programs know a library by its text: ours is MPICH's version first, then oxmpi's, and never that of another vendor. */
static void vendor(const char *text, int plain)
{
    static const char *const others[] = {"Open MPI", "Intel", "MVAPICH", "CRAY", "HPE", "Platform", "Microsoft", "Spectrum"};
    int major, minor, patch, type, count = 0;
    CHECK(strstr(text, "oxmpi") != NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(text, others[i]))
            check_failed(__FILE__, __LINE__, "\"%s\" names %s", text, others[i]);
    if (plain) {
        CHECK(!strncmp(text, "oxmpi ", 6));
        CHECK(strstr(text, "MPICH Version") == NULL);
        return;
    }
    CHECK(!strncmp(text, "MPICH Version:      " MPICH_VERSION "\n", strlen("MPICH Version:      \n" MPICH_VERSION)));
    CHECK(!strncmp(text, "MPICH Version:      5.0.0\n", strlen("MPICH Version:      5.0.0\n")));
    CHECK_INT(sscanf(text, "MPICH Version: %d.%d.%d%n", &major, &minor, &patch, &count), 3);
    type = MPICH_NUMVERSION / 100 % 10; /* 3: a release */
    CHECK_INT(MPICH_NUMVERSION, major * 10000000 + minor * 100000 + patch * 1000 + type * 100);
    CHECK_INT(type, 3);
    CHECK(strstr(text, "\noxmpi Version: ") != NULL);
}

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
    CHECK(length < MPI_MAX_LIBRARY_VERSION_STRING);
#ifdef OXMPI
    vendor(text, argc > 1);
#else
    (void) vendor;
#endif
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
