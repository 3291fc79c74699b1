/* MPI_Comm_spawn_multiple: programs with names, arguments and infos of their own make one world, in order; MPI_APPNUM says which is
 * whose. The root is the last rank; others give no arguments. */
#include "spawned.h"

enum { COMMANDS = 3, CHILDREN = 4 };

static int appnum(void)
{
    int *value = NULL, flag = 0;
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    return flag ? *value : -1;
}

static int child(int argc, char **argv)
{
    static const int of_rank[CHILDREN] = {0, 1, 1, 2};
    char folder[300];
    CHECK_INT(size, CHILDREN);
    CHECK_INT(appnum(), of_rank[rank]);
    const char *slash = strrchr(argv[0], '/');
    if (argc > 1) { /* the first round: the commands have words */
        CHECK_INT(argc, of_rank[rank] == 2 ? 3 : 2);
        CHECK_STRING(argv[1], of_rank[rank] == 0 ? "zero" : of_rank[rank] == 1 ? "one" : "two");
        CHECK_STRING(slash ? slash + 1 : argv[0], of_rank[rank] == 1 ? "other_name" : slash ? slash + 1 : argv[0]);
        if (of_rank[rank] == 2) {
            CHECK_STRING(argv[2], "and more");
            CHECK(getcwd(folder, sizeof folder) && !strcmp(folder, "/"));
        }
    }
    int others;
    MPI(MPI_Comm_remote_size(parent, &others));
    talk(parent, 20, 1);
    return finish_family();
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/spawn_multiple_XXXXXX", other[100], full[4096];
    int codes[CHILDREN + 1], number;
    start_family(&argc, &argv);
    if (is_child)
        return child(argc, argv);
    int root = size - 1, at_root = rank == root;
    MPI_Info infos[COMMANDS] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;
    CHECK(realpath(argv[0], full) != NULL);
    if (at_root) {
        CHECK(mkdtemp(folder) != NULL);
        snprintf(other, sizeof other, "%s/other_name", folder);
        CHECK_INT(symlink(full, other), 0);
        MPI(MPI_Info_create(&infos[2]));
        MPI(MPI_Info_set(infos[2], "wdir", "/"));
    }
    char *commands[COMMANDS] = {full, other, full};
    void *volatile nowhere = (void *) 8;
    int nothing = reference ? 1 : -5; /* MPICH looks at it everywhere */
    char *zero[] = {"zero", NULL}, *one[] = {"one", NULL}, *two[] = {"two", "and more", NULL};
    char **words[COMMANDS] = {zero, one, two};
    int processes[COMMANDS] = {1, 2, 1};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i <= CHILDREN; i++)
            codes[i] = -7;
        if (at_root)
            MPI(MPI_Comm_spawn_multiple(COMMANDS, commands, round ? MPI_ARGVS_NULL : words, processes, infos, root, MPI_COMM_WORLD,
                                        &children, round ? MPI_ERRCODES_IGNORE : codes));
        else
            MPI(MPI_Comm_spawn_multiple(nothing, nowhere, nowhere, nowhere, nowhere, root, MPI_COMM_WORLD, &children,
                                        round ? MPI_ERRCODES_IGNORE : codes));
        for (int i = 0; i <= CHILDREN; i++)
            CHECK_INT(codes[i], round || i == CHILDREN ? -7 : MPI_SUCCESS);
        MPI(MPI_Comm_remote_size(children, &number));
        CHECK_INT(number, CHILDREN);
        talk(children, 20, 0);
        part(&children);
    }
    if (at_root) {
        MPI(MPI_Info_free(&infos[2]));
        unlink(other);
        rmdir(folder);
    }
    return finish_family();
}
