/* The command is a script, as Rmpi has it: the program that it runs, in a process below its own, is the child. The merged
 * group works as a master and its slaves do: texts go to all, and answers come back. */
#include "spawned.h"
#include <fcntl.h>

int main(int argc, char **argv)
{
    char folder[] = "/tmp/spawn_script_XXXXXX", script[100], full[4096], text[64] = "";
    MPI_Comm children, all;
    start_family(&argc, &argv);
    children = parent;
    if (!is_child) {
        CHECK(realpath(argv[0], full) != NULL);
        if (rank == 0) {
            static const char lines[] = "#!/bin/sh\n\"$1\" \"$2\"\ncode=$?\nexit $code\n";
            CHECK(mkdtemp(folder) != NULL);
            snprintf(script, sizeof script, "%s/slaves.sh", folder);
            int out = open(script, O_CREAT | O_WRONLY, 0700);
            CHECK_INT(write(out, lines, strlen(lines)), strlen(lines));
            close(out);
        }
        char *words[] = {full, "two words", NULL};
        program = script;
        children = spawn(MPI_COMM_WORLD, 2, words);
    } else {
        CHECK_STRING(argc > 1 ? argv[1] : "", "two words");
    }
    MPI(MPI_Intercomm_merge(children, is_child, &all));
    int me, number;
    MPI(MPI_Comm_rank(all, &me));
    MPI(MPI_Comm_size(all, &number));
    for (int command = 0; command < 20; command++) {
        char answers[64 * 32];
        if (me == 0)
            snprintf(text, sizeof text, "command %d", command);
        MPI(MPI_Bcast(text, sizeof text, MPI_CHAR, 0, all));
        CHECK_INT(atoi(text + 8), command);
        char answer[32];
        snprintf(answer, sizeof answer, "%d of %d: %d", me, number, command);
        MPI(MPI_Gather(answer, sizeof answer, MPI_CHAR, answers, sizeof answer, MPI_CHAR, 0, all));
        for (int i = 0; me == 0 && i < number; i++) {
            snprintf(answer, sizeof answer, "%d of %d: %d", i, number, command);
            CHECK_STRING(answers + i * sizeof answer, answer);
        }
    }
    MPI(MPI_Comm_disconnect(&all));
    if (!is_child) {
        part(&children);
        if (rank == 0) {
            CHECK_INT(unlink(script), 0);
            CHECK_INT(rmdir(folder), 0);
        }
    }
    return finish_family();
}
