/* Infos of MPI_Comm_spawn: wdir, path, env, soft, host, mpi_initial_errhandler, and keys that nobody knows.
 * args: several, lines of env; errhandler, the initial one. */
#include "spawned.h"

static char name[64];

static int child(int argc, char **argv)
{
    char folder[4096], full[4096];
    const char *what = argc > 2 ? argv[1] : "", *expected = argc > 2 ? argv[2] : "";
    if (!strcmp(what, "wdir")) {
        CHECK(getcwd(folder, sizeof folder) != NULL);
        CHECK_STRING(folder, expected);
    } else if (!strcmp(what, "path")) {
        CHECK(readlink("/proc/self/exe", full, sizeof full) > 0);
    } else if (!strcmp(what, "env")) {
        const char *one = getenv("SPAWN_ONE"), *two = getenv("SPAWN_TWO"), *parents = getenv("SPAWN_PARENTS");
        CHECK_STRING(one ? one : "", "first");
        CHECK_STRING(two ? two : "", "two words = more");
        CHECK_STRING(parents ? parents : "", expected);
    } else if (!strcmp(what, "one_variable")) {
        const char *one = getenv("SPAWN_ONE"), *parents = getenv("SPAWN_PARENTS");
        CHECK_STRING(one ? one : "", "first");
        CHECK_STRING(parents ? parents : "", expected);
    } else if (!strcmp(what, "errhandler")) {
        MPI_Errhandler handler;
        int buffer = 0;
        MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
        CHECK(handler == MPI_ERRORS_RETURN);
        MPI(MPI_Comm_get_errhandler(parent, &handler));
        CHECK(handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL);
        CHECK_CLASS(MPI_Send(&buffer, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    }
    talk(parent, 10, 1);
    return finish_family();
}

static MPI_Comm with(char *command, const char *what, const char *expected, const char *key, const char *value, int count,
                     int *codes)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm children;
    char *words[] = {(char *) what, (char *) expected, NULL};
    if (rank == 0) {
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, key, value));
        if (!strcmp(key, "env")) /* nobody knows it */
            MPI(MPI_Info_set(info, "nobody_knows_this_key", "value"));
    }
    MPI(MPI_Comm_spawn(command, words, count, info, 0, MPI_COMM_WORLD, &children, codes));
    if (rank == 0)
        MPI(MPI_Info_free(&info));
    talk(children, 10, 0);
    return children;
}

static void done(MPI_Comm children, int expected)
{
    int number = -1;
    MPI(MPI_Comm_remote_size(children, &number));
    CHECK_INT(number, expected);
    part(&children);
}

/* So many were started as the error codes say, and one of the numbers that were allowed. */
static void soft(const char *allowed, const char *key)
{
    int codes[5] = {-7, -7, -7, -7, -7}, started = 0, number = -1;
    char digit[2] = "0";
    MPI_Comm children = with(program, "soft", "-", key, allowed, 4, codes);
    MPI(MPI_Comm_remote_size(children, &number));
    digit[0] += number;
    CHECK(strstr(allowed, digit) || (!strcmp(allowed, "2:4") && number == 3));
    for (int i = 0; i < 4; i++)
        started += codes[i] == MPI_SUCCESS;
    CHECK_INT(started, number);
    CHECK_INT(codes[4], -7);
    part(&children);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/spawn_info_XXXXXX", real[4096], full[4096], list[4200], host[256] = "", text[40];
    setenv("SPAWN_PARENTS", "inherited", 0);
    start_family(&argc, &argv);
    if (is_child)
        return child(argc, argv);
    CHECK(realpath(argv[0], full) != NULL);
    program = full;
    snprintf(text, sizeof text, "inherited");
    if (rank == 0) {
        CHECK(mkdtemp(folder) != NULL);
        CHECK(realpath(folder, real) != NULL);
    }
    MPI(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD));
    done(with(full, "wdir", real, "wdir", real, 2, MPI_ERRCODES_IGNORE), 2);

    /* A name without a slash, found in the second folder of the list. */
    if (rank == 0) {
        snprintf(name, sizeof name, "a_program_of_%d", (int) getpid());
        snprintf(list, sizeof list, "%s/%s", folder, name);
        CHECK_INT(symlink(full, list), 0);
        snprintf(list, sizeof list, "/nowhere:%s", folder);
    }
    done(with(name, "path", "-", "path", list, 1, MPI_ERRCODES_IGNORE), 1);
    const char *more = argc > 1 ? argv[1] : "";
    if (!strcmp(more, "several")) /* several variables; MPICH does not have this one */
        done(with(full, "env", text, "env", "SPAWN_ONE=first\nSPAWN_TWO=two words = more", 1, MPI_ERRCODES_IGNORE), 1);
    if (!reference)
        done(with(full, "one_variable", text, "env", "SPAWN_ONE=first", 1, MPI_ERRCODES_IGNORE), 1);
    if (!strcmp(more, "errhandler")) /* nor this */
        done(with(full, "errhandler", "-", "mpi_initial_errhandler", "mpi_errors_return", 1, MPI_ERRCODES_IGNORE), 1);
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    done(with(full, "host", "-", "host", "localhost", 2, MPI_ERRCODES_IGNORE), 2);
    done(with(full, "host", "-", "host", host, 1, MPI_ERRCODES_IGNORE), 1);
    soft("4", "soft");
    soft("2:4", "soft");
    if (!reference) /* MPICH starts all */
        soft("1,3", "soft");
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        snprintf(list, sizeof list, "%s/%s", folder, name);
        unlink(list);
        rmdir(folder);
    }
    return finish_family();
}
