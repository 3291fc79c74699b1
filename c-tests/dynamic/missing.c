/* What cannot be started: the parents get MPI_ERR_SPAWN on all ranks, an error code for each process, and go on. */
#include "spawned.h"
#include <fcntl.h>
#include <sys/stat.h>

static void all_fail(char *command, MPI_Info info, int count, const char *named)
{
    int codes[5] = {-7, -7, -7, -7, -7}, length, sum = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm children = MPI_COMM_NULL;
    int code = MPI_Comm_spawn(command, MPI_ARGV_NULL, count, info, 0, MPI_COMM_WORLD, &children, codes);
    CHECK_CLASS(code, MPI_ERR_SPAWN);
    MPI(MPI_Error_string(code, text, &length));
    if (!reference && rank == 0) {
        CHECK(strstr(text, "MPI_Comm_spawn") != NULL);
        if (!strstr(text, named))
            check_failed(__FILE__, __LINE__, "the text does not name %s: %s", named, text);
    }
    for (int i = 0; i < 5; i++)
        CHECK_INT(check_class_of(codes[i] == -7 ? MPI_SUCCESS : codes[i]), i < count ? MPI_ERR_SPAWN : MPI_SUCCESS);
    int one = 1;
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/spawn_missing_XXXXXX", path[100], none[110];
    start_family(&argc, &argv);
    if (is_child) {
        talk(parent, 10, 1);
        return finish_family();
    }
    return_errors();
    if (rank == 0)
        CHECK(mkdtemp(folder) != NULL);
    MPI(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(none, sizeof none, "%s/none", folder);
    if (rank == 0)
        close(open(path, O_CREAT | O_WRONLY, 0644));
    all_fail(none, MPI_INFO_NULL, 1, none);
    all_fail(none, MPI_INFO_NULL, 4, none);
    all_fail("no_such_program_anywhere", MPI_INFO_NULL, 2, "no_such_program_anywhere");
    all_fail(path, MPI_INFO_NULL, 2, path); /* may not be executed */
    all_fail(folder, MPI_INFO_NULL, 1, folder);
    all_fail("", MPI_INFO_NULL, 1, "command");
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "wdir", none));
    all_fail(program, info, 1, none);
    MPI(MPI_Info_free(&info));
    /* One of two programs is missing. */
    char *commands[] = {program, none};
    int processes[] = {1, 2}, codes[3] = {-7, -7, -7};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;
    CHECK_CLASS(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, processes, infos, 0, MPI_COMM_WORLD, &children, codes),
                MPI_ERR_SPAWN);
    CHECK(codes[0] == MPI_SUCCESS || check_class_of(codes[0]) == MPI_ERR_SPAWN);
    CHECK_CLASS(codes[1], MPI_ERR_SPAWN);
    CHECK_CLASS(codes[2], MPI_ERR_SPAWN);
    /* And what can be started, is. */
    children = spawn(MPI_COMM_WORLD, 2, MPI_ARGV_NULL);
    talk(children, 10, 0);
    part(&children);
    if (rank == 0) {
        unlink(path);
        rmdir(folder);
    }
    return finish_family();
}
