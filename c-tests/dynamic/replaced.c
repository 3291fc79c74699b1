/* mpiexec's file is gone while its job runs, as by an update: the job still spawns. */
#include "ports.h"

static int side(int argc, char **argv)
{
    start_family(&argc, &argv);
    if (!is_child) {
        char *words[] = {"side", NULL};
        CHECK_INT(unlink(argv[2]), 0);
        MPI_Comm children = spawn(MPI_COMM_WORLD, 2, words);
        talk(children, 10, 0);
        part(&children);
        return finish_side();
    }
    talk(parent, 10, 1);
    return finish_family();
}

static void copy(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_EXCL | O_WRONLY, 0700);
    ssize_t count;
    CHECK(in >= 0 && out >= 0);
    while ((count = read(in, bytes, sizeof bytes)) > 0)
        CHECK_INT(write(out, bytes, count), count);
    close(in);
    close(out);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/spawn_replaced_XXXXXX", mpiexec[100];
    if (argc > 1)
        return side(argc, argv);
    start_driver(argv[0]);
    CHECK(getenv("C_SUITE_LAUNCHER") != NULL && mkdtemp(folder) != NULL);
    snprintf(mpiexec, sizeof mpiexec, "%s/mpiexec", folder);
    copy(getenv("C_SUITE_LAUNCHER"), mpiexec);
    char *words[] = {mpiexec, "-n", "1", argv[0], "side", mpiexec, NULL};
    CHECK_INT(end(begin(0, words)), 0);
    CHECK_INT(rmdir(folder), 0);
    return conclude();
}
