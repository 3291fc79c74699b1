/* Info keys of MPI_Comm_spawn that infos.c does not have: hosts, hostfile, arch, file; values that cannot be had are MPI_ERR_SPAWN, and values that
 * make no sense MPI_ERR_INFO_VALUE, both heard by all ranks, and the parents go on. */
#include "spawned.h"
#include <fcntl.h>

static int codes[4];

static int attempt(const char *key, const char *value, int count, MPI_Comm *children)
{
    MPI_Info info = MPI_INFO_NULL;
    if (rank == 0) {
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, key, value));
    }
    for (int i = 0; i < 4; i++)
        codes[i] = -7;
    int code = MPI_Comm_spawn(program, MPI_ARGV_NULL, count, info, 0, MPI_COMM_WORLD, children, codes);
    if (rank == 0)
        MPI(MPI_Info_free(&info));
    return code;
}

static void works(const char *key, const char *value)
{
    MPI_Comm children;
    MPI(attempt(key, value, 2, &children));
    CHECK_INT(codes[0], MPI_SUCCESS);
    CHECK_INT(codes[1], MPI_SUCCESS);
    talk(children, 10, 0);
    part(&children);
}

static void named(int code, const char *text_has)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, one = 1, sum = 0;
    MPI(MPI_Error_string(code, text, &length));
    if (rank == 0 && !strstr(text, text_has))
        check_failed(__FILE__, __LINE__, "the text does not name %s: %s", text_has, text);
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
}

/* Nothing is started, and the error code of each process says so. */
static void refused(const char *key, const char *value, const char *text_has)
{
    MPI_Comm children = MPI_COMM_NULL;
    int code = attempt(key, value, 3, &children);
    CHECK_CLASS(code, MPI_ERR_SPAWN);
    for (int i = 0; i < 3; i++)
        CHECK_CLASS(codes[i], MPI_ERR_SPAWN);
    CHECK_INT(codes[3], -7);
    named(code, text_has);
    CHECK(children == MPI_COMM_NULL);
}

/* A wrong argument: the root hears the class, others that somebody was wrong. */
static void nonsense(const char *key, const char *value)
{
    MPI_Comm children = MPI_COMM_NULL;
    int code = attempt(key, value, 3, &children);
    CHECK_CLASS(code, rank == 0 ? MPI_ERR_INFO_VALUE : MPI_ERR_OTHER);
    for (int i = 0; i < 4; i++)
        CHECK_INT(codes[i], -7);
    named(code, key);
    CHECK(children == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    char file[100] = "", full[4096];
    start_family(&argc, &argv);
    if (is_child) {
        int *value = NULL, flag = 0;
        MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
        CHECK(flag && *value >= size);
        MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
        CHECK(flag && *value == 0);
        talk(parent, 10, 1);
        return finish_family();
    }
    return_errors();
    CHECK(realpath(argv[0], full) != NULL);
    program = full;
    snprintf(file, sizeof file, "/tmp/spawn_keys_%d", (int) getpid());
    if (rank == 0) {
        int out = open(file, O_CREAT | O_WRONLY, 0600);
        CHECK(out >= 0 && write(out, "localhost:4\n", 12) == 12);
        close(out);
    }
    works("hosts", "localhost");
    works("hostfile", file);
    works("arch", "any");  /* ignored, as the standard allows */
    works("file", "/nowhere/infos");
    works("soft", "0:9:2");
    if (rank == 0)
        CHECK_INT(unlink(file), 0);
    refused("hostfile", "/nowhere/hosts", "/nowhere/hosts");
    refused("soft", "5:9", "soft");
    refused("wdir", "/nowhere/folder", "/nowhere/folder");
    nonsense("soft", "some");
    nonsense("soft", "1:2:0");
    nonsense("mpi_initial_errhandler", "mpi_errors_sometimes");
    nonsense("env", "NO_VALUE");
    nonsense("env", "=no name");
    nonsense("wdir", " ");
    MPI_Comm children = spawn(MPI_COMM_WORLD, 1, MPI_ARGV_NULL);
    talk(children, 10, 0);
    part(&children);
    return finish_family();
}
