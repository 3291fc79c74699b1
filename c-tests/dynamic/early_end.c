/* Children that end before MPI_Init, by themselves or by a signal, all or one of them: the parents get MPI_ERR_SPAWN and go on. */
#include "spawned.h"
#include <fcntl.h>

static void fails(char **words, int count)
{
    MPI_Comm children = MPI_COMM_NULL;
    int sum = 0, one = 1;
    CHECK_CLASS(MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
}

int main(int argc, char **argv)
{
    char file[100] = "";
    if (argc > 1 && !strcmp(argv[1], "end"))
        return atoi(argv[2]);
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(SIGKILL);
    if (argc > 1 && !strcmp(argv[1], "one")) { /* the first to make the file */
        int made = open(argv[2], O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (made >= 0)
            return 3;
    }
    start_family(&argc, &argv);
    if (is_child) {
        talk(parent, 10, 1);
        return finish_family();
    }
    return_errors();
    char *end[] = {"end", "0", NULL}, *fail[] = {"end", "7", NULL}, *killed[] = {"kill", NULL}, *one[] = {"one", file, NULL};
    fails(end, 1);
    fails(fail, 3);
    fails(killed, 2);
    if (rank == 0)
        snprintf(file, sizeof file, "/tmp/spawn_early_end_%d", (int) getpid());
    fails(one, 3);
    if (rank == 0)
        CHECK_INT(unlink(file), 0);
    MPI_Comm children = spawn(MPI_COMM_WORLD, 2, MPI_ARGV_NULL);
    talk(children, 10, 0);
    part(&children);
    return finish_family();
}
