/* The usual folder of published names is used only if nobody else can have made it, or write it: a symbolic link, a folder with the wrong mode or of another
 * user is MPI_ERR_ACCESS, which names it. */
#include "ports.h"
#include <dirent.h>

static char *folder;

static int side(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    const char *name = "a name";
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Open_port(MPI_INFO_NULL, port));
    folder = argv[2];
    if (!strcmp(argv[1], "refused")) {
        ERROR(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_ERR_ACCESS, "service_name", folder);
        ERROR(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_ACCESS, "service_name", folder);
        ERROR(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_ERR_ACCESS, "service_name", folder);
    } else {
        ERROR(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME, "service_name", name);
        MPI(MPI_Publish_name(name, MPI_INFO_NULL, port));
        MPI(MPI_Lookup_name(name, MPI_INFO_NULL, found));
        CHECK_STRING(found, port);
        MPI(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
    }
    MPI(MPI_Close_port(port));
    return finish_side();
}

static void run(char **argv, char *word)
{
    char *words[] = {argv[0], word, folder, NULL};
    CHECK_INT(end(begin(0, words)), 0);
}

static int entries(const char *path)
{
    DIR *here = opendir(path);
    int count = -2; /* . and .. */
    while (here && readdir(here))
        count++;
    if (here)
        closedir(here);
    return count;
}

int main(int argc, char **argv)
{
    char scratch[] = "/tmp/names_folder_XXXXXX", path[100], elsewhere[100];
    if (argc > 1)
        return side(argc, argv);
    start_driver(argv[0]);
    CHECK(mkdtemp(scratch) != NULL);
    snprintf(path, sizeof path, "%s/oxmpi-names-%d", scratch, (int) geteuid());
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", scratch);
    folder = path;
    setenv("TMPDIR", scratch, 1);
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("OXMPI_NAME_DIRECTORY");
    run(argv, "used");
    CHECK_INT(mkdir(path, 0700), 0); /* the last name has taken the folder with it */
    CHECK_INT(chmod(path, 0777), 0);
    run(argv, "refused");
    CHECK_INT(chmod(path, 0770), 0);
    run(argv, "refused");
    if (geteuid() == 0) {
        CHECK_INT(chmod(path, 0700), 0);
        CHECK_INT(chown(path, 65534, 65534), 0);
        run(argv, "refused");
    }
    CHECK_INT(entries(path), 0);
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(mkdir(elsewhere, 0700), 0);
    CHECK_INT(symlink(elsewhere, path), 0);
    run(argv, "refused");
    CHECK_INT(entries(elsewhere), 0);
    /* The user may have named it. */
    setenv("OXMPI_NAME_DIRECTORY", path, 1);
    run(argv, "used");
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(elsewhere), 0);
    CHECK_INT(rmdir(scratch), 0);
    return conclude();
}
